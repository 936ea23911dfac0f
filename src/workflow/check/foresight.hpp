// What a condition will be later, as far as that is already certain. Pure.
#pragma once

#include <functional>
#include <string>

#include "workflow/check/condition.hpp"

namespace sb::workflow {

enum class Foresight { kFalse, kTrue, kOpen };

// `may_change`: whether a key that is set may still get another value. A key that is not set may always be set.
Foresight foresee(const Condition& condition, const Value& context,
                  const std::function<bool(const std::string& key)>& may_change);

Foresight both_of(Foresight a, Foresight b);
Foresight opposite(Foresight one);

}  // namespace sb::workflow
