// The text grammar of the interaction contract: the text for a person, byte for byte.
//
//   block        = instruction LF LF option *( LF option )       option = ordinal ") " text, ordinals 1..n
//   confirmation = "Summary:" 1*( LF "- " field ": " value ) LF LF
//                  "1) Confirm" LF "2) Restart" LF "3) Edit specific step"
//   retry        = error-line LF LF ( block / confirmation )
//   event        = "FLOW_CANCEL" / "STEP_ABORT"
//
// No production ends with a line break; the printing code adds it. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

inline constexpr std::string_view kFlowCancel = "FLOW_CANCEL";
inline constexpr std::string_view kStepAbort = "STEP_ABORT";
inline constexpr std::string_view kConfirmOptions[] = {"Confirm", "Restart", "Edit specific step"};

using SummaryFields = std::vector<std::pair<std::string, std::string>>;

std::string render_block(std::string_view instruction, std::span<const std::string> options);
std::string render_block(const Prompt& prompt);
std::string render_confirmation(const SummaryFields& fields);
// Its lines before the options.
std::string summary_text(const SummaryFields& fields);
std::string render_retry(std::string_view error_line, std::string_view block_or_confirmation);

// The format hint: `1 / 2`, and for several choices `1 / 2 / 1,3`.
std::string format_hint(const Select& select, int option_count, bool is_literal);
// The catalogue line of the k-th invalid input in a row, k from 1; after 3 the third.
std::string retry_line(std::string_view locale, int attempt, std::string_view format);

// Strict parsers; anything the renderer would not print is rejected, with the wrong line.
struct OptionBlock {
  std::string instruction;
  std::vector<std::string> options;
  bool operator==(const OptionBlock&) const = default;
};
struct ConfirmationBlock {
  SummaryFields fields;
  bool operator==(const ConfirmationBlock&) const = default;
};
struct RetryBlock {
  std::string error_line;
  std::variant<OptionBlock, ConfirmationBlock> repeated;
  bool operator==(const RetryBlock&) const = default;
};
struct EventLine {
  std::string code;
  bool operator==(const EventLine&) const = default;
};
using Response = std::variant<OptionBlock, ConfirmationBlock, RetryBlock, EventLine>;

Result<OptionBlock> parse_block(std::string_view text);
Result<ConfirmationBlock> parse_confirmation(std::string_view text);
Result<Response> parse_response(std::string_view text);

}  // namespace sb::decision
