// The payload of a question tool, as questions with options: Claude Code's and Codex' `questions` lists, an
// elicitation's message with its choices; or, when it is no JSON, a text block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decision/lint/block.hpp"

namespace sb::decision::linting {

struct AskedQuestion {
  std::string_view instruction;
  std::vector<OptionLine> options;
  Span span;
};

// Views into `text`. A string the JSON wrote with escapes is looked at as it stands there.
std::vector<AskedQuestion> read_payload(std::string_view text);

}  // namespace sb::decision::linting
