#include "pipeline/place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/document/document.hpp"
#include "pipeline/small_flows.hpp"
#include "started/sandbox.hpp"

namespace sb::pipeline_tests {

namespace fs = std::filesystem;

RunFixture::RunFixture(std::string program) : program_(fs::absolute(program).string()) {
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

RunFixture::~RunFixture() {
  if (is_kept_) return;
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void RunFixture::configure(const std::string& lines) {
  std::string text = lines;
  const auto add_unless_given = [&](std::string_view key, std::string_view line) {
    if (("\n" + lines).find(fmt::format("\n{}:", key)) == std::string::npos) text += fmt::format("\n{}", line);
  };
  add_unless_given("models", "models: {script: {provider: scripted, script: " + root_ + "/script.jsonl}}");
  add_unless_given("roles", "roles: {default: script}");
  if (!test_program::why_no_sandbox().empty()) add_unless_given("sandbox", "sandbox: {mode: none}");
  add_unless_given("checks", "checks: [./check]");
  add_unless_given("phases",
                   "phases: {discovery: small.discovery, shaping: small.shaping, design: small.design, coding: "
                   "small.coding, review: small.review, fix: small.fix, audit: small.audit}");
  write("home/config.yaml", text + "\n");
}

void RunFixture::script(const std::string& lines) {
  write("script.jsonl", lines);
}

void RunFixture::write(const std::string& path, const std::string& text, bool is_executable) const {
  const fs::path whole = fs::path(root_) / path;
  fs::create_directories(whole.parent_path());
  std::ofstream(whole, std::ios::binary) << text;
  if (is_executable) fs::permissions(whole, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
}

std::string RunFixture::read(const std::string& path) const {
  std::ifstream stream(fs::path(root_) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool RunFixture::exists(const std::string& path) const {
  return fs::exists(fs::path(root_) / path);
}

void RunFixture::commit(const std::string& path, const std::string& text, bool is_executable) const {
  write("repo/" + path, text, is_executable);
  git(repository(), {"add", "--all", "--force", path});
  git(repository(), {"commit", "--quiet", "--message", "Add " + path});
  git(repository(), {"push", "--quiet", "origin", "main"});
}

ProgramResult RunFixture::run(Start start) const {
  if (start.directory.empty()) start.directory = repository();
  return start_program(program_, environment_, start);
}

ProgramResult RunFixture::run_goal(const std::string& goal, std::vector<std::string> more) const {
  std::vector<std::string> words = {"run", goal, "--workspace", repository(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return run(std::move(words));
}

ProgramResult RunFixture::run_with_ticket(const std::string& goal, const std::string& ticket,
                                          std::vector<std::string> more) const {
  write("ticket.md", ticket);
  more.insert(more.begin(), {"--ticket", root_ + "/ticket.md"});
  return run_goal(goal, std::move(more));
}

ProgramResult RunFixture::resume(const std::string& run_id, std::vector<std::string> more) const {
  std::vector<std::string> words = {"runs", "resume", run_id, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return run(std::move(words));
}

Value RunFixture::shown(const std::string& run_id) const {
  auto value = parse_json(run({"runs", "show", run_id, "--json"}).output);
  return value ? std::move(*value) : Value();
}

std::vector<Value> RunFixture::events(const std::string& type, const std::string& run_id) const {
  std::vector<Value> all = test_program::json_lines(run({"runs", "export", run_id}).output);
  if (!type.empty()) std::erase_if(all, [&](const Value& event) { return event["type"] != Value(type); });
  return all;
}

std::string RunFixture::run_id() const {
  const auto opened = events("opened");
  return opened.empty() ? "" : opened[0]["payload"].string_at("run").value_or("");
}

std::vector<Value> RunFixture::open_decisions() const {
  const auto value = parse_json(run({"inbox", "list", "--limit", "1000", "--json"}).output);
  if (!value) return {};
  const Value* items = value->is_array() ? &*value : value->find("decisions");
  return items != nullptr && items->is_array() ? items->items() : std::vector<Value>();
}

ProgramResult RunFixture::answer(const std::string& decision, const std::string& choice) const {
  return run({"inbox", "answer", decision, choice});
}

ProgramResult RunFixture::answer_and_resume(const std::string& choice) const {
  const auto open = open_decisions();
  if (open.size() != 1) {
    return {.code = -1, .output = {}, .errors = fmt::format("{} decisions are open, not one", open.size())};
  }
  ProgramResult answered = answer(open[0].string_at("decision").value_or(""), choice);
  return answered.code == 0 ? resume() : answered;
}

std::optional<std::string> RunFixture::git(const std::string& directory, std::vector<std::string> words) const {
  words.insert(words.begin(), {"-C", directory, "-c", "user.name=Tester", "-c", "user.email=tester@example.org"});
  ProgramResult ended = start_program("git", environment_, {.arguments = std::move(words), .directory = root_});
  if (ended.code != 0) return std::nullopt;
  while (ended.output.ends_with('\n')) ended.output.pop_back();
  return std::move(ended.output);
}

int RunFixture::delivered_commits(const std::string& branch) const {
  const auto first = git(remote(), {"rev-list", "--max-parents=0", "main"});
  const auto count = git(remote(), {"rev-list", "--count", "--no-merges", first.value_or("?") + ".." + branch});
  return count ? std::atoi(count->c_str()) : -1;
}

std::string RunFixture::delivered(const std::string& path, const std::string& branch) const {
  return git(remote(), {"show", branch + ":" + path}).value_or("");
}

std::vector<std::string> RunFixture::remote_branches() const {
  std::vector<std::string> names;
  std::string text = git(remote(), {"for-each-ref", "--format=%(refname:short)", "refs/heads"}).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::vector<std::string> RunFixture::work_trees() const {
  std::vector<std::string> paths;
  const auto is_other = [&](const std::string& path) {
    return path == repository() || path.find("/check-trees/") != std::string::npos;
  };
  const std::string text = git(repository(), {"worktree", "list", "--porcelain"}).value_or("") + "\n";
  for (std::size_t at = 0; (at = text.find("worktree ", at)) != std::string::npos;) {
    const std::size_t end = text.find('\n', at);
    if (std::string path = text.substr(at + 9, end - at - 9); !is_other(path)) paths.push_back(std::move(path));
    at = end;
  }
  return paths;
}

}  // namespace sb::pipeline_tests
