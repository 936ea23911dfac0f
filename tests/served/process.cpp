#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/document/document.hpp"
#include "served/served.hpp"

namespace sb::server_tests {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  int ends[2];
};

pid_t start(const std::string& program, const std::string& folder, std::vector<std::string> arguments, int output,
            int errors) {
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "HOME=" + folder, "SIGNALBOX_HOME=" + folder + "/home",
                                          "LC_ALL=C.UTF-8"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, program.c_str(), &actions, nullptr, pointers(arguments).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot run " + program);
  return process;
}

// Reads to the end, or to the first line feed if `is_line`; gives up after a minute without data.
std::string read_pipe(int end, bool is_line) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd waiting{end, POLLIN, 0};
    if (::poll(&waiting, 1, 60'000) != 1) break;
    const ssize_t count = ::read(end, buffer, is_line ? 1 : sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
    if (is_line && text.ends_with('\n')) break;
  }
  return text;
}

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "sb-served-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = fs::canonical(pattern);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

ProgramResult run_program(const std::string& program, const std::string& folder, std::vector<std::string> arguments) {
  Pipe output, errors;
  const pid_t process = start(fs::absolute(program), folder, std::move(arguments), output.ends[1], errors.ends[1]);
  ::close(output.ends[1]);
  ::close(errors.ends[1]);
  ProgramResult ended{
      .code = -1, .output = read_pipe(output.ends[0], false), .errors = read_pipe(errors.ends[0], false)};
  ::close(output.ends[0]);
  ::close(errors.ends[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  ended.code = code_of(status);
  return ended;
}

std::string make_token(const std::string& program, const std::string& folder, const std::string& name) {
  std::string token = run_program(program, folder, {"serve", "token", name}).output;
  while (token.ends_with('\n')) token.pop_back();
  return token;
}

Server::Server(const std::string& program, const std::string& folder, std::vector<std::string> arguments, int port) {
  Pipe output;
  arguments.insert(arguments.begin(), {"serve", "--port", std::to_string(port), "--json"});
  process_ = start(fs::absolute(program), folder, std::move(arguments), output.ends[1], -1);
  ::close(output.ends[1]);
  output_ = output.ends[0];
  const auto said = parse_json(read_pipe(output_, true));
  if (said && (*said)["port"].is_integer()) port_ = static_cast<int>((*said)["port"].as_integer());
}

Server::~Server() {
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(output_);
}

std::size_t Server::resident_kilobytes() const {
  std::ifstream status(fmt::format("/proc/{}/status", process_));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

void Server::signal(int number) const {
  ::kill(process_, number);
}

int Server::wait() {
  int status = 0;
  for (int i = 0; i < 6'000; ++i) {
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      return code_of(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, &status, 0);
  process_ = 0;
  return code_of(status);
}

std::size_t raise_file_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace sb::server_tests
