#include "pipeline/plan/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text/unicode.hpp"

namespace sb::pipeline {
namespace {

constexpr std::array<std::pair<RunMode, std::string_view>, 5> kModes = {{
    {RunMode::kQuickReview, "QUICK_REVIEW"},
    {RunMode::kReviewOnly, "REVIEW_ONLY"},
    {RunMode::kImplement, "IMPLEMENT"},
    {RunMode::kFull, "FULL"},
    {RunMode::kEscalate, "ESCALATE"},
}};

// Lower case; runs of letters, digits and marks are words, and `#`, `!` and `:` are words of their own.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  if (!is_utf8(text)) return words;
  const std::string folded = case_fold(text);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(folded, at);
    if (is_letter(c) || is_digit(c) || is_mark(c) || c == U'_') {
      word.append(folded, begin, at - begin);
      continue;
    }
    end_word();
    if (c == U'#' || c == U'!' || c == U':') words.push_back(std::string(1, static_cast<char>(c)));
  }
  end_word();
  return words;
}

using Phrase = std::vector<std::string_view>;

std::string found_in(const std::vector<std::string>& words, std::span<const Phrase> phrases) {
  for (const Phrase& phrase : phrases) {
    if (std::ranges::search(words, phrase).begin() != words.end()) return fmt::format("{}", fmt::join(phrase, " "));
  }
  return {};
}

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// `PR #12`, `PR 12`, `PR12`, `MR !5`, `MR #5`; a bare `#12` is a ticket.
bool names_request(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_joined = (word.starts_with("pr") || word.starts_with("mr")) && is_number(word.substr(2));
    if (is_joined) return true;
    if (word != "pr" && word != "mr") continue;
    std::size_t next = i + 1;
    if (next < words.size() && (words[next] == "#" || words[next] == "!")) ++next;
    if (next < words.size() && is_number(words[next])) return true;
  }
  return false;
}

const std::vector<Phrase>& dependency_phrases() {
  static const std::vector<Phrase> phrases = {{"bump"}, {"chore", ":"}, {"dependabot"}, {"dependency", "upgrade"}};
  return phrases;
}

// Several forms of one word count as one word.
struct UiWord {
  std::vector<Phrase> forms;
  bool is_plain;  // unambiguous; code and databases have views, components and designs, too
};
const std::vector<UiWord>& ui_words() {
  static const std::vector<UiWord> words = {
      {{{"ui"}, {"user", "interface"}}, true},  {{{"ux"}}, true},
      {{{"screen"}, {"screens"}}, true},        {{{"layout"}, {"layouts"}}, true},
      {{{"frontend"}, {"front", "end"}}, true}, {{{"view"}, {"views"}}, false},
      {{{"component"}, {"components"}}, false}, {{{"design"}, {"designs"}}, false}};
  return words;
}

std::string seen(std::string_view what, const std::string& found) {
  return found.empty() ? fmt::format("{}: none", what) : fmt::format("{}: {}", what, found);
}

struct UiFound {
  std::vector<std::string> words;
  bool has_plain = false;
};
UiFound ui_in(std::string_view text) {
  UiFound found;
  const std::vector<std::string> words = words_of(text);
  for (const UiWord& word : ui_words()) {
    if (std::string form = found_in(words, word.forms); !form.empty()) {
      found.words.push_back(std::move(form));
      found.has_plain |= word.is_plain;
    }
  }
  return found;
}

// Without fenced code and addresses: logs and links do not say what is requested.
std::string prose_of(std::string_view text) {
  std::string prose;
  bool is_code = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool is_fence = line.starts_with("```") || line.starts_with("~~~");
    if (is_fence) is_code = !is_code;
    if (is_fence || is_code) continue;
    while (!line.empty()) {
      const std::string_view word = line.substr(0, line.find_first_of(" \t"));
      if (word.find("://") == std::string_view::npos) prose.append(word);
      prose += ' ';
      line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
    prose += '\n';
  }
  return prose;
}

// A title is about what it names. An acceptance criterion must be unambiguous. A long text mentions everything: it
// counts only if it is unambiguous and uses more than one such word.
std::string ui_signal(const RouteFacts& facts) {
  std::string names = facts.goal + "\n" + facts.ticket.title;
  for (const std::string& label : facts.ticket.labels) names += "\n" + label;
  if (const UiFound found = ui_in(names); !found.words.empty()) return found.words.front();
  for (const std::string& condition : facts.ticket.acceptance) {
    const UiFound found = ui_in(condition);
    if (found.has_plain) return fmt::format("{} (acceptance)", fmt::join(found.words, ", "));
  }
  const UiFound found = ui_in(prose_of(facts.ticket.body));
  if (!found.has_plain || found.words.size() < 2) return {};
  return fmt::format("{} (body)", fmt::join(found.words, ", "));
}

RunMode choose(const RouteFacts& facts, bool is_dependency, bool has_request) {
  if (facts.wanted) return *facts.wanted;
  if (is_dependency && has_request) return RunMode::kQuickReview;
  if (has_request || facts.trigger == "github_prs_poll") return RunMode::kReviewOnly;
  return facts.has_pitch ? RunMode::kImplement : RunMode::kFull;
}

}  // namespace

std::string_view to_string(RunMode mode) {
  for (const auto& [known, name] : kModes) {
    if (known == mode) return name;
  }
  return "FULL";
}

std::optional<RunMode> run_mode_named(std::string_view name) {
  for (const auto& [mode, known] : kModes) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

Route route(const RouteFacts& facts) {
  const std::vector<std::string> words = words_of(facts.goal + "\n" + facts.ticket.title);
  const std::string dependency = found_in(words, dependency_phrases());
  const bool has_request = names_request(words);
  const std::string ui = ui_signal(facts);
  Route made;
  made.mode = choose(facts, !dependency.empty(), has_request);
  made.touches_ui = !ui.empty();
  made.reasons = {facts.wanted ? fmt::format("asked for: {}", to_string(*facts.wanted)) : "asked for: nothing",
                  seen("words of a dependency update", dependency),
                  fmt::format("change request named: {}", has_request ? "yes" : "no"),
                  seen("trigger", facts.trigger),
                  fmt::format("pitch there: {}", facts.has_pitch ? "yes" : "no"),
                  seen("words of a user interface", ui)};
  return made;
}

bool mentions_ui(std::string_view text) {
  return !ui_in(text).words.empty();
}

}  // namespace sb::pipeline
