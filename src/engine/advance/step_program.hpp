// A pinned workflow laid out for execution: every step once, numbered, with its successor.
//
// Pure and immutable; shared between sessions. Numbers are in preorder: a loop, then its body, then what follows it.
// The body of a parallel loop is not included: it is a separate workflow.
//
// The exit decision of a loop that ends on an artifact is carried by each body step that has the loop's contract (with
// nested loops: that of the innermost loop). If no step has it, the last body step that an agent delivers carries it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workflow/compile/compile.hpp"

namespace sb::engine {

using StepNo = int;
inline constexpr StepNo kNoStep = -1;
inline constexpr std::string_view kCodingHandOff =
    "wr.coding_handoff";  // its `filesChanged` is compared with the change

struct ProgramStep {
  const workflow::Step* step = nullptr;
  StepNo next = kNoStep;   // the next sibling
  StepNo loop = kNoStep;   // the enclosing loop
  StepNo body = kNoStep;   // for a loop: its first step
  StepNo exits = kNoStep;  // the loop whose exit decision it carries
  bool is_exit = false;    // whether it carries one
  bool is_last = false;    // ends the workflow if nothing is skipped; for metrics footers
};

class Program {
 public:
  explicit Program(std::shared_ptr<const workflow::CompiledWorkflow> compiled);

  const workflow::CompiledWorkflow& compiled() const { return *compiled_; }
  const workflow::Definition& definition() const { return compiled_->definition; }
  const std::string& hash() const { return compiled_->hash; }
  const ProgramStep& at(StepNo number) const { return steps_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(steps_.size()); }
  StepNo first() const { return steps_.empty() ? kNoStep : 0; }
  bool has_commands() const { return has_commands_; }     // whether any step runs one
  bool hands_over(const workflow::Step& step) const;      // the files it changed, as one artifact
  bool has_hand_off() const { return has_hand_off_; }     // whether any step does
  const workflow::Step& step(std::string_view id) const;  // asserts that it exists
  StepNo find(std::string_view id) const;                 // kNoStep if there is none

 private:
  std::shared_ptr<const workflow::CompiledWorkflow> compiled_;
  std::vector<ProgramStep> steps_;
  bool has_commands_ = false, has_hand_off_ = false;
  std::map<std::string, StepNo, std::less<>> by_id_;
};

}  // namespace sb::engine
