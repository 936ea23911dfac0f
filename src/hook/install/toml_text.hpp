// Locates the items of a TOML file, so that some lines can be changed and all others stay as they are.
//
// Pure. Implements the grammar of TOML 1.0 except for the forms of numbers and dates, which it only skips.
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
  std::vector<std::string> table;  // the table that contains it, or that it is
  std::vector<std::string> key;    // of a pair, as far as it is written out
  // Strings, booleans, positive decimal integers, lists and inline tables are parsed; other numbers and dates are null,
  // since no caller needs them.
  Value value;
  std::size_t begin = 0;  // its lines, including the last line end
  std::size_t end = 0;
  std::size_t value_begin = 0;
  std::size_t value_end = 0;
  int line = 0;
};

// In file order. kInvalid with line and column for invalid TOML, including a duplicate table or key and bytes that are
// not UTF-8.
Result<std::vector<TomlItem>> scan_toml(const std::string& name, std::string_view text);

// As a basic string with its quotes.
std::string quote_toml(std::string_view text);

}  // namespace sb::hook
