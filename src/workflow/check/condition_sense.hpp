// Whether a condition says anything: what can be told without knowing the context.
//
// Pure, and careful: true only when it is certain.
#pragma once

#include "workflow/check/condition.hpp"

namespace sb::workflow {

bool never_holds(const Condition& condition);
bool always_holds(const Condition& condition);

}  // namespace sb::workflow
