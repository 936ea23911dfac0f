// terminal ACTION... -- COMMAND [ARGUMENT...]
//
// Runs a command in its own terminal and types into it, never before the text it waits for has been shown. Prints what
// the terminal shows, with CR LF replaced by LF. The actions, in order:
//
//   wait TEXT      until TEXT is shown, after the text that the last `wait` found
//   type TEXT      as a person types it; a line ends with a line feed, Ctrl-C is the byte 3, Ctrl-D the byte 4
//   run SCRIPT     with sh, while the command continues; its output goes to stderr
//   size COLUMNS   sets the width of the terminal
//   signal NUMBER  sends it to the command
//   close          closes the terminal, as a window is closed
//
// Exits with the command's exit code (128 + N if signal N ended it), or with 99 if a text is not shown, or the command
// does not end, within half a minute.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kFailed = 99;
constexpr int kUsage = 98;
constexpr auto kMostTime = std::chrono::seconds(30);

class Terminal {
 public:
  // Starts the command; `argv` ends with a null pointer.
  explicit Terminal(char** argv) {
    winsize size{};
    size.ws_col = 80;
    size.ws_row = 24;
    child_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    ::execvp(argv[0], argv);
    std::perror(argv[0]);
    ::_exit(127);
  }

  bool is_started() const { return child_ > 0; }

  // Whether the text was shown in time.
  bool wait_for(std::string_view text) {
    const auto end = SteadyClock::now() + kMostTime;
    while (true) {
      const auto found = shown_.find(text, seen_);
      if (found != std::string::npos) {
        seen_ = found + text.size();
        return true;
      }
      if (!read_until(end)) return false;
    }
  }

  void type(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::write(master_, text.data(), text.size());
      if (count < 0 && errno != EINTR) return;
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void resize(int columns) const {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    ::ioctl(master_, TIOCSWINSZ, &size);
  }

  void send(int signal) const { ::kill(child_, signal); }

  void close() {
    if (master_ >= 0) ::close(master_);
    master_ = -1;
  }

  // The exit code, once everything has been shown.
  int finish() {
    const auto end = SteadyClock::now() + kMostTime;
    while (read_until(end)) {
    }
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) == 0) {
      if (SteadyClock::now() > end) {
        kill_it();
        return kFailed;
      }
      ::usleep(5'000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void kill_it() const {
    ::kill(-child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  // Prints the next output. False at its end and on timeout.
  bool read_until(SteadyClock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    if (master_ < 0 || left <= 0) return false;
    pollfd polled{master_, POLLIN, 0};
    const int ready = ::poll(&polled, 1, static_cast<int>(left));
    if (ready < 0) return errno == EINTR;
    if (ready == 0) return false;
    char buffer[4096];
    const ssize_t count = ::read(master_, buffer, sizeof buffer);
    if (count <= 0) return count < 0 && errno == EINTR;  // EIO: no process has the terminal open any more
    std::string text;
    for (const char c : std::string_view(buffer, static_cast<std::size_t>(count))) {
      if (c != '\r') text += c;
    }
    shown_ += text;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return true;
  }

  int master_ = -1;
  pid_t child_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

struct Action {
  std::string_view name, argument;
};

// The index of the command; 0 if the words are not actions and a command.
std::size_t read_actions(const std::vector<std::string_view>& words, std::vector<Action>& actions) {
  std::size_t at = 0;
  while (at < words.size() && words[at] != "--") {
    Action action{words[at++], {}};
    const bool is_known = action.name == "wait" || action.name == "type" || action.name == "run" ||
                          action.name == "size" || action.name == "signal";
    if (!is_known && action.name != "close") return 0;
    if (is_known && at == words.size()) return 0;
    if (is_known) action.argument = words[at++];
    actions.push_back(action);
  }
  return at + 1 < words.size() ? at + 1 : 0;
}

// Whether the action succeeded.
bool act(Terminal& terminal, const Action& action) {
  const std::string argument(action.argument);
  if (action.name == "wait") return terminal.wait_for(argument);
  if (action.name == "run") return std::system(("{ " + argument + "\n} >&2 </dev/null").c_str()) == 0;
  if (action.name == "type") terminal.type(argument);
  if (action.name == "size") terminal.resize(std::atoi(argument.c_str()));
  if (action.name == "signal") terminal.send(std::atoi(argument.c_str()));
  if (action.name == "close") terminal.close();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<Action> actions;
  const std::size_t command = read_actions(std::vector<std::string_view>(argv + 1, argv + argc), actions);
  if (command == 0) {
    std::fputs("usage: terminal [wait|type|run|size|signal TEXT | close]... -- COMMAND [ARGUMENT...]\n", stderr);
    return kUsage;
  }
  Terminal terminal(argv + 1 + command);
  if (!terminal.is_started()) {
    std::perror("terminal");
    return kUsage;
  }
  for (const Action& action : actions) {
    if (act(terminal, action)) continue;
    std::fprintf(stderr, "terminal: failed: %.*s %.*s\n", static_cast<int>(action.name.size()), action.name.data(),
                 static_cast<int>(action.argument.size()), action.argument.data());
    terminal.kill_it();
    return kFailed;
  }
  return terminal.finish();
}
