// Text of others made safe to show on a terminal: what moves the cursor, hides text or reverses it is replaced, so that
// what a person reads before signing is what is there.
#pragma once

#include <string>
#include <string_view>

namespace sb {

// Control characters other than line feed, invisible and direction-changing characters, and bytes that are not UTF-8
// become U+FFFD; a tab becomes a space.
std::string printable(std::string_view text);

// An author's text, each line behind a bar: none of them can pass for a line of ours.
std::string quoted(std::string_view text);
// The same for a text that begins on a line of ours: the first line stands as it is.
std::string continued(std::string_view text);

}  // namespace sb
