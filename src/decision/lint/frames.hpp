// The productions that are not a plain block: events, retries, confirmations.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decision/lint/lexicon.hpp"
#include "decision/lint/mask.hpp"
#include "decision/lint/rules.hpp"

namespace sb::decision::linting {

// True when the text is, or should be, an event code; it has then been checked (INT040, INT041).
bool check_event(std::string_view text, const LintContext& context, Report& report);

// Checks the error line of a retry (INT061) and returns what must follow it: the block.
Span check_retry(std::string_view text, Span within, const LintContext& context, Report& report);
bool is_retry(const LintContext& context);

bool is_confirmation(std::string_view text, Span within, const LintContext& context,
                     const std::vector<const Lexicon*>& lexicons);
// INT060, and INT001 or INT003 for the text around it. Returns the span of the confirmation itself.
Span check_confirmation(std::string_view text, Span within, const LintContext& context, Report& report);

}  // namespace sb::decision::linting
