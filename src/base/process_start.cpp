#include "base/process_start.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sb {
namespace {

constexpr int kGuardRounds = 5'000;  // one millisecond each

// Built before fork, where allocating is safe.
struct Words {
  explicit Words(const Command& command) {
    for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    if (!command.environment) return;
    for (const auto& [name, value] : *command.environment) variables.push_back(name + "=" + value);
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
  }
  std::vector<char*> argv;
  std::vector<std::string> variables;
  std::vector<char*> environment;  // empty: inherited
};

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t count = ::write(2, text.data(), text.size());
}

[[noreturn]] void give_up(const char* what) {
  const char* why = ::strerrordesc_np(errno);
  say(what);
  say(": ");
  say(why ? why : "cannot be run");
  say("\n");
  ::_exit(127);
}

// Without the group its limits would not count.
void enter_group(const char* entrance) {
  const int file = ::open(entrance, O_WRONLY | O_CLOEXEC);
  if (file < 0 || ::write(file, "0", 1) != 1) give_up(entrance);
  ::close(file);
}

void seal(const std::vector<std::string>& files) {
  if (files.empty() || ::unshare(CLONE_NEWNS) != 0) return;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return;
  for (const std::string& file : files) {
    struct statvfs mounted{};
    if (::mount(file.c_str(), file.c_str(), nullptr, MS_BIND, nullptr) != 0) continue;
    if (::statvfs(file.c_str(), &mounted) != 0) continue;
    const unsigned long kept = mounted.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC);
    ::mount(nullptr, file.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, nullptr);
  }
}

[[noreturn]] void become(const Command& command, Words& words, Pipes& pipes) {
  ::setpgid(0, 0);
  ::dup2(pipes.input.read_end, 0);
  ::dup2(pipes.output.write_end, 1);
  ::dup2(command.merge_stderr ? pipes.output.write_end : pipes.errors.write_end, 2);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!command.control_group.empty()) enter_group(command.control_group.c_str());
  seal(command.sealed_files);
  if (!words.environment.empty()) environ = words.environment.data();
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) give_up(command.directory.c_str());
  ::execvp(words.argv[0], words.argv.data());
  give_up(words.argv[0]);
}

// The parent's pid from /proc/PID/stat. The name before it may contain anything, so parse from the last parenthesis.
pid_t parent_of(const char* pid) {
  char path[300];
  std::snprintf(path, sizeof path, "/proc/%s/stat", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[512];
  const ssize_t count = ::read(file, text, sizeof text - 1);
  ::close(file);
  text[count > 0 ? count : 0] = '\0';
  const char* behind_name = std::strrchr(text, ')');
  int parent = -1;
  char state = 0;
  if (!behind_name || std::sscanf(behind_name + 1, " %c %d", &state, &parent) != 2) return -1;
  return parent;
}

void kill_children() {
  DIR* processes = ::opendir("/proc");
  if (!processes) return;
  const pid_t self = ::getpid();
  while (const dirent* entry = ::readdir(processes)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (parent_of(entry->d_name) == self) ::kill(std::atoi(entry->d_name), SIGKILL);
  }
  ::closedir(processes);
}

// Each killed process hands its children to us, so it takes several rounds until none is left.
void end_descendants() {
  for (int round = 0; round < kGuardRounds; ++round) {
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    kill_children();
    ::usleep(1000);
  }
}

// Waits until the program exits or we are asked to stop; returns the program's status if there is one.
bool wait_for(pid_t program, const sigset_t& signals, int& status) {
  while (true) {
    int seen = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &seen, WNOHANG)) > 0) {
      if (ended != program) continue;
      status = seen;
      return true;
    }
    if (::sigwaitinfo(&signals, nullptr) == SIGTERM) return false;
  }
}

[[noreturn]] void guard(const Command& command, Words& words, Pipes& pipes, pid_t master) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "sb-guard");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != master) ::_exit(127);
  const pid_t program = ::fork();
  if (program < 0) ::_exit(127);
  if (program == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    become(command, words, pipes);
  }
  ::setpgid(program, program);
  // The guard must not hold any of the parent's files open.
  ::close_range(0, ~0U, 0);
  int status = SIGKILL;
  wait_for(program, signals, status);
  ::kill(-program, SIGKILL);
  end_descendants();
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

pid_t start_process(const Command& command, Pipes& pipes) {
  Words words(command);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (command.kill_descendants) guard(command, words, pipes, self);
    become(command, words, pipes);
  }
  if (child > 0) ::setpgid(child, child);
  return child;
}

}  // namespace sb
