// What stands where in a TOML file, so that some lines of it can be changed and all others stay as they are.
//
// Pure. Knows the whole grammar of TOML 1.0 but for the shapes of numbers and dates, which it only skips.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::hook {

struct TomlItem {
  enum class Kind { kTable, kTableList, kPair };  // [a.b], [[a.b]], a.b = 1
  Kind kind = Kind::kPair;
  std::vector<std::string> table;  // the table it stands in, or is
  std::vector<std::string> key;    // of a pair, as far as it is written there
  // Strings, booleans, lists and inline tables as such; numbers and dates are null, since nobody here asks for them.
  Value value;
  std::size_t begin = 0;  // its lines, with the end of the last
  std::size_t end = 0;
  std::size_t value_begin = 0;
  std::size_t value_end = 0;
  int line = 0;
};

// In the order of the file. kInvalid with line and column for what is no TOML: also a table or key that is there twice,
// and bytes that are not UTF-8.
Result<std::vector<TomlItem>> scan_toml(const std::string& name, std::string_view text);

// As a basic string with its quotes.
std::string quote_toml(std::string_view text);

}  // namespace sb::hook
