// The rules of a gstack brief (GS001-008, 010, 015) and of a chain's log (GS012-014, 016-019).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/lint/block.hpp"
#include "decision/lint/rules.hpp"

namespace sb::decision::linting {

// D7, D7.3, D7.0, D7.final, D7.revise-2
struct GstackLabel {
  enum class Part { kParent, kMeta, kChild, kFinal, kRevise };
  long number = 0;
  Part part = Part::kParent;
  long child = 0;
};

std::optional<GstackLabel> parse_gstack_label(std::string_view label);

struct Brief {
  std::string label_text;  // of the header; empty when there is none
  std::optional<GstackLabel> label;
  std::vector<OptionLine> options;  // A) B) …, without the mark of recommendation
  Span span;                        // from the first line of the text to the last line of the brief
  Span body;                        // only the brief, without the text before it
};

// Nothing when the text is not a brief: neither a header nor two lettered options.
std::optional<Brief> parse_brief(std::string_view text);
void check_brief(std::string_view text, const Brief& brief, const LintContext& context, Report& report);

// `asked_now` is the label of the prompt being linted, if any; it counts as the last entry of the log.
void check_chain(const GstackFacts& facts, const std::string& asked_now, Span where, Report& report);

}  // namespace sb::decision::linting
