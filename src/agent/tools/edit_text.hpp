// Replaces one text by another in a file's content. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb::agent {

struct EditResult {
  std::string text;
  std::vector<std::size_t> lines;  // line numbers in the old text, from 1
};

// If `old_text` is not found literally, the search is repeated with the file's line endings, then with curly quotes
// treated as straight ones; the rest of the file stays unchanged byte by byte. kInvalid: not found, found several times
// without `all`, or nothing would change.
Result<EditResult> edit_text(std::string_view text, std::string_view old_text, std::string_view new_text, bool all);

}  // namespace sb::agent
