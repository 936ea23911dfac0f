// The rules for single options, and the comparison of all of them with the declared set.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/text/unicode.hpp"
#include "decision/lint/structure.hpp"
#include "decision/texts.hpp"

namespace sb::decision::linting {
namespace {

// For a longer list only its length matters.
constexpr std::size_t kMostJudged = 200;

bool has_letter(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (is_letter(next_code_point(text, at))) return true;
  }
  return false;
}

// Strips white space and punctuation at both ends.
std::string_view bare(std::string_view text) {
  const auto is_edge = [](char32_t c) { return !is_letter(c) && !is_digit(c) && !is_mark(c); };
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = begin;
    if (!is_edge(next_code_point(text, next))) break;
    begin = next;
  }
  std::size_t end = begin;
  for (std::size_t at = begin; at < text.size();) {
    if (!is_edge(next_code_point(text, at))) end = at;
  }
  return text.substr(begin, end - begin);
}

// Where an explanation starts, after the option's name; npos when there is none.
std::size_t explanation_at(std::string_view option) {
  std::size_t found = std::string_view::npos;
  for (std::string_view mark : {" \u2014 ", " \u2013 ", " - ", ": ", "\uFF1A", " -- ", "\u2014\u2014"}) {
    const std::size_t at = option.find(mark);
    // Ranges ("1 - 5") and values ("UTC: +3") are not explanations: no letter follows.
    if (at == std::string_view::npos || at == 0 || !has_letter(option.substr(at + mark.size()))) continue;
    found = std::min(found, at);
  }
  for (std::string_view open : {" (", "\uFF08", " ["}) {
    const std::size_t at = option.find(open);
    if (at == std::string_view::npos || at == 0 || !has_letter(option.substr(at + open.size()))) continue;
    const auto last = option.substr(0, option.find_last_not_of(" .!\u2026") + 1);
    if (last.ends_with(")") || last.ends_with("\uFF09") || last.ends_with("]")) found = std::min(found, at);
  }
  return found;
}

bool is_other(std::string_view option, const std::vector<const Lexicon*>& lexicons) {
  const std::string whole = fold_same_length(bare(option));
  const std::string head = fold_same_length(bare(option_head(option)));
  return std::any_of(lexicons.begin(), lexicons.end(), [&](const Lexicon* lexicon) {
    return lexicon->others.matches(whole) || lexicon->others.matches(head);
  });
}

bool is_marked_recommended(std::string_view option, const std::vector<const Lexicon*>& lexicons) {
  const std::string folded = fold_same_length(option);
  return std::any_of(lexicons.begin(), lexicons.end(),
                     [&](const Lexicon* lexicon) { return lexicon->recommended.matches(folded); });
}

bool is_declared(const LintContext& context, std::string_view label) {
  return std::any_of(context.declared.begin(), context.declared.end(),
                     [&](const DeclaredOption& option) { return option.label == label; });
}

}  // namespace

std::string_view option_head(std::string_view option) {
  const std::size_t at = explanation_at(option);
  return at == std::string_view::npos ? option : option.substr(0, at);
}

bool is_pager_option(std::string_view option) {
  for (const std::string_view locale : locales()) {
    if (option == text(locale, "more_options") || option == text(locale, "none_of_these")) return true;
  }
  return false;
}

void check_options(const Structure& s, const std::vector<OptionLine>& options) {
  std::set<std::string> seen;
  const auto judged = std::span(options).first(std::min(options.size(), kMostJudged));
  for (const OptionLine& option : judged) {
    const bool is_own = is_declared(s.context, option.text) || is_pager_option(option.text);
    if (!seen.insert(case_fold(nfkc(bare(option.text)))).second) s.report.add(rule::kDupOption, option.span);
    if (word_units(is_own ? option.text : option_head(option.text)) > s.limits.option_words) {
      s.report.add(rule::kOptionLong, option.span);
    }
    if (!is_pager_option(option.text) && is_other(option.text, s.lexicons)) {
      s.report.add(rule::kOther, option.span);
    } else if (!is_own && (option_head(option.text).size() < option.text.size() ||
                           is_marked_recommended(option.text, s.lexicons))) {
      // A declared label is a name, whatever marks it contains.
      s.report.add(rule::kExplanation, option.span);
    }
    if (!option.below.empty()) {
      s.report.add(rule::kExplanation, {option.below.front().begin, option.below.back().end});
    }
  }
}

void check_declared(const LintContext& context, const std::vector<OptionLine>& options, Report& report) {
  if (context.declared.empty() || options.empty()) return;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < context.declared.size(); ++i) place.emplace(context.declared[i].label, i);
  std::vector<std::size_t> shown;
  bool has_pager = false;
  const Span all{options.front().span.begin, options.back().span.end};
  for (const OptionLine& option : options) {
    auto found = place.find(option.text);
    if (found == place.end()) found = place.find(option_head(option.text));
    if (found != place.end()) {
      shown.push_back(found->second);
    } else if (is_pager_option(option.text)) {
      has_pager = true;
    } else {
      report.add(rule::kOptionInvented, option.span);
    }
  }
  const std::set<std::size_t> distinct(shown.begin(), shown.end());
  // A page shows a part and says that more follows; the part must then be contiguous.
  const bool is_piece = !distinct.empty() && *distinct.rbegin() - *distinct.begin() + 1 == distinct.size();
  if (has_pager ? !is_piece : distinct.size() < place.size()) report.add(rule::kOptionDropped, all);
  if (!std::is_sorted(shown.begin(), shown.end())) report.add(rule::kOptionDrift, all);
}

}  // namespace sb::decision::linting
