// The payload of a question tool, as questions with options: Claude Code's and Codex's `questions` lists, an
// elicitation's message with its choices; or, if it is not JSON, a text block.
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

// Views into `text`. A string with JSON escapes is used as written.
std::vector<AskedQuestion> read_payload(std::string_view text);

}  // namespace sb::decision::linting
