// Prepares texts for a log line. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sb::gstack {

// Without a trailing `(recommended)`, in any case, and without surrounding blanks.
std::string without_recommended_mark(std::string_view text);
// The text as a JSON string; the blanks and colons of instruction-like phrases are written as \uXXXX.
std::string quote_screened(std::string_view text);

}  // namespace sb::gstack
