#include "engine/advance/step_program.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace sb::engine {
namespace {

using workflow::Loop;
using workflow::LoopStep;
using workflow::Step;

const Loop::FromArtifact* artifact_source(const Step& step) {
  const LoopStep* loop = step.loop();
  return loop ? std::get_if<Loop::FromArtifact>(&loop->loop.source) : nullptr;
}

// Steps laid out in sequence.
class Layout {
 public:
  explicit Layout(std::vector<ProgramStep>& steps) : steps_(steps) {}

  StepNo add(const std::vector<Step>& siblings, StepNo loop) {
    StepNo first = kNoStep, before = kNoStep;
    for (const Step& step : siblings) {
      const StepNo number = static_cast<StepNo>(steps_.size());
      steps_.push_back({.step = &step, .loop = loop});
      if (before != kNoStep) at(before).next = number;
      if (first == kNoStep) first = number;
      before = number;
      if (const LoopStep* body = step.loop(); body && body->loop.parallel == 0) {
        const StepNo inner = add(body->body, number);
        at(number).body = inner;
      }
    }
    return first;
  }

  void mark_exits() {
    const StepNo count = static_cast<StepNo>(steps_.size());
    std::vector<bool> has_carrier(steps_.size());
    for (StepNo number = 0; number < count; ++number) {
      if (!at(number).step->contract) continue;
      const StepNo loop = loop_ended_by(number, at(number).step->contract->ref);
      if (loop == kNoStep) continue;
      set_exit(number, loop);
      has_carrier[static_cast<std::size_t>(loop)] = true;
    }
    for (StepNo loop = 0; loop < count; ++loop) {
      if (has_carrier[static_cast<std::size_t>(loop)] || !artifact_source(*at(loop).step)) continue;
      const StepNo last = last_delivered(at(loop).body);
      if (last != kNoStep) set_exit(last, loop);
    }
  }

  void mark_last() {
    if (steps_.empty()) return;
    StepNo last = last_sibling(0);
    while (at(last).body != kNoStep) last = last_sibling(at(last).body);
    at(last).is_last = true;
  }

 private:
  ProgramStep& at(StepNo number) { return steps_[static_cast<std::size_t>(number)]; }

  StepNo last_sibling(StepNo number) {
    while (at(number).next != kNoStep) number = at(number).next;
    return number;
  }

  StepNo loop_ended_by(StepNo number, std::string_view contract_ref) {
    for (StepNo loop = at(number).loop; loop != kNoStep; loop = at(loop).loop) {
      const Loop::FromArtifact* source = artifact_source(*at(loop).step);
      if (source && source->contract_ref == contract_ref) return loop;
    }
    return kNoStep;
  }

  StepNo last_delivered(StepNo number) {
    StepNo last = kNoStep;
    for (; number != kNoStep; number = at(number).next) {
      const bool is_work = std::holds_alternative<workflow::WorkStep>(at(number).step->what);
      if (is_work && at(number).exits == kNoStep) last = number;
    }
    return last;
  }

  void set_exit(StepNo number, StepNo loop) {
    at(number).exits = loop;
    at(number).is_exit = true;
  }

  std::vector<ProgramStep>& steps_;
};

}  // namespace

Program::Program(std::shared_ptr<const workflow::CompiledWorkflow> compiled) : compiled_(std::move(compiled)) {
  SB_ASSERT(compiled_ != nullptr);
  Layout layout(steps_);
  layout.add(compiled_->definition.steps, kNoStep);
  layout.mark_exits();
  layout.mark_last();
  for (StepNo number = 0; number < size(); ++number) by_id_.emplace(at(number).step->id, number);
  has_commands_ = std::ranges::any_of(steps_, [](const ProgramStep& each) { return !each.step->command.empty(); });
  has_hand_off_ = std::ranges::any_of(steps_, [&](const ProgramStep& each) { return hands_over(*each.step); });
}

bool Program::hands_over(const workflow::Step& step) const {
  if (!step.contract) return false;
  const workflow::Contract* contract = compiled_->contracts.find(step.contract->ref);
  return contract != nullptr && contract->kind == kCodingHandOff;
}

const workflow::Step& Program::step(std::string_view id) const {
  const StepNo number = find(id);
  SB_ASSERT(number != kNoStep);
  return *at(number).step;
}

StepNo Program::find(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? kNoStep : found->second;
}

}  // namespace sb::engine
