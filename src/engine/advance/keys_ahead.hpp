// The context keys that whatever comes after a step will need: what the delivery of that step is checked for besides
// its own captures. Pure.
#pragma once

#include <vector>

#include "engine/advance/blockers.hpp"
#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "workflow/check/foresight.hpp"

namespace sb::engine {

struct KeyAhead {
  KeyNeed need;
  StepNo needed_by = kNoStep;
  // Whether it is checked in any case. Otherwise only if `needed_by` comes next, which depends on keys that this step
  // may set, or on a loop's decision.
  bool is_certain = true;
};

// `view`: what the step sees (context_at). Keys that are set already, and steps that the conditions ahead rule out, are
// left out: a condition is certain if the keys it reads are set and this step does not declare that it sets them.
std::vector<KeyAhead> keys_ahead(const Program& program, const Position& position, const Value& view);

// Whether a condition that is read when this step is delivered holds then.
workflow::Foresight foresee_at_delivery(const workflow::Step& step, const workflow::Condition& condition,
                                        const Value& view);

}  // namespace sb::engine
