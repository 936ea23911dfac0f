// Bytes from anywhere as text that can be put into JSON and into a prompt. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sb::agent {

// UTF-8: what is none, and NUL, becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

// At most so many bytes: both ends, at line breaks where there are some, and a line between them that says how much is
// missing. The text must be UTF-8.
std::string elide_middle(std::string_view text, std::size_t bytes);

}  // namespace sb::agent
