#include "faults/driver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/document.hpp"

namespace sb::faults {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kLongestUs = 120'000'000;  // then it hangs, which is a finding

constexpr const char* kWorkflow = R"(
id: faults-loop
name: Long work
description: Two steps, a thousand times.
version: 1.0.0
steps:
  - {id: first, title: First, prompt: Begin.}
  - id: again
    type: loop
    title: Again
    loop: {type: for, count: 1000, maxIterations: 1000}
    body:
      - {id: plan, title: Plan, prompt: Plan it.}
      - {id: build, title: Build, prompt: Build it.}
)";

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Both ends closed on exec, so that no other child keeps one open.
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

// False at the end.
bool read_some(int& fd, std::string& into) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) into.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

std::optional<Value> Call::told() const {
  if (output.empty() || output.back() != '\n') return std::nullopt;
  auto value = parse_json(output);
  if (!value || !value->is_object()) return std::nullopt;
  return *value;
}

// The programs run in another folder, so the path must not depend on this one.
Place::Place(std::string program) : program_(std::filesystem::absolute(program).string()) {
  std::string pattern = (fs::temp_directory_path() / "sb-faults-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  directory_ = fs::canonical(pattern);
  for (const char* name : {"flows", "work", "notes"}) fs::create_directory(directory_ + "/" + name);
  std::ofstream(directory_ + "/flows/faults-loop.yaml") << kWorkflow;
  environment_ = {"PATH=/usr/bin:/bin", "HOME=" + directory_, "SIGNALBOX_HOME=" + directory_ + "/home",
                  "SIGNALBOX_WORKFLOWS=" + directory_ + "/flows", "LC_ALL=C.UTF-8"};
}

Place::~Place() {
  if (is_kept_) return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Call Place::run(std::vector<std::string> arguments, std::optional<std::int64_t> kill_after_us) const {
  arguments.insert(arguments.begin(), program_);
  Ends output, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.fds[1], 2);
  posix_spawn_file_actions_addchdir_np(&actions, (directory_ + "/work").c_str());
  std::vector<std::string> environment = environment_;
  pid_t child = 0;
  const auto begin = SteadyClock::now();
  const int failed = ::posix_spawn(&child, program_.c_str(), &actions, nullptr, pointers(arguments).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot run " + program_);
  output.close_write();
  errors.close_write();

  Call call;
  const auto end = begin + std::chrono::microseconds(kill_after_us.value_or(kLongestUs));
  bool is_output_open = true, is_errors_open = true;
  while (is_output_open || is_errors_open) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - SteadyClock::now()).count();
    if (left <= 0 && !call.was_killed) {
      ::kill(child, SIGKILL);
      call.was_killed = true;
    }
    pollfd fds[2] = {{is_output_open ? output.fds[0] : -1, POLLIN, 0},
                     {is_errors_open ? errors.fds[0] : -1, POLLIN, 0}};
    const timespec timeout{std::max<std::int64_t>(left, 0) / 1'000'000'000,
                           std::max<std::int64_t>(left, 0) % 1'000'000'000};
    ::ppoll(fds, 2, call.was_killed ? nullptr : &timeout, nullptr);
    if (fds[0].revents) is_output_open = read_some(output.fds[0], call.output);
    if (fds[1].revents) is_errors_open = read_some(errors.fds[0], call.errors);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  call.took_us = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begin).count();
  call.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Killed at the last moment, it may have ended by itself.
  call.was_killed = WIFSIGNALED(status);
  return call;
}

Call Place::start(const std::string& goal, std::optional<std::int64_t> kill_after_us) const {
  return run({"session", "start", "faults-loop", "--goal", goal, "--json"}, kill_after_us);
}

Call Place::go_on(const std::string& token, const std::string& notes, std::optional<std::int64_t> kill_after_us) const {
  const std::string file = fmt::format("{}/notes/{}", directory_, files_++);
  std::ofstream(file) << notes;
  Call call = run({"session", "continue", token, "--notes", file, "--json"}, kill_after_us);
  std::error_code ignored;
  fs::remove(file, ignored);
  return call;
}

std::optional<std::vector<Value>> exported(const Place& place, const std::string& session) {
  const Call call = place.run({"session", "export", session});
  if (call.code != 0) return std::nullopt;
  std::vector<Value> events;
  std::string_view rest = call.output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto event = parse_json(rest.substr(0, end));
    if (!event) return std::nullopt;
    events.push_back(std::move(*event));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return events;
}

std::optional<std::vector<std::string>> listed(const Place& place) {
  const Call call = place.run({"session", "list", "--all", "--json"});
  const auto value = parse_json(call.output);
  if (call.code != 0 || !value) return std::nullopt;
  std::vector<std::string> ids;
  const Value* sessions = value->is_array() ? &*value : value->find("sessions");
  if (!sessions) return std::nullopt;
  for (const Value& session : sessions->items()) ids.push_back(session.string_at("sessionId").value_or(""));
  return ids;
}

void Findings::add(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (++count_ <= 10) fmt::print("FAILED: {}\n", problem);
}

}  // namespace sb::faults
