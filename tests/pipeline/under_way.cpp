#include "pipeline/under_way.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

std::string next_pid_file(const RunFixture& place) {
  static std::atomic<int> count = 0;
  return place.root() + "/pid-" + std::to_string(++count);
}

}  // namespace

BackgroundProgram::BackgroundProgram(const RunFixture& place, std::vector<std::string> arguments)
    : pid_file_(next_pid_file(place)) {
  std::vector<std::string> words = {"-c", "echo $$ > \"$1\"; shift; exec \"$@\"", "sh", pid_file_, place.program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  thread_ = std::thread([this, &place, words] {
    ended_ = start_program("sh", place.environment(), {.arguments = words, .directory = place.repository()});
  });
}

BackgroundProgram::BackgroundProgram(const RunFixture& place, const std::string& goal)
    : BackgroundProgram(place, std::vector<std::string>{"run", goal, "--workspace", place.repository(), "--json"}) {}

BackgroundProgram::~BackgroundProgram() {
  if (!thread_.joinable()) return;
  send(SIGKILL);
  thread_.join();
}

long BackgroundProgram::process() const {
  long id = 0;
  becomes_true([&] { return static_cast<bool>(std::ifstream(pid_file_) >> id); });
  return id;
}

void BackgroundProgram::send(int signal) const {
  if (const long id = process(); id > 0) ::kill(static_cast<pid_t>(id), signal);
}

ProgramResult BackgroundProgram::wait() {
  if (thread_.joinable()) thread_.join();
  return ended_;
}

bool becomes_true(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

std::string waiting_agent_script() {
  return lines(
      {Line("coding").step("build").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
       Line("coding").step("build").call(
           "Bash", Value::object({{"command", "touch waits; while [ ! -e go ]; do sleep 0.05; done; rm go waits"}})),
       Line("coding").step("build").complete(long_notes()),
       Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()})});
}

std::string wait_for_agent(const RunFixture& place) {
  std::string found;
  becomes_true([&] {
    for (const std::string& tree : place.work_trees()) {
      if (std::filesystem::exists(tree + "/waits")) found = tree;
    }
    return !found.empty();
  });
  return found;
}

void release_agent(const std::string& tree) {
  std::ofstream(tree + "/go") << "";
}

std::string session_of(const RunFixture& place, const std::string& phase) {
  std::string session;
  for (const Value& event : place.events("phase_started")) {
    if (event["payload"]["phase"] == Value(phase)) session = event["payload"].string_at("session").value_or("");
  }
  return session;
}

}  // namespace sb::pipeline_tests
