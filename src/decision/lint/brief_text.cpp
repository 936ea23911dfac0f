#include "decision/lint/brief_text.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision::linting {
namespace {

constexpr std::string_view kMark = "(recommended)";
constexpr std::string_view kKindNote = "options differ in kind, not coverage";
constexpr std::string_view kQidOpen = "<gstack-qid:";
constexpr int kPointCharacters = 40;
constexpr std::size_t kQidMax = 64;

// `D3.2 — Title`, optionally after markup; returns the label.
std::string header_label(std::string_view line) {
  while (!line.empty() && (line[0] == '#' || line[0] == '*' || line[0] == ' ')) line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && line[end] != ' ' && line[end] != '\t' && !line.substr(end).starts_with("\u2014")) ++end;
  const auto label = line.substr(0, end);
  if (!parse_gstack_label(label)) return {};
  const auto rest = trimmed(line.substr(end));
  const bool has_dash = rest.starts_with("\u2014") || rest.starts_with("-") || rest.starts_with("\u2013");
  return has_dash ? std::string(label) : std::string();
}

std::optional<OptionLine> letter_option(const Line& line) {
  const auto text = line.text;
  if (text.size() < 4 || text.substr(1, 2) != ") ") return std::nullopt;
  if (text[0] < 'A' || text[0] > 'Z') return std::nullopt;
  OptionLine option;
  option.span = line.span;
  option.marker = text.substr(0, 2);
  option.text = trimmed(text.substr(3));
  return option;
}

std::string_view without_mark(std::string_view option) {
  const std::size_t at = option.find(kMark);
  return at == std::string_view::npos ? option : trimmed(option.substr(0, at));
}

// The line that starts with this anchor, such as `ELI10:`, and the text after the anchor.
std::optional<Line> section(const std::vector<Line>& lines, std::string_view anchor) {
  for (const Line& line : lines) {
    auto text = trimmed(line.text);
    while (text.starts_with("*")) text.remove_prefix(1);
    if (text.starts_with(anchor)) return line;
  }
  return std::nullopt;
}

std::string_view behind(const Line& line, std::string_view anchor) {
  const std::size_t at = line.text.find(anchor);
  auto rest = trimmed(line.text.substr(at + anchor.size()));
  while (rest.starts_with("*")) rest.remove_prefix(1);
  return trimmed(rest);
}

GstackShape shape_of(const Brief& brief, const LintContext& context) {
  if (context.gs && context.gs->shape != GstackShape::kDeduced) return context.gs->shape;
  if (!brief.label) return GstackShape::kBrief;
  switch (brief.label->part) {
    case GstackLabel::Part::kMeta:
      return GstackShape::kMeta;
    case GstackLabel::Part::kChild:
    case GstackLabel::Part::kRevise:
      return GstackShape::kSplit;
    case GstackLabel::Part::kFinal:
      return GstackShape::kFinal;
    case GstackLabel::Part::kParent:
      break;
  }
  return GstackShape::kBrief;
}

struct Check {
  std::string_view text;
  const std::vector<Line>& lines;
  const Brief& brief;
  const LintContext& context;
  GstackShape shape;
  Span head;
  Report& report;
};

bool label_fits(const Check& c) {
  if (!c.brief.label) return false;
  const auto part = c.brief.label->part;
  switch (c.shape) {
    case GstackShape::kSplit:
      return part == GstackLabel::Part::kChild || part == GstackLabel::Part::kRevise;
    case GstackShape::kMeta:
      return part == GstackLabel::Part::kMeta;
    case GstackShape::kFinal:
    case GstackShape::kConflict:
      return part == GstackLabel::Part::kFinal;
    default:
      return true;
  }
}

void check_recommendation(const Check& c) {
  const auto line = section(c.lines, "Recommendation:");
  if (!line) return c.report.add(rule::kGsRecommendation, c.head);
  const auto recommendation = behind(*line, "Recommendation:");
  const std::size_t because = recommendation.find("because ");
  const bool has_reason = because != std::string_view::npos && because > 0 && recommendation.size() > because + 8;
  const auto choice = trimmed(recommendation.substr(0, std::min(because, recommendation.size())));
  const bool is_bucket = choice.starts_with("Include") || choice.starts_with("Defer") || choice.starts_with("Cut") ||
                         choice == "A" || choice == "B" || choice == "C" || choice.starts_with("Not now");
  if (!has_reason || (c.shape == GstackShape::kSplit && !is_bucket)) c.report.add(rule::kGsRecommendation, line->span);
}

