// Runs a workflow to its end with `signalbox session`, as an agent with a shell does: the test supplies what each step
// submits, gates are approved, and child sessions are run by their tokens.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "started/program.hpp"

namespace sb::compat {

// What is submitted for a step: members of the context and artifacts.
struct Delivery {
  Value context = Value::object();
  Value::Array artifacts = {};
};

struct Driven {
  std::vector<std::string> opened;           // ids of the steps, in order, including those of children
  std::map<std::string, std::string> texts;  // of each step, joined if it was opened several times
  std::vector<std::string> refusals;         // `step: CODE`
  int gates = 0;
  std::string stuck;  // why it is not complete; empty if it is
};

// Its own home, with workflows from `folder`.
class Drive {
 public:
  Drive(std::string program, const std::string& folder);
  ~Drive();
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  // `deliveries`: what a step submits the first time, the second time, …; the last one is repeated.
  Driven run(const std::string& workflow, std::map<std::string, std::vector<Delivery>> deliveries);
  test_program::ProgramResult call(std::vector<std::string> arguments) const;

 private:
  Value follow(Value answer, Driven& driven);
  Value deliver(const Value& answer, Driven& driven);
  Value settle(const Value& answer, Driven& driven);
  Value answered(std::vector<std::string> arguments, Driven& driven) const;

  std::string program_, root_;
  std::vector<std::string> environment_;
  std::map<std::string, std::vector<Delivery>> deliveries_;
  std::map<std::string, std::size_t> times_;
};

}  // namespace sb::compat
