#include "decision/text_block.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/text/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

constexpr std::string_view kSummary = "Summary:";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::unexpected<Error> wrong(std::size_t line, std::string message) {
  SourceLocation place;
  place.line = static_cast<int>(line) + 1;
  place.column = 1;
  return fail(ErrorCode::kInvalid, fmt::format("line {}: {}", line + 1, message), "", std::move(place));
}

// Options from line `at` to the end.
Result<std::vector<std::string>> parse_options(const std::vector<std::string_view>& lines, std::size_t at) {
  std::vector<std::string> options;
  for (; at < lines.size(); ++at) {
    const std::string mark = fmt::format("{}) ", options.size() + 1);
    if (!lines[at].starts_with(mark)) return wrong(at, fmt::format("expected \"{}\" and an option", mark));
    const std::string_view text = lines[at].substr(mark.size());
    if (text.empty() || is_blank(text) || text.front() == ' ' || text.back() == ' ')
      return wrong(at, "the option has no valid text");
    options.emplace_back(text);
  }
  if (options.size() < 2) return wrong(lines.size() - 1, "fewer than two options");
  return options;
}

}  // namespace

std::string render_block(std::string_view instruction, std::span<const std::string> options) {
  std::string out(instruction);
  out += '\n';
  for (std::size_t i = 0; i < options.size(); ++i) out += fmt::format("\n{}) {}", i + 1, options[i]);
  return out;
}

std::string render_block(const Prompt& prompt) {
  std::vector<std::string> labels;
  for (const auto& option : prompt.options) labels.push_back(option.label);
  return render_block(prompt.instruction, labels);
}

std::string summary_text(const SummaryFields& fields) {
  std::string out(kSummary);
  for (const auto& [field, value] : fields) out += fmt::format("\n- {}: {}", field, value);
  return out;
}

std::string render_confirmation(const SummaryFields& fields) {
  std::string out = summary_text(fields);
  out += '\n';
  int ordinal = 0;
  for (const auto option : kConfirmOptions) out += fmt::format("\n{}) {}", ++ordinal, option);
  return out;
}

std::string render_retry(std::string_view error_line, std::string_view block_or_confirmation) {
  return fmt::format("{}\n\n{}", error_line, block_or_confirmation);
}

std::string format_hint(const Select& select, int option_count, bool is_literal) {
  if (is_literal) return "1 / 2 / 1,3";
  if (select.mode != SelectMode::kMany || select.max < 2) return "1 / 2";
  if (select.min > 1) {
    // The two shortest valid answers.
    std::string first = "1";
    for (int ordinal = 2; ordinal < select.min; ++ordinal) first += fmt::format(",{}", ordinal);
    if (select.min == option_count) return fmt::format("{},{}", first, option_count);
    return fmt::format("{0},{1} / {0},{2}", first, select.min, select.min + 1);
  }
  return option_count < 3 ? "1 / 2 / 1,2" : "1 / 2 / 1,3";
}

std::string retry_line(std::string_view locale, int attempt, std::string_view format) {
  SB_ASSERT(attempt >= 1);
  if (attempt == 1) return std::string(text(locale, "retry.1"));
  return text_with(locale, attempt == 2 ? "retry.2" : "retry.3", "format", format);
}

Result<OptionBlock> parse_block(std::string_view text) {
  const auto lines = lines_of(text);
  const std::string_view instruction = lines[0];
  if (instruction.empty() || is_blank(instruction)) return wrong(0, "no instruction");
  if (instruction.front() == ' ' || instruction.back() == ' ')
    return wrong(0, "the instruction starts or ends with a space");
  if (lines.size() < 2 || !lines[1].empty()) return wrong(1, "expected a blank line after the instruction");
  return OptionBlock{std::string(instruction), SB_TRY(parse_options(lines, 2))};
}

Result<ConfirmationBlock> parse_confirmation(std::string_view text) {
  const auto lines = lines_of(text);
  if (lines[0] != kSummary) return wrong(0, "expected \"Summary:\"");
  ConfirmationBlock confirmation;
  std::size_t at = 1;
  for (; at < lines.size() && lines[at].starts_with("- "); ++at) {
    const std::size_t colon = lines[at].find(": ");
    if (colon == std::string_view::npos || colon == 2) return wrong(at, "expected \"- field: value\"");
    confirmation.fields.emplace_back(lines[at].substr(2, colon - 2), lines[at].substr(colon + 2));
  }
  if (confirmation.fields.empty()) return wrong(at, "no fields");
  if (at >= lines.size() || !lines[at].empty()) return wrong(at, "expected a blank line after the fields");
  const auto options = SB_TRY(parse_options(lines, at + 1));
  if (options.size() != std::size(kConfirmOptions))
    return wrong(at + 1, "expected Confirm, Restart and Edit specific step");
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] != kConfirmOptions[i]) return wrong(at + 1 + i, fmt::format("expected \"{}\"", kConfirmOptions[i]));
  }
  return confirmation;
}

Result<Response> parse_response(std::string_view text) {
  if (!is_utf8(text)) return wrong(0, "not UTF-8");
  if (text == kFlowCancel || text == kStepAbort) return EventLine{std::string(text)};
  if (auto confirmation = parse_confirmation(text)) return std::move(*confirmation);
  auto block = parse_block(text);
  if (block) return std::move(*block);
  const std::size_t gap = text.find("\n\n");
  if (gap != std::string_view::npos && text.substr(0, gap).find('\n') == std::string_view::npos && gap > 0) {
    const std::string_view rest = text.substr(gap + 2);
    const std::string error_line(text.substr(0, gap));
    if (auto repeated = parse_confirmation(rest)) return RetryBlock{error_line, std::move(*repeated)};
    if (auto repeated = parse_block(rest)) return RetryBlock{error_line, std::move(*repeated)};
  }
  return std::unexpected(std::move(block).error());
}

}  // namespace sb::decision
