// The context that a step inside loops sees: that of the branch, with the variables of the loops around it on top.
//
// Holds references. Moving between positions costs the size of the loop variables, not of the context.
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

  // The view of a step inside these loops; valid until the next call.
  const Value& at(const std::vector<LoopFrame>& frames);

 private:
  void set_variables(const LoopFrame& frame);
  void set(const std::string& name, Value value);

  const Program& program_;
  const Value& context_;
  std::optional<Value> view_;
  std::vector<std::string> names_;  // these shadow keys of the context
};

}  // namespace sb::engine
