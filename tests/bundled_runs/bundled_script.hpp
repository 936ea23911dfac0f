// Replies for the bundled workflows, generated from what their steps ask for: one line per step, used as often as the
// step is opened. A test sets what matters to it; the rest is the first value that fits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "pipeline/place.hpp"

namespace sb::pipeline_tests {

class BundledScript {
 public:
  // For one workflow.
  struct StepOverrides {
    Value answers = Value::object();            // context keys, wherever a step must send them
    std::map<std::string, Value> artifacts;     // step: members to set in the artifact of its contract
    std::map<std::string, Value::Array> calls;  // step: tools to call before it is submitted, in the same reply
  };
  explicit BundledScript(const RunFixture& place) : place_(place) {}

  StepOverrides& of(const std::string& workflow) { return overrides_[workflow]; }
  // All lines, for every workflow named with of() and those that these start.
  std::string lines();

 private:
  std::string lines_of(const std::string& workflow);
  void add_steps(const std::string& workflow, const Value& shown, const Value& steps, std::string& lines);
  Value reply(const StepOverrides& overrides, const Value& shown, const Value& step) const;

  const RunFixture& place_;
  std::map<std::string, StepOverrides> overrides_;
};

Value call(const std::string& tool, Value input);

}  // namespace sb::pipeline_tests
