// A workflow driven to its end by `signalbox session`, as an agent with a shell drives it: what each step is sent is
// given by the test, gates are approved, and children are driven by their tokens.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "started/program.hpp"

namespace sb::compat {

// What a step is sent: members of the context and artifacts.
struct Delivery {
  Value context = Value::object();
  Value::Array artifacts = {};
};

struct Driven {
  std::vector<std::string> opened;           // ids of the steps, in order, those of children too
  std::map<std::string, std::string> texts;  // of each step, all its openings joined
  std::vector<std::string> refusals;         // `step: CODE`
  int gates = 0;
  std::string stuck;  // why it is not complete; empty when it is
};

// A home of its own, with workflows taken from `folder`.
class Drive {
 public:
  Drive(std::string program, const std::string& folder);
  ~Drive();
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  // `deliveries`: for a step the first time, the second time, …; the last one is sent from then on.
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
