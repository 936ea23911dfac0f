// Detects conditions that always or never hold, whatever the context.
//
// Pure and conservative: true only if it is certain.
#pragma once

#include "workflow/check/condition.hpp"

namespace sb::workflow {

bool never_holds(const Condition& condition);
bool always_holds(const Condition& condition);

}  // namespace sb::workflow
