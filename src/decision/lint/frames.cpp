#include "decision/lint/frames.hpp"

#include <algorithm>

#include "decision/lint/block.hpp"

namespace sb::decision::linting {
namespace {

constexpr std::string_view kCancel = "FLOW_CANCEL";
constexpr std::string_view kAbort = "STEP_ABORT";

bool is_word_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_code_shaped(std::string_view word) {
  const bool shape = word.find('_') != std::string_view::npos && word.front() != '_' && word.back() != '_';
  return shape && word.size() <= 40 &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// A code that opens the text, or stands alone in one of its lines.
std::optional<std::size_t> find_code(std::string_view text) {
  for (std::string_view code : {kCancel, kAbort}) {
    const auto rest = trimmed(text);
    if (rest.starts_with(code) && (rest.size() == code.size() || !is_word_character(rest[code.size()]))) {
      return static_cast<std::size_t>(rest.data() - text.data());
    }
    for (std::size_t at = text.find(code); at != std::string_view::npos; at = text.find(code, at + 1)) {
      const auto line_begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
      const auto line_end = std::min(text.find('\n', at), text.size());
      const auto line = trimmed(text.substr(line_begin, line_end - line_begin));
      if (line == code || (line.size() == code.size() + 1 && line.starts_with(code))) return at;
    }
  }
  return std::nullopt;
}

}  // namespace

bool check_event(std::string_view text, const LintContext& context, Report& report) {
  // One line feed at the end is not text.
  const auto body = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  if (body == kCancel || body == kAbort) return true;
  if (find_code(text)) {
    report.add(rule::kEventExtra, {0, text.size()});
    return true;
  }
  if (context.phase == LintPhase::kEvent || (!trimmed(text).empty() && is_code_shaped(trimmed(text)))) {
    report.add(rule::kEventUnknown, {0, text.size()});
    return true;
  }
  return false;
}

bool is_retry(const LintContext& context) {
  return context.attempt > 0 || context.phase == LintPhase::kRetry;
}

Span check_retry(std::string_view text, Span within, const LintContext& context, Report& report) {
  const auto body = text.substr(within.begin, within.size());
  const auto fits = [&](const std::string& line) { return body.starts_with(line + "\n\n"); };
  for (const auto& [attempt, line] : context.errors) {
    const bool counts = context.attempt == 0 || context.attempt == attempt;
    if (counts && fits(line)) return {within.begin + line.size() + 2, within.end};
  }
  // Whatever stands in the error line's place is told once; the block behind it is judged for itself.
  const std::size_t gap = body.find("\n\n");
  const std::size_t line_end = std::min(body.find('\n'), body.size());
  report.add(rule::kRetryFrame, {within.begin, within.begin + line_end});
  if (gap == std::string_view::npos) return within;
  const auto parsed = parse_blocks(text, within, {});
  const bool has_line_of_its_own = !parsed.blocks.empty() && parsed.blocks.front().before.size() > 1;
  const bool is_summary = body.substr(gap + 2).starts_with("Summary:");
  return has_line_of_its_own || is_summary ? Span{within.begin + gap + 2, within.end} : within;
}

}  // namespace sb::decision::linting
