#include "base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/process_start.hpp"
#include "base/process_usage.hpp"

namespace sb {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kPatienceMs = 10'000;  // for a process that was asked to exit

// The part of one stream that is kept.
class Kept {
 public:
  Kept(std::size_t limit, bool keep_tail)
      : head_limit_(keep_tail ? limit / 2 : limit), tail_limit_(limit - head_limit_) {}

  void add(std::string_view bytes) {
    const std::size_t room = std::min(head_limit_ - head_.size(), bytes.size());
    head_.append(bytes.substr(0, room));
    bytes.remove_prefix(room);
    behind_head_ += bytes.size();
    if (tail_limit_ == 0) return;
    tail_.append(bytes);
    // Not for every piece, so that moving stays cheap.
    if (tail_.size() > 2 * tail_limit_ + 65'536) tail_.erase(0, tail_.size() - tail_limit_);
  }
  bool was_cut() const { return behind_head_ > tail_limit_; }
  std::string text() && {
    if (!was_cut()) return std::move(head_) + tail_;
    if (tail_limit_ == 0) return std::move(head_);
    const std::size_t kept = std::min(tail_.size(), tail_limit_);
    return fmt::format("{}\n[… {} bytes left out …]\n{}", head_, behind_head_ - kept,
                       std::string_view(tail_).substr(tail_.size() - kept));
  }

 private:
  std::size_t head_limit_, tail_limit_;
  std::size_t behind_head_ = 0;
  std::string head_, tail_;
};

// Reads once; closes at the end of input. Returns whether there may be more. Reads everything, kept or not, so that no
// writer blocks.
bool drain(int& descriptor, Kept& into, const std::function<void(std::string_view)>& on_output) {
  if (descriptor < 0) return false;
  char buffer[65536];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count > 0) {
    const std::string_view piece(buffer, static_cast<std::size_t>(count));
    into.add(piece);
    if (on_output) on_output(piece);
    return true;
  }
  if (count == 0 || (errno != EINTR && errno != EAGAIN)) Pipe::close_one(descriptor);
  return count < 0 && errno == EINTR;
}

// A started program until it exits.
class Run {
 public:
  Run(const Command& command, Pipes& pipes, pid_t child)
      : command_(command),
        pipes_(pipes),
        child_(child),
        output_(command.max_output_bytes, command.keep_tail),
        errors_(command.max_output_bytes, command.keep_tail),
        rest_(command.input),
        end_(SteadyClock::now() + std::chrono::milliseconds(command.timeout_ms)) {
    watch_.read_end = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  }

  ProcessResult to_the_end() {
    for (const int descriptor : {pipes_.input.write_end, pipes_.output.read_end, pipes_.errors.read_end}) {
      ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    }
    if (rest_.empty()) pipes_.input.close_write();
    while (!has_ended(WNOHANG)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - SteadyClock::now()).count();
      if (left > 0 && is_wanted() && is_below_ceiling()) {
        serve(left);
      } else {
        stop();
      }
    }
    // Everything the program wrote before it exited is in the pipes; does not wait for other writers.
    for (std::size_t bytes = 0; drain(pipes_.output.read_end, output_, command_.on_output) && bytes < kPipeBytes;
         bytes += 65'536) {
    }
    for (std::size_t bytes = 0; drain(pipes_.errors.read_end, errors_, command_.on_output) && bytes < kPipeBytes;
         bytes += 65'536) {
    }
    exit_.output_truncated = output_.was_cut() || errors_.was_cut();
    exit_.output = std::move(output_).text();
    exit_.errors = std::move(errors_).text();
    exit_.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    return std::move(exit_);
  }

 private:
  static constexpr std::int64_t kAskedEveryMs = 1'000;
  static constexpr std::int64_t kMeasuredEveryMs = 100;
  static constexpr std::int64_t kOwnProcesses = 4;    // the guard, and those of a sandbox
  static constexpr std::size_t kPipeBytes = 1 << 20;  // maximum pipe capacity for an unprivileged user

  bool is_wanted() {
    if (!command_.should_continue || is_ending_) return true;
    const auto now = SteadyClock::now();
    if (now < next_asked_) return true;
    next_asked_ = now + std::chrono::milliseconds(kAskedEveryMs);
    exit_.was_cancelled = !command_.should_continue();
    return !exit_.was_cancelled;
  }

