// Turns arbitrary bytes into text that is safe in JSON and in a prompt. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sb::agent {

// Valid UTF-8: invalid bytes and NUL become U+FFFD.
std::string as_utf8(std::string_view bytes);

// At most `max_bytes` bytes: the beginning and the end, cut at line breaks where possible, with a line between them
// that says how much is missing. The text must be UTF-8.
std::string elide_middle(std::string_view text, std::size_t bytes);

}  // namespace sb::agent
