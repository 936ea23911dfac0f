#include "decision/render/brief_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/lint/brief_text.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision {
namespace {

constexpr std::size_t kPros = 2;
constexpr std::size_t kCons = 1;
constexpr std::size_t kPointCharacters = 40;
constexpr std::string_view kKindPhrase = "options differ in kind, not coverage";  // gstack searches for these words

bool is_held_to_it(const Prompt& prompt) {
  if (!prompt.is_declared) return false;
  const auto label = linting::parse_gstack_label(prompt.label);
  return !label || label->part == linting::GstackLabel::Part::kParent;
}

// An option that is ruled out needs no balance of arguments.
bool is_hard_stop(const std::string& point) {
  return std::ranges::any_of(std::vector<std::string_view>{"hard-stop", "hard stop", "Hard stop"},
                             [&](std::string_view words) { return point.find(words) != std::string::npos; });
}

class MissingParts {
 public:
  explicit MissingParts(const Prompt& prompt) : prompt_(prompt) {}

  void require(const std::string& part) {
    const Sections& sections = prompt_.sections;
    if (part == "context") text(part, sections.context);
    if (part == "eli10") text(part, sections.eli10);
    if (part == "stakes") text(part, sections.stakes);
    if (part == "net") text(part, sections.net);
    if (part == "safety_notice") text(part, sections.safety_notice);
    if (part == "kind_note") text(part, sections.kind_note);
    if (part == "recommendation") recommendation();
    if (part == "completeness") completeness();
    if (part == "pros_cons") pros_cons();
  }
  std::vector<std::string> take() { return std::move(lacks_); }

 private:
  void text(std::string_view part, std::string_view value) {
    if (is_blank(value)) lacks_.push_back(fmt::format("sections.{} is missing", part));
  }

  // The marked option must be the named one; if many may be chosen, any number may be marked.
  void recommendation() {
    const auto& named = prompt_.sections.recommendation;
    if (!named) {
      lacks_.emplace_back("sections.recommendation is missing");
    } else if (is_blank(named->reason)) {
      lacks_.emplace_back("sections.recommendation has no reason");
    }
    if (prompt_.select.mode == SelectMode::kMany) return;
    if (prompt_.recommended_in_all != 1) {
      lacks_.push_back(fmt::format("{} options are marked recommended instead of one", prompt_.recommended_in_all));
      return;
    }
    for (const Option& option : prompt_.options) {
      if (!option.recommended || !named || named->choice == option.id) continue;
      lacks_.push_back(fmt::format("sections.recommendation names {}, but {} is marked recommended",
                                   quote_json(named->choice), quote_json(option.id)));
    }
  }

  void completeness() {
    const bool has_note = !prompt_.sections.kind_note.empty();
    const bool has_scores = std::ranges::any_of(prompt_.options, [](const Option& o) { return !!o.completeness; });
    if (has_note && has_scores) {
      lacks_.emplace_back("completeness and sections.kind_note exclude each other");
    } else if (has_note) {
      if (prompt_.sections.kind_note.find(kKindPhrase) == std::string::npos) {
        lacks_.push_back(fmt::format("sections.kind_note does not say \"{}\"", kKindPhrase));
      }
    } else if (!has_scores) {
      lacks_.emplace_back("completeness of each option, or sections.kind_note, is missing");
    } else {
      for_declared([this](const Option& option) {
        if (!option.completeness) lacks_.push_back(fmt::format("option {} has no completeness", quote_json(option.id)));
      });
    }
  }

  void pros_cons() {
    for_declared([this](const Option& option) {
      std::vector<std::string> points = option.pros;
      points.insert(points.end(), option.cons.begin(), option.cons.end());
      if (std::ranges::any_of(points, is_hard_stop)) return;
      const std::string name = quote_json(option.id);
      if (option.pros.size() < kPros || option.cons.size() < kCons) {
        lacks_.push_back(fmt::format("option {} has {} of {} pros and {} of {} cons", name, option.pros.size(), kPros,
                                     option.cons.size(), kCons));
      }
      for (const std::string& point : points) {
        const std::size_t length = count_code_points(on_one_line(point));
        if (length >= kPointCharacters) continue;
        lacks_.push_back(
            fmt::format("option {}: {} has {} of {} characters", name, quote_json(point), length, kPointCharacters));
      }
    });
  }

  template <class Check>
  void for_declared(Check check) {
    for (std::size_t i = 0; i < prompt_.options.size(); ++i) {
      if (entry_of(prompt_, i) == EntryKind::kOption) check(prompt_.options[i]);
    }
  }

  const Prompt& prompt_;
  std::vector<std::string> lacks_;
};

}  // namespace

std::vector<std::string> missing_brief_parts(const Prompt& prompt, const Profile& profile) {
  if (!is_held_to_it(prompt)) return {};
  MissingParts lacks(prompt);
  for (const std::string& part : profile.sections_required) lacks.require(part);
  return lacks.take();
}

}  // namespace sb::decision