  bool is_below_ceiling() {
    const Command::Ceiling& most = command_.ceiling;
    if ((most.memory_bytes == 0 && most.processes == 0) || is_ending_) return true;
    const auto now = SteadyClock::now();
    if (now < next_measured_) return true;
    const ProcessUsage usage = usage_of_tree(child_);
    next_measured_ = SteadyClock::now() + std::chrono::milliseconds(kMeasuredEveryMs);
    if (most.processes > 0 && usage.processes > most.processes + kOwnProcesses) exit_.exceeded = "processes";
    const std::int64_t in_folders = most.memory_bytes > 0 ? memory_in_folders(child_, most.memory_folders) : 0;
    const std::int64_t left = most.memory_bytes - in_folders;
    const bool may_be_over = most.memory_bytes > 0 && usage.memory_bytes > left;
    if (may_be_over && exact_memory_of_tree(child_) > left) exit_.exceeded = "memory";
    // Pages that were unmapped again belong to no process. A control group counts them.
    const bool may_hide = most.memory_bytes > 0 && command_.control_group.empty() &&
                          shared_memory_of_machine() - shared_before_ > most.memory_bytes;
    if (may_hide && shares_memory_without_files(child_)) exit_.exceeded = "memory";
    return exit_.exceeded.empty();
  }

  bool has_ended(int flags) {
    pid_t ended = 0;
    do {
      ended = ::waitpid(child_, &status_, flags);
    } while (ended < 0 && errno == EINTR);
    return ended != 0;
  }

  void serve(std::int64_t left_ms) {
    pollfd fds[4] = {{pipes_.output.read_end, POLLIN, 0},
                     {pipes_.errors.read_end, POLLIN, 0},
                     {pipes_.input.write_end, POLLOUT, 0},
                     {watch_.read_end, POLLIN, 0}};
    const bool is_measured = command_.ceiling.memory_bytes > 0 || command_.ceiling.processes > 0;
    const std::int64_t longest = watch_.read_end < 0 ? 5 : is_measured ? kMeasuredEveryMs : kAskedEveryMs;
    ::poll(fds, 4, static_cast<int>(std::min(left_ms, longest)));
    if (fds[0].revents) drain(pipes_.output.read_end, output_, command_.on_output);
    if (fds[1].revents) drain(pipes_.errors.read_end, errors_, command_.on_output);
    if (fds[2].revents) feed();
  }

  void feed() {
    const ssize_t count = ::write(pipes_.input.write_end, rest_.data(), rest_.size());
    if (count > 0) rest_.remove_prefix(static_cast<std::size_t>(count));
    if (rest_.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) pipes_.input.close_write();
  }

  // Asks the guard to exit and gives it time to end the rest. Any other process is killed.
  void stop() {
    const bool is_asked_first = command_.kill_descendants && !is_ending_;
    is_ending_ = true;
    exit_.timed_out = !exit_.was_cancelled && exit_.exceeded.empty();
    ::kill(is_asked_first ? child_ : -child_, is_asked_first ? SIGTERM : SIGKILL);
    end_ = SteadyClock::now() + std::chrono::milliseconds(kPatienceMs);
    // It may be stopped, or blocked in the kernel.
    if (is_asked_first) ::kill(child_, SIGCONT);
  }

  const Command& command_;
  Pipes& pipes_;
  const pid_t child_;
  Pipe watch_;  // only its read end: becomes readable when the child has exited
  Kept output_, errors_;
  std::string_view rest_;
  SteadyClock::time_point end_;
  const std::int64_t shared_before_ = command_.ceiling.memory_bytes > 0 ? shared_memory_of_machine() : 0;
  SteadyClock::time_point next_measured_ = SteadyClock::now();
  SteadyClock::time_point next_asked_ = SteadyClock::now() + std::chrono::milliseconds(kAskedEveryMs);
  bool is_ending_ = false;
  int status_ = 0;
  ProcessResult exit_;
};

}  // namespace

Result<ProcessResult> SystemProcess::run(const Command& command) {
  if (command.argv.empty()) return fail(ErrorCode::kInvalid, "no program to run");
  Pipes pipes;
  const bool is_open = pipes.input.open() && pipes.output.open() && pipes.errors.open();
  const pid_t child = is_open ? start_process(command, pipes) : -1;
  if (child < 0) return fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", command.argv[0], std::strerror(errno)));
  pipes.input.close_read();
  pipes.output.close_write();
  pipes.errors.close_write();
  return Run(command, pipes, child).to_the_end();
}

}  // namespace sb
