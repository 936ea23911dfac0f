// A program running in the background, while a test observes, controls or kills it; and script lines for an agent that
// waits until it is released.
//
// Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/place.hpp"

namespace sb::pipeline_tests {

class BackgroundProgram {
 public:
  BackgroundProgram(const RunFixture& place, std::vector<std::string> arguments);
  // `signalbox run GOAL --json …`
  BackgroundProgram(const RunFixture& place, const std::string& goal);
  ~BackgroundProgram();  // killed if still running
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  void send(int signal) const;
  ProgramResult wait();

 private:
  long process() const;

  std::string pid_file_;
  ProgramResult ended_;
  std::thread thread_;
};

// Whether the condition became true within two minutes.
bool becomes_true(const std::function<bool()>& holds);

// A coding phase whose agent waits in a command until release_agent().
std::string waiting_agent_script();
// The work tree in which it waits; empty after two minutes.
std::string wait_for_agent(const RunFixture& place);
void release_agent(const std::string& tree);

// Of the newest attempt at that phase; empty: there is none.
std::string session_of(const RunFixture& place, const std::string& phase);

}  // namespace sb::pipeline_tests
