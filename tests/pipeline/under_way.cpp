#include "pipeline/under_way.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "pipeline/script.hpp"

namespace sb::piped {
namespace {

std::string next_pid_file(const Place& place) {
  static std::atomic<int> count = 0;
  return place.root() + "/pid-" + std::to_string(++count);
}

}  // namespace

UnderWay::UnderWay(const Place& place, std::vector<std::string> arguments) : pid_file_(next_pid_file(place)) {
  std::vector<std::string> words = {"-c", "echo $$ > \"$1\"; shift; exec \"$@\"", "sh", pid_file_, place.program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  thread_ = std::thread([this, &place, words] {
    ended_ = start_program("sh", place.environment(), {.arguments = words, .directory = place.repository()});
  });
}

UnderWay::UnderWay(const Place& place, const std::string& goal)
    : UnderWay(place, std::vector<std::string>{"run", goal, "--workspace", place.repository(), "--json"}) {}

UnderWay::~UnderWay() {
  if (!thread_.joinable()) return;
  send(SIGKILL);
  thread_.join();
}

long UnderWay::process() const {
  long id = 0;
  comes_true([&] { return static_cast<bool>(std::ifstream(pid_file_) >> id); });
  return id;
}

void UnderWay::send(int signal) const {
  if (const long id = process(); id > 0) ::kill(static_cast<pid_t>(id), signal);
}

Ended UnderWay::wait() {
  if (thread_.joinable()) thread_.join();
  return ended_;
}

bool comes_true(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

std::string waiting_lines() {
  return lines(
      {Line("coding").step("build").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
       Line("coding").step("build").call(
           "Bash", Value::object({{"command", "touch waits; while [ ! -e go ]; do sleep 0.05; done; rm go waits"}})),
       Line("coding").step("build").complete(long_notes()),
       Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()})});
}

std::string wait_for_waiting(const Place& place) {
  std::string found;
  comes_true([&] {
    for (const std::string& tree : place.work_trees()) {
      if (std::filesystem::exists(tree + "/waits")) found = tree;
    }
    return !found.empty();
  });
  return found;
}

void let_go(const std::string& tree) {
  std::ofstream(tree + "/go") << "";
}

std::string session_of(const Place& place, const std::string& phase) {
  std::string session;
  for (const Value& event : place.events("phase_started")) {
    if (event["payload"]["phase"] == Value(phase)) session = event["payload"].string_at("session").value_or("");
  }
  return session;
}

}  // namespace sb::piped
