// The confirmation: a header, one line per field, a blank line, three fixed options.
#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/lint/block.hpp"
#include "decision/lint/frames.hpp"

namespace sb::decision::linting {
namespace {

constexpr int kConfirmationUnits = 80;  // word-units of a field or a value (AMB-10)

struct Literals {
  std::string header = "Summary:";
  std::vector<std::string> options = {"Confirm", "Restart", "Edit specific step"};
};

// The English literals, and those of a locale only if the caller declares it.
std::vector<Literals> literals_of(const LintContext& context) {
  std::vector<Literals> out{{}};
  if (!context.declared.empty()) {
    Literals own;
    own.options.clear();
    for (const DeclaredOption& option : context.declared) own.options.push_back(option.label);
    out.push_back(std::move(own));
  }
  return out;
}

bool is_field_line(std::string_view line) {
  const std::size_t colon = line.find(": ");
  return line.starts_with("- ") && colon != std::string_view::npos && colon > 2;
}

// The first line that differs from the form; lines.size() when none does.
std::size_t first_fault(const std::vector<Line>& lines, const Literals& literals, const LintContext& context) {
  if (lines.empty() || lines[0].text != literals.header) return 0;
  std::size_t at = 1, field = 0;
  for (; at < lines.size() && is_field_line(lines[at].text); ++at, ++field) {
    const auto line = lines[at].text;
    const std::size_t colon = line.find(": ");
    const auto name = line.substr(2, colon - 2);
    const bool is_expected = context.fields.empty() || (field < context.fields.size() && context.fields[field] == name);
    const bool fits =
        word_units(name) <= kConfirmationUnits && word_units(line.substr(colon + 2)) <= kConfirmationUnits;
    if (!is_expected || !fits || line.substr(colon + 2).empty()) return at;
  }
  if (field == 0 || (!context.fields.empty() && field != context.fields.size())) return at;
  if (at >= lines.size() || !lines[at].text.empty()) return at;
  ++at;
  for (std::size_t i = 0; i < literals.options.size(); ++i, ++at) {
    if (at >= lines.size() || lines[at].text != std::to_string(i + 1) + ") " + literals.options[i]) return at;
  }
  return lines.size();
}

}  // namespace

bool is_confirmation(std::string_view text, Span within, const LintContext& context,
                     const std::vector<const Lexicon*>& lexicons) {
  if (context.phase == LintPhase::kConfirm || !context.fields.empty()) return true;
  const auto body = text.substr(within.begin, within.size());
  const std::size_t end = body.find('\n');
  if (end == std::string_view::npos || end > 80 || !body.substr(end + 1).starts_with("- ")) return false;
  const std::string folded = fold_same_length(body.substr(0, end));
  return std::any_of(lexicons.begin(), lexicons.end(),
                     [&](const Lexicon* lexicon) { return lexicon->summaries.matches(folded); });
}

Span check_confirmation(std::string_view text, Span within, const LintContext& context, Report& report) {
  auto lines = split_lines(text, within);
  while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  // Text before the header or after the last option is checked separately.
  const auto header = std::find_if(lines.begin(), lines.end(), [](const Line& l) { return l.text == "Summary:"; });
  if (header != lines.end() && header != lines.begin()) {
    report.add(rule::kTextBefore, {lines.front().span.begin, std::prev(header)->span.end});
    lines.erase(lines.begin(), header);
  }
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](const Line& l) { return l.text.starts_with("3) "); });
  if (last != lines.rend() && last != lines.rbegin()) {
    report.add(rule::kTextAfter, {last.base()->span.begin, lines.back().span.end});
    lines.erase(last.base(), lines.end());
  }
  std::size_t best = 0;
  for (const Literals& literals : literals_of(context)) best = std::max(best, first_fault(lines, literals, context));
  if (lines.empty() || best < lines.size()) report.add(rule::kConfirmation, lines.empty() ? within : lines[best].span);
  return lines.empty() ? within : Span{lines.front().span.begin, lines.back().span.end};
}

}  // namespace sb::decision::linting
