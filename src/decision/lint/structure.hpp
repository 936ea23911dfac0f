// The structural rules INT001-017 over a parsed block, and the comparison with the declaration (INT050-052).
#pragma once

#include <string_view>
#include <vector>

#include "decision/lint/block.hpp"
#include "decision/lint/lexicon.hpp"
#include "decision/lint/rules.hpp"

namespace sb::decision::linting {

struct Limits {
  int options = 7;
  int instruction_words = 15;
  int option_words = 5;
};

struct Structure {
  std::string_view text;
  Span within;  // the part that should be a block
  const Masked& masked;
  const std::vector<const Lexicon*>& lexicons;
  Limits limits;
  const LintContext& context;
  Report& report;
};

// Returns the span of the question itself (instruction and options), which lexical rules skip.
std::vector<Span> check_structure(const Structure& s, const ParsedText& parsed);

// The rules for the offered options, whatever their layout: INT007, 012, 013 and 014.
void check_options(const Structure& s, const std::vector<OptionLine>& options);

// INT050-052. `options` as shown, without marks of recommendation.
void check_declared(const LintContext& context, const std::vector<OptionLine>& options, Report& report);

// The option without an explanation after a dash, a colon or in parentheses.
std::string_view option_head(std::string_view option);
// Whether it is one of the pager's own options, in any supported locale.
bool is_pager_option(std::string_view option);

}  // namespace sb::decision::linting
