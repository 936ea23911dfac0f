#include "started/program.hpp"

#include <fcntl.h>
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

#include "base/document/document.hpp"

namespace sb::test_program {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// A pipe whose ends are closed on exec, so that no other child keeps one open.
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

// False at the end of the stream.
bool read_some(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) into.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

class Gathering {
 public:
  Gathering(const Ends& output, const Ends& errors, ProgramResult& ended)
      : fds_{output.fds[0], errors.fds[0]}, texts_{&ended.output, &ended.errors} {}

  // Reads until both streams are closed; false on timeout.
  bool until(SteadyClock::time_point end) {
    while (fds_[0] >= 0 || fds_[1] >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - SteadyClock::now()).count();
      if (left <= 0) return false;
      poll_once(left);
    }
    return true;
  }
  // Reads what is already there. A grandchild may keep a stream open.
  void rest() {
    while ((fds_[0] >= 0 || fds_[1] >= 0) && poll_once(0)) {
    }
  }

 private:
  bool poll_once(std::int64_t nanoseconds) {
    pollfd polled[2] = {{fds_[0], POLLIN, 0}, {fds_[1], POLLIN, 0}};
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    ::ppoll(polled, 2, &timeout, nullptr);
    bool is_any = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      is_any = true;
      if (!read_some(fds_[i], *texts_[i])) fds_[i] = -1;
    }
    return is_any;
  }

  std::array<int, 2> fds_;
  std::array<std::string*, 2> texts_;
};

std::string input_file(const std::string& text) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sb-input-XXXXXX").string();
  const int fd = ::mkstemp(pattern.data());
  if (fd < 0) throw std::runtime_error("no temporary file");
  ::close(fd);
  std::ofstream(pattern) << text;
  return pattern;
}

}  // namespace

std::vector<Value> json_lines(std::string_view text) {
  std::vector<Value> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto value = parse_json(text.substr(0, end)); value && value->is_object()) values.push_back(std::move(*value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}

Value ProgramResult::last() const {
  const auto values = json_lines(output);
  if (!values.empty()) return values.back();
  auto whole = parse_json(output);
  return whole ? std::move(*whole) : Value();
}

ProgramResult start_program(const std::string& program, const std::vector<std::string>& environment,
                            const Start& start) {
  std::vector<std::string> words = start.arguments;
  words.insert(words.begin(), program);
  std::vector<std::string> variables = start.environment;  // the first of a name wins
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
  ProgramResult ended;
  Gathering gathering(output, errors, ended);
  const auto most =
      std::chrono::microseconds(start.kill_after_us.value_or(start.max_seconds * std::int64_t{1'000'000}));
  if (!gathering.until(begin + most)) ::kill(child, SIGKILL);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  gathering.rest();
  if (!start.input.empty()) ::unlink(input.c_str());
  ended.took_ms = std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
  ended.resident_kilobytes = used.ru_maxrss;
  ended.was_killed = WIFSIGNALED(status);  // false if it ended by itself before the kill arrived
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace sb::test_program
