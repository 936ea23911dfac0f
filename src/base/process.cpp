#include "base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace sb {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() { close_one(read_end); }
  void close_write() { close_one(write_end); }
  ~Pipe() {
    close_read();
    close_write();
  }
  static void close_one(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

[[noreturn]] void become(const Command& command, Pipe& input, Pipe& output, Pipe& errors) {
  ::setpgid(0, 0);
  ::dup2(input.read_end, 0);
  ::dup2(output.write_end, 1);
  ::dup2(errors.write_end, 2);
  ::signal(SIGPIPE, SIG_DFL);
  std::vector<char*> argv;
  for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  std::vector<char*> environment;
  if (command.environment) {
    for (const auto& [name, value] : *command.environment) variables.push_back(name + "=" + value);
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    environ = environment.data();
  }
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(127);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

// Reads what is there; closes at the end. Output over the limit is thrown away but still read, so nobody blocks.
void drain(int& fd, std::string& into, std::size_t limit, bool& was_cut) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) {
    const std::size_t room = limit > into.size() ? limit - into.size() : 0;
    into.append(buffer, std::min(room, static_cast<std::size_t>(count)));
    if (static_cast<std::size_t>(count) > room) was_cut = true;
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    Pipe::close_one(fd);
  }
}

}  // namespace

Result<Exit> SystemProcess::run(const Command& command) {
  if (command.argv.empty()) return fail(ErrorCode::kInvalid, "no program to run");
  Pipe input, output, errors;
  if (!input.open() || !output.open() || !errors.open()) {
    return fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", command.argv[0], std::strerror(errno)));
  }
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", command.argv[0], std::strerror(errno)));
  if (child == 0) become(command, input, output, errors);
  ::setpgid(child, child);
  input.close_read();
  output.close_write();
  errors.close_write();
  ::fcntl(input.write_end, F_SETFL, O_NONBLOCK);

  using SteadyClock = std::chrono::steady_clock;
  const auto end = SteadyClock::now() + std::chrono::milliseconds(command.timeout_ms);
  Exit exit;
  std::string_view rest = command.input;
  if (rest.empty()) input.close_write();
  while (output.read_end >= 0 || errors.read_end >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    if (left <= 0) {
      exit.timed_out = true;
      ::kill(-child, SIGKILL);
      break;
    }
    pollfd fds[3] = {{output.read_end, POLLIN, 0}, {errors.read_end, POLLIN, 0}, {input.write_end, POLLOUT, 0}};
    if (::poll(fds, 3, static_cast<int>(std::min<std::int64_t>(left, 1000))) < 0 && errno != EINTR) break;
    if (fds[0].revents) drain(output.read_end, exit.output, command.max_output_bytes, exit.output_cut);
    if (fds[1].revents) drain(errors.read_end, exit.errors, command.max_output_bytes, exit.output_cut);
    if (fds[2].revents) {
      const ssize_t count = ::write(input.write_end, rest.data(), rest.size());
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
      if (rest.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) input.close_write();
    }
  }
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, exit.timed_out ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    if (ended == 0) {
      // It closed its output but lives on.
      if (SteadyClock::now() >= end) {
        exit.timed_out = true;
        ::kill(-child, SIGKILL);
      } else {
        ::usleep(1000);
      }
    }
  }
  exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit;
}

}  // namespace sb
