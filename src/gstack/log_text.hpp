// Texts on their way into a log line. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sb::gstack {

// Without a `(recommended)` at the end, in any case, and without the blanks around what is left.
std::string without_recommended_mark(std::string_view text);
// The text as a JSON string in which instruction-like phrases have their blanks and colons as \uXXXX.
std::string quote_screened(std::string_view text);

}  // namespace sb::gstack
