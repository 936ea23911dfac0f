// Replies for the bundled workflows, made from what their steps ask for: a line a step, used as often as it is opened.
// What matters to a test is set; the rest is the first value that fits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "pipeline/place.hpp"

namespace sb::piped {

class BundledScript {
 public:
  // Of one workflow.
  struct Ways {
    Value answers = Value::object();            // context keys, wherever a step must send them
    std::map<std::string, Value> artifacts;     // step: members to set in the artifact of its contract
    std::map<std::string, Value::Array> calls;  // step: tools to call before it is delivered, in the same reply
  };
  explicit BundledScript(const Place& place) : place_(place) {}

  Ways& of(const std::string& workflow) { return ways_[workflow]; }
  // All lines, for every workflow named with of() and those that these start.
  std::string lines();

 private:
  std::string lines_of(const std::string& workflow);
  void add_steps(const std::string& workflow, const Value& shown, const Value& steps, std::string& lines);
  Value reply(const Ways& ways, const Value& shown, const Value& step) const;

  const Place& place_;
  std::map<std::string, Ways> ways_;
};

Value call(const std::string& tool, Value input);

}  // namespace sb::piped
