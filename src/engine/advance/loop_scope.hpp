// The context as a step inside loops sees it: the branch's own, and over it the variables of the loops around it.
//
// Holds references. Changing from one place to the next costs the loops' variables, not the context's size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

class LoopScope {
 public:
  LoopScope(const Program& program, const Value& context) : program_(program), context_(context) {}

  // The view of a step inside these loops; good until the next call.
  const Value& at(const std::vector<LoopFrame>& frames);

 private:
  void set_variables(const LoopFrame& frame);
  void set(const std::string& name, Value value);

  const Program& program_;
  const Value& context_;
  std::optional<Value> view_;
  std::vector<std::string> names_;  // set over the context's own
};

}  // namespace sb::engine