void check_marks(const Check& c) {
  std::size_t marks = 0;
  for (const Line& line : c.lines) {
    for (std::size_t at = line.text.find(kMark); at != std::string_view::npos; at = line.text.find(kMark, at + 1))
      ++marks;
  }
  // Where any number may be chosen, any number may be recommended.
  const bool takes_many = std::ranges::any_of(locales(), [&](std::string_view locale) {
    return c.text.find(text(locale, "brief.many")) != std::string_view::npos;
  });
  if (marks != 1 && !takes_many) c.report.add(rule::kGsRecLabel, c.head);
}

void check_completeness(const Check& c) {
  const auto score = section(c.lines, "Completeness:");
  const bool has_note = c.text.find(kKindNote) != std::string_view::npos;
  const bool is_child = c.shape == GstackShape::kSplit;
  if (is_child ? (score || !has_note) : (score.has_value() == has_note)) {
    c.report.add(rule::kGsCompleteness, score ? score->span : c.head);
  }
}

// Two ✅ and one ❌ per option, 40 characters each; a line that declares a hard stop needs no balance.
void check_pros_cons(const Check& c) {
  const auto anchor = section(c.lines, "Pros / cons:");
  if (!anchor) return c.report.add(rule::kGsProsCons, c.head);
  for (std::size_t i = 0; i < c.brief.options.size(); ++i) {
    const std::size_t begin = c.brief.options[i].span.end;
    const std::size_t end = i + 1 < c.brief.options.size() ? c.brief.options[i + 1].span.begin : c.text.size();
    int pros = 0, cons = 0;
    bool is_short = false, is_hard_stop = false;
    for (const Line& line : c.lines) {
      if (line.span.begin < begin || line.span.begin >= end) continue;
      const auto text = trimmed(line.text);
      const bool is_pro = text.starts_with("\u2705"), is_con = text.starts_with("\u274C");
      pros += is_pro;
      cons += is_con;
      is_hard_stop = is_hard_stop || text.find("hard-stop") != std::string_view::npos ||
                     text.find("Hard stop") != std::string_view::npos ||
                     text.find("hard stop") != std::string_view::npos;
      if ((is_pro || is_con) && count_code_points(trimmed(text.substr(3))) < kPointCharacters) is_short = true;
    }
    if (!is_hard_stop && (pros < 2 || cons < 1 || is_short)) c.report.add(rule::kGsProsCons, c.brief.options[i].span);
  }
}

void check_buckets(const Check& c) {
  static const std::vector<std::vector<std::string_view>> kSets = {
      {"Include", "Defer", "Cut", "Hold"}, {"Include", "Not now", "Hold"}, {"Defer", "Cut"}, {"Defer", "Cut", "Hold"}};
  const bool is_small_host = c.context.gs && c.context.gs->cap < 4;
  const auto fits = [&](const std::vector<std::string_view>& set) {
    if (set.size() != c.brief.options.size()) return false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (c.brief.options[i].marker[0] != static_cast<char>('A' + i)) return false;
      if (!c.brief.options[i].text.starts_with(set[i])) return false;
    }
    return true;
  };
  const auto end = is_small_host ? kSets.end() : kSets.begin() + 1;
  if (std::none_of(kSets.begin(), end, fits)) c.report.add(rule::kGsSplitBuckets, c.brief.span);
}

bool is_good_id(std::string_view id) {
  return !id.empty() && id.size() <= kQidMax && std::all_of(id.begin(), id.end(), [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '-';
  });
}

void check_qid(const Check& c) {
  const std::size_t at = c.text.find(kQidOpen);
  if (at == std::string_view::npos) return;
  const std::size_t end = std::min(c.text.find('>', at), c.text.find('\n', at));
  const Span span{at, std::min(end, c.text.size())};
  const auto id = c.text.substr(at + kQidOpen.size(), span.end - at - kQidOpen.size());
  const std::size_t infix = id.find("-split-");
  const bool is_split_id = infix != std::string_view::npos && infix > 0;
  const bool is_closed = span.end < c.text.size() && c.text[span.end] == '>';
  const bool is_chain = c.shape == GstackShape::kSplit || c.shape == GstackShape::kMeta ||
                        c.shape == GstackShape::kFinal || c.shape == GstackShape::kConflict;
  if (!is_closed || !is_good_id(id) || (is_chain && !is_split_id)) c.report.add(rule::kGsQid, span);
}

}  // namespace

