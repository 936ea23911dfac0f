// Makes untrusted text safe to show on a terminal: replaces what moves the cursor, hides text or reverses it, so that
// people see what they sign.
#pragma once

#include <string>
#include <string_view>

namespace sb {

// Control characters other than line feed, invisible and direction-changing characters, and bytes that are not UTF-8
// become U+FFFD; a tab becomes a space.
std::string printable(std::string_view text);

// Untrusted text with a bar before each line, so that no line can pass as Signalbox's.
std::string quoted(std::string_view text);
// The same for a text that starts on one of our lines: the first line gets no bar.
std::string continued(std::string_view text);

}  // namespace sb
