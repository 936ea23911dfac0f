// A program under way in a process of its own, while a test looks at what it does, talks to it or ends it; and lines
// for an agent that waits until it is let go on.
//
// Threads: from one.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/place.hpp"

namespace sb::piped {

class UnderWay {
 public:
  UnderWay(const Place& place, std::vector<std::string> arguments);
  // `signalbox run GOAL --json …`
  UnderWay(const Place& place, const std::string& goal);
  ~UnderWay();  // killed, when it is not over
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  void send(int signal) const;
  Ended wait();

 private:
  long process() const;

  std::string pid_file_;
  Ended ended_;
  std::thread thread_;
};

// Whether it came to hold within two minutes.
bool comes_true(const std::function<bool()>& holds);

// A coding phase whose agent waits in a command until let_go().
std::string waiting_lines();
// The work tree in which it waits; empty after two minutes.
std::string wait_for_waiting(const Place& place);
void let_go(const std::string& tree);

// Of the newest attempt at that phase; empty: there is none.
std::string session_of(const Place& place, const std::string& phase);

}  // namespace sb::piped
