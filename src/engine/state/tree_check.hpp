// Checks that a value from outside can be stored: not too deep, and all texts UTF-8.
#pragma once

#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::engine {

// kLimit if deeper than kDocumentDepth, kInvalid for texts that are not UTF-8. `what` starts the message.
Status check_tree(const Value& value, std::string_view what);

}  // namespace sb::engine
