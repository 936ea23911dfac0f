#include "decision/lint/frames.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "decision/lint/block.hpp"
#include "decision/texts.hpp"

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

// A code at the start of the text, or alone on one of its lines.
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
  // One trailing line feed is not text.
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

namespace {

// The first line if a blank one follows it; nothing otherwise.
std::optional<std::string_view> line_of_its_own(std::string_view body) {
  const auto gap = body.find("\n\n");
  const bool is_alone = gap != std::string_view::npos && body.find('\n') == gap;
  return is_alone ? std::optional(body.substr(0, gap)) : std::nullopt;
}

// What a format line may say: `1 / 2`, `1 / 2 / 1,3`, followed by the commands if one was mistyped.
bool is_format(std::string_view hint) {
  if (constexpr std::string_view kCommands = " / abort / cancel"; hint.ends_with(kCommands)) {
    hint.remove_suffix(kCommands.size());
  }
  return hint == "1 / 2" || hint == "1 / 2 / 1,2" || hint == "1 / 2 / 1,3";
}

// Whether the line is this catalogue text with its slot filled with something that `fits`.
template <typename Fits>
bool is_filled(std::string_view line, std::string_view pattern, Fits fits) {
  const auto open = pattern.find('{');
  const auto close = pattern.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return line == pattern;
  const auto head = pattern.substr(0, open), tail = pattern.substr(close + 1);
  if (line.size() < head.size() + tail.size() || !line.starts_with(head) || !line.ends_with(tail)) return false;
  return fits(line.substr(head.size(), line.size() - head.size() - tail.size()));
}

// A line of the built-in catalogue. The text determines its attempt, except for the reply to a mistyped command or a
// rejected field, which is valid for any attempt.
bool is_built_in(std::string_view line, int attempt, std::string_view locale) {
  const auto is_own = [&](std::string_view key) { return is_filled(line, text(locale, key), is_format); };
  const auto is_any = [](std::string_view fields) { return fields.find_first_not_of(' ') != std::string_view::npos; };
  if (line == text(locale, "retry.near_command") || is_filled(line, text(locale, "rejected"), is_any)) return true;
  if (is_own("retry.1")) return attempt <= 1;
  if (is_own("retry.2")) return attempt == 0 || attempt == 2;
  return is_own("retry.3") && (attempt == 0 || attempt >= 3);
}

// The lines that a caller's own catalogue leaves to the built-in one of its language.
bool is_beside_errors(std::string_view line, std::string_view locale) {
  const auto is_any = [](std::string_view fields) { return fields.find_first_not_of(' ') != std::string_view::npos; };
  const auto is_command_hint = [](std::string_view hint) { return hint.ends_with("cancel") && is_format(hint); };
  return line == text(locale, "retry.near_command") || is_filled(line, text(locale, "rejected"), is_any) ||
         is_filled(line, text(locale, "retry.2"), is_command_hint) ||
         is_filled(line, text(locale, "retry.3"), is_command_hint);
}

// The language of the caller's lines follows from their letters.
bool is_of_locale(const std::map<int, std::string>& errors, std::string_view locale) {
  const bool is_cyrillic = std::any_of(errors.begin(), errors.end(), [](const auto& row) {
    return row.second.find('\xD0') != std::string::npos || row.second.find('\xD1') != std::string::npos;
  });
  return errors.empty() || is_cyrillic == (locale == "ru");
}

bool is_error_line(std::string_view line, const LintContext& context) {
  for (const auto& [attempt, error] : context.errors) {
    if ((context.attempt == 0 || context.attempt == attempt) && line == error) return true;
  }
  for (const std::string_view locale : locales()) {
    if (!is_of_locale(context.errors, locale)) continue;
    const bool is_ours =
        context.errors.empty() ? is_built_in(line, context.attempt, locale) : is_beside_errors(line, locale);
    if (is_ours) return true;
  }
  return false;
}

}  // namespace

Span check_retry(std::string_view text, Span within, const LintContext& context, Report& report) {
  const auto body = text.substr(within.begin, within.size());
  if (const auto line = line_of_its_own(body); line && is_error_line(*line, context)) {
    return {within.begin + line->size() + 2, within.end};
  }
  // Anything in place of the error line is reported once; the block after it is checked separately.
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
