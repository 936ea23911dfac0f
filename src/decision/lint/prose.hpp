// The lexical rules: offers, inline choices, questions, narration, status, summaries, reasoning, talk of dropping.
//
// One pass over the masked text splits sentences and looks up every word in the trigger index; patterns run only on
// sentences with a trigger.
#pragma once

#include <string_view>
#include <vector>

#include "decision/lint/lexicon.hpp"
#include "decision/lint/mask.hpp"
#include "decision/lint/rules.hpp"

namespace sb::decision::linting {

struct ProseRules {
  bool offers = true;
  bool choices = true;
  bool questions = false;  // INT021
  bool silence = false;    // INT030-033
  bool drops = true;
  ScopeFilter scope = ScopeFilter::kIn;
  Span instruction = {};  // leave may be asked for here, because options follow
};

// Checks masked.prose only between blanked bytes; `text` is the original.
void check_prose(std::string_view text, const Masked& masked, unsigned groups, const ProseRules& rules, Report& report);

}  // namespace sb::decision::linting