std::optional<GstackLabel> parse_gstack_label(std::string_view label) {
  const auto number = [](std::string_view digits) -> std::optional<long> {
    if (digits.empty() || digits.size() > 9) return std::nullopt;
    long value = 0;
    for (char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  if (!label.starts_with('D')) return std::nullopt;
  const std::size_t dot = label.find('.');
  const auto parent = number(label.substr(1, dot == std::string_view::npos ? dot : dot - 1));
  if (!parent) return std::nullopt;
  GstackLabel out{*parent, GstackLabel::Part::kParent, 0};
  if (dot == std::string_view::npos) return out;
  const auto part = label.substr(dot + 1);
  if (part == "final") {
    out.part = GstackLabel::Part::kFinal;
    return out;
  }
  const bool is_revise = part.starts_with("revise-");
  const auto child = number(is_revise ? part.substr(7) : part);
  if (!child) return std::nullopt;
  out.child = *child;
  out.part = is_revise     ? GstackLabel::Part::kRevise
             : *child == 0 ? GstackLabel::Part::kMeta
                           : GstackLabel::Part::kChild;
  return out;
}

std::optional<Brief> parse_brief(std::string_view text) {
  const auto lines = split_lines(text, {0, text.size()});
  Brief brief;
  for (const Line& line : lines) {
    if (line.is_blank()) continue;
    brief.label_text = header_label(line.text);
    brief.span = line.span;
    break;
  }
  if (!brief.label_text.empty()) brief.label = parse_gstack_label(brief.label_text);
  for (const Line& line : lines) {
    const auto option = letter_option(line);
    const auto body = trimmed(line.text);
    const bool belongs = option || body.starts_with("\u2705") || body.starts_with("\u274C") ||
                         body.starts_with("Net:") || body.starts_with("Note:") || body.starts_with("Recommendation:") ||
                         body.starts_with("Completeness:") || body.starts_with("ELI10:") || body.starts_with("Stakes");
    const bool is_start = belongs || !header_label(line.text).empty();
    if (is_start && !brief.body.end) brief.body.begin = line.span.begin;
    if (is_start) brief.body.end = line.span.end;
    if (belongs) brief.span.end = std::max(brief.span.end, line.span.end);
    if (!option) continue;
    brief.options.push_back(*option);
    brief.options.back().text = without_mark(option->text);
  }
  if (!brief.label && brief.options.size() < 2) return std::nullopt;
  return brief;
}

void check_brief(std::string_view text, const Brief& brief, const LintContext& context, Report& report) {
  const auto lines = split_lines(text, {0, text.size()});
  const Span head{brief.span.begin, std::min(text.find('\n', brief.span.begin), text.size())};
  const Check c{text, lines, brief, context, shape_of(brief, context), head, report};
  const bool is_full = c.shape == GstackShape::kBrief;
  const bool explains = is_full || c.shape == GstackShape::kSplit || c.shape == GstackShape::kMenu;
  if (!label_fits(c)) report.add(rule::kGsHeader, head);
  if (explains) {
    const auto eli10 = section(lines, "ELI10:");
    if (!eli10 || behind(*eli10, "ELI10:").empty()) report.add(rule::kGsEli10, eli10 ? eli10->span : head);
    check_recommendation(c);
    check_completeness(c);
  }
  if (c.shape != GstackShape::kConflict) check_marks(c);
  if (is_full) {
    check_pros_cons(c);
    if (!section(lines, "Net:")) report.add(rule::kGsNet, head);
  }
  const int cap = context.gs ? context.gs->cap : 4;
  if (static_cast<int>(brief.options.size()) > cap) report.add(rule::kGsOptionCap, brief.span);
  if (c.shape == GstackShape::kSplit) check_buckets(c);
  check_qid(c);
}

}  // namespace sb::decision::linting
