// Replaces one text by another in a file's content, as an agent means it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb::agent {

struct EditResult {
  std::string text;
  std::vector<std::size_t> lines;  // where, in the old text, from 1
};

// Where `old_text` is not found letter by letter, it is looked for with line breaks as the file has them, then with
// curly quotes taken for straight ones; everything else of the file stays byte by byte. kInvalid: not found, found
// several times without `all`, or nothing would change.
Result<EditResult> edit_text(std::string_view text, std::string_view old_text, std::string_view new_text, bool all);

}  // namespace sb::agent
