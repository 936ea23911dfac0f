// Regular expressions: PCRE2 with limits on work and depth, UTF-8 and Unicode classes enabled.
//
// A Pattern is immutable and may be used from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sb {

struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::optional<std::string_view>> groups;  // [0] is the whole match
};

class Pattern {
 public:
  // kFast compiles to machine code: worth it from about ten matches on.
  // kJavaScript uses JavaScript semantics, for formats that come from there: `$` is the very end, `\d` and `\w` are
  // ASCII, `\u0041` is a character.
  enum Flag : unsigned { kNone = 0, kIgnoreCase = 1, kMultiLine = 2, kFast = 4, kJavaScript = 8 };

  static Result<Pattern> compile(std::string_view expression, unsigned flags = kNone);

  // The first match at or after `from`. kLimit if matching exceeded its limits; the text must be UTF-8.
  Result<std::optional<Match>> find(std::string_view text, std::size_t from = 0) const;
  Result<bool> matches(std::string_view text) const;  // anywhere in the text
  // Position of the first match, for inner loops: no groups, and exceeding a limit counts as no match. The text is not
  // checked: the caller ensures that it is UTF-8.
  std::optional<std::pair<std::size_t, std::size_t>> find_range(std::string_view text) const;

 private:
  struct Code;
  explicit Pattern(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

}  // namespace sb
