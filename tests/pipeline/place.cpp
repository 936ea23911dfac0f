#include "pipeline/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/document.hpp"
#include "pipeline/small_flows.hpp"

namespace sb::piped {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

struct Ends {
  Ends() {
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Ends() {
    for (const int fd : fds) {
      if (fd >= 0) ::close(fd);
    }
  }
  void close_write() {
    ::close(fds[1]);
    fds[1] = -1;
  }
  std::array<int, 2> fds{-1, -1};
};

bool read_some(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) into.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Until both ends are closed or the time is over, and then what is left behind the kill.
void gather(pid_t child, const Ends& output, const Ends& errors, int most_seconds, Ended& ended) {
  const auto end = SteadyClock::now() + std::chrono::seconds(most_seconds);
  bool is_output_open = true, is_errors_open = true;
  while (is_output_open || is_errors_open) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    if (left <= 0) {
      ::kill(child, SIGKILL);
      ended.was_killed = true;
      return;
    }
    pollfd fds[2] = {{is_output_open ? output.fds[0] : -1, POLLIN, 0},
                     {is_errors_open ? errors.fds[0] : -1, POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(left));
    if (fds[0].revents) is_output_open = read_some(output.fds[0], ended.output);
    if (fds[1].revents) is_errors_open = read_some(errors.fds[0], ended.errors);
  }
}

std::string input_file(const std::string& text) {
  std::string pattern = (fs::temp_directory_path() / "sb-input-XXXXXX").string();
  const int fd = ::mkstemp(pattern.data());
  if (fd < 0) throw std::runtime_error("no temporary file");
  ::close(fd);
  std::ofstream(pattern) << text;
  return pattern;
}

std::vector<Value> json_lines(std::string_view text) {
  std::vector<Value> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto value = parse_json(text.substr(0, end)); value && value->is_object()) values.push_back(std::move(*value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}

}  // namespace

Value Ended::last() const {
  const auto values = json_lines(output);
  if (!values.empty()) return values.back();
  auto whole = parse_json(output);
  return whole ? std::move(*whole) : Value();
}

Ended start_program(const std::string& program, const std::vector<std::string>& environment, const Start& start) {
  std::vector<std::string> words = start.arguments;
  words.insert(words.begin(), program);
  std::vector<std::string> variables = start.environment;  // the first of a name counts
  variables.insert(variables.end(), environment.begin(), environment.end());
  const std::string input = start.input.empty() ? "/dev/null" : input_file(start.input);
  Ends output, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.fds[1], 2);
  posix_spawn_file_actions_addchdir_np(&actions, start.directory.c_str());
  pid_t child = 0;
  const auto begin = SteadyClock::now();
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot run " + program);
  output.close_write();
  errors.close_write();
  Ended ended;
  gather(child, output, errors, start.most_seconds, ended);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (!start.input.empty()) ::unlink(input.c_str());
  ended.took_ms = std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
  ended.resident_kilobytes = used.ru_maxrss;
  ended.was_killed = WIFSIGNALED(status);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

Place::Place(std::string program) : program_(fs::absolute(program).string()) {
  std::string pattern = (fs::temp_directory_path() / "sb-piped-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  root_ = fs::canonical(pattern);
  environment_ = {"PATH=/usr/bin:/bin",       "HOME=" + root_ + "/user",
                  "SIGNALBOX_HOME=" + home(), "SIGNALBOX_WORKFLOWS=" + root_ + "/flows",
                  "LC_ALL=C.UTF-8",           "TERM=dumb",
                  "GIT_CONFIG_NOSYSTEM=1"};
  for (const char* name : {"user", "home", "repo"}) fs::create_directory(root_ + "/" + name);
  for (const SmallFlow& flow : small_flows()) write("flows/" + flow.file, flow.text);
  git(root_, {"init", "--quiet", "--bare", "--initial-branch=main", remote()});
  git(root_, {"init", "--quiet", "--initial-branch=main", repository()});
  git(repository(), {"remote", "add", "origin", remote()});
  write("repo/README.md", "A place to try things.\n");
  write("repo/check", "#!/bin/sh\n# Whether the answer is right.\ngrep -q '^right$' answer.txt\n", true);
  git(repository(), {"add", "--all"});
  git(repository(), {"commit", "--quiet", "--message", "Begin"});
  git(repository(), {"push", "--quiet", "--set-upstream", "origin", "main"});
  script("");
  configure();
}

Place::~Place() {
  if (is_kept_) return;
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Place::configure(const std::string& lines) {
  std::string text = lines;
  const auto add_unless_given = [&](std::string_view key, std::string_view line) {
    if (("\n" + lines).find(fmt::format("\n{}:", key)) == std::string::npos) text += fmt::format("\n{}", line);
  };
  add_unless_given("models", "models: {script: {provider: scripted, script: " + root_ + "/script.jsonl}}");
  add_unless_given("roles", "roles: {default: script}");
  add_unless_given("checks", "checks: [./check]");
  add_unless_given("phases",
                   "phases: {discovery: small.discovery, shaping: small.shaping, design: small.design, coding: "
                   "small.coding, review: small.review, fix: small.fix, audit: small.audit}");
  write("home/config.yaml", text + "\n");
}

void Place::script(const std::string& lines) {
  write("script.jsonl", lines);
}

void Place::write(const std::string& path, const std::string& text, bool is_executable) const {
  const fs::path whole = fs::path(root_) / path;
  fs::create_directories(whole.parent_path());
  std::ofstream(whole, std::ios::binary) << text;
  if (is_executable) fs::permissions(whole, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
}

std::string Place::read(const std::string& path) const {
  std::ifstream stream(fs::path(root_) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool Place::exists(const std::string& path) const {
  return fs::exists(fs::path(root_) / path);
}

void Place::commit(const std::string& path, const std::string& text, bool is_executable) const {
  write("repo/" + path, text, is_executable);
  git(repository(), {"add", "--all", "--force", path});
  git(repository(), {"commit", "--quiet", "--message", "Add " + path});
  git(repository(), {"push", "--quiet", "origin", "main"});
}

Ended Place::run(Start start) const {
  if (start.directory.empty()) start.directory = repository();
  return start_program(program_, environment_, start);
}

Ended Place::go(const std::string& goal, std::vector<std::string> more) const {
  std::vector<std::string> words = {"run", goal, "--workspace", repository(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return run(std::move(words));
}

Ended Place::go_with_ticket(const std::string& goal, const std::string& ticket, std::vector<std::string> more) const {
  write("ticket.md", ticket);
  more.insert(more.begin(), {"--ticket", root_ + "/ticket.md"});
  return go(goal, std::move(more));
}

Ended Place::resume(const std::string& run_id, std::vector<std::string> more) const {
  std::vector<std::string> words = {"runs", "resume", run_id, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return run(std::move(words));
}

Value Place::shown(const std::string& run_id) const {
  auto value = parse_json(run({"runs", "show", run_id, "--json"}).output);
  return value ? std::move(*value) : Value();
}

std::vector<Value> Place::events(const std::string& type, const std::string& run_id) const {
  std::vector<Value> all = json_lines(run({"runs", "export", run_id}).output);
  if (!type.empty()) std::erase_if(all, [&](const Value& event) { return event["type"] != Value(type); });
  return all;
}

std::string Place::run_id() const {
  const auto opened = events("opened");
  return opened.empty() ? "" : opened[0]["payload"].string_at("run").value_or("");
}

std::vector<Value> Place::open_decisions() const {
  const auto value = parse_json(run({"inbox", "list", "--json"}).output);
  if (!value) return {};
  const Value* items = value->is_array() ? &*value : value->find("decisions");
  return items != nullptr && items->is_array() ? items->items() : std::vector<Value>();
}

Ended Place::answer(const std::string& decision, const std::string& choice) const {
  return run({"inbox", "answer", decision, choice});
}

Ended Place::answer_and_resume(const std::string& choice) const {
  const auto open = open_decisions();
  if (open.size() != 1) {
    return {.code = -1, .output = {}, .errors = fmt::format("{} decisions are open, not one", open.size())};
  }
  Ended answered = answer(open[0].string_at("decision").value_or(""), choice);
  return answered.code == 0 ? resume() : answered;
}

std::optional<std::string> Place::git(const std::string& directory, std::vector<std::string> words) const {
  words.insert(words.begin(), {"-C", directory, "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"});
  Ended ended = start_program("git", environment_, {.arguments = std::move(words), .directory = root_});
  if (ended.code != 0) return std::nullopt;
  while (ended.output.ends_with('\n')) ended.output.pop_back();
  return std::move(ended.output);
}

int Place::delivered_commits(const std::string& branch) const {
  const auto first = git(remote(), {"rev-list", "--max-parents=0", "main"});
  const auto count = git(remote(), {"rev-list", "--count", "--no-merges", first.value_or("?") + ".." + branch});
  return count ? std::atoi(count->c_str()) : -1;
}

std::string Place::delivered(const std::string& path, const std::string& branch) const {
  return git(remote(), {"show", branch + ":" + path}).value_or("");
}

std::vector<std::string> Place::remote_branches() const {
  std::vector<std::string> names;
  std::string text = git(remote(), {"for-each-ref", "--format=%(refname:short)", "refs/heads"}).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::vector<std::string> Place::work_trees() const {
  std::vector<std::string> paths;
  const std::string text = git(repository(), {"worktree", "list", "--porcelain"}).value_or("") + "\n";
  for (std::size_t at = 0; (at = text.find("worktree ", at)) != std::string::npos;) {
    const std::size_t end = text.find('\n', at);
    if (std::string path = text.substr(at + 9, end - at - 9); path != repository()) paths.push_back(std::move(path));
    at = end;
  }
  return paths;
}

}  // namespace sb::piped
