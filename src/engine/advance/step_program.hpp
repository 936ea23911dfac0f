// A pinned workflow laid out for execution: every step once, by number, with where it goes on to.
//
// Pure and immutable; shared between sessions. Numbers are preorder: a loop, then its body, then what follows it. The
// body of a parallel loop is not here: it is a workflow of its own.
//
// The exit decision of a loop that artifacts end is carried by each body step that has the loop's contract (of several
// loops around it, it is the innermost one's); where none has, by the last step of the body that an agent delivers.
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

struct ProgramStep {
  const workflow::Step* step = nullptr;
  StepNo next = kNoStep;   // the sibling behind it
  StepNo loop = kNoStep;   // the loop it is in
  StepNo body = kNoStep;   // of a loop: its first step
  StepNo exits = kNoStep;  // the loop whose exit decision it carries
  bool is_exit = false;    // it carries one
  bool is_last = false;    // the one whose end ends the workflow when nothing is skipped; for metrics footers
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
  bool has_commands() const { return has_commands_; }     // whether a step of it runs one
  const workflow::Step& step(std::string_view id) const;  // asserts that there is one
  StepNo find(std::string_view id) const;                 // kNoStep when there is none

 private:
  std::shared_ptr<const workflow::CompiledWorkflow> compiled_;
  std::vector<ProgramStep> steps_;
  bool has_commands_ = false;
  std::map<std::string, StepNo, std::less<>> by_id_;
};

}  // namespace sb::engine
