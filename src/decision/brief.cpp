#include "decision/brief.hpp"

#include <algorithm>
#include <vector>

#include "base/text/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

void add_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

// The text after `Recommendation:`: the bucket's name in a child, else the letters of the marked options.
std::string recommended_word(const Prompt& prompt, std::string_view choice) {
  if (prompt.kind == DecisionKind::kCherryPick && !choice.empty()) {
    std::string word(choice);
    if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
  }
  std::string letters;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const bool is_meant =
        prompt.select.mode == SelectMode::kMany ? prompt.options[i].recommended : prompt.options[i].id == choice;
    if (!is_meant) continue;
    if (!letters.empty()) letters += ", ";
    letters += letter_of(i);
    if (prompt.select.mode != SelectMode::kMany) break;
  }
  return letters.empty() ? std::string(choice) : letters;
}

std::string joined(const std::vector<std::string>& labels) {
  std::string list;
  for (const auto& label : labels) {
    if (!list.empty()) list += ", ";
    list += label;
  }
  return list;
}

// Writes the parts of a brief one after the other, and records the field of each.
class BriefWriter {
 public:
  BriefWriter(const Prompt& prompt, ShownFields& shown) : prompt_(prompt), shown_(shown) {}

  std::string write() {
    const auto& sections = prompt_.sections;
    add_first_line();
    add_section("sections.context", "Project/branch/task:", sections.context);
    add_instruction();
    add_section("sections.eli10", "ELI10:", sections.eli10);
    add_section("sections.stakes", "Stakes if we pick wrong:", sections.stakes);
    add_section("irreversible_note", localized("brief.one_way"), prompt_.irreversible_note);
    add_section("sections.safety_notice", localized("brief.safety"), sections.safety_notice);
    add_recommendation();
    add_completeness();
    if (prompt_.select.mode == SelectMode::kMany) add_line(text_, localized("brief.many"));
    add_options();
    add_section("elsewhere", localized("brief.elsewhere"), joined(prompt_.asked_next));
    add_section("sections.net", "Net:", sections.net);
    return std::move(text_);
  }

 private:
  std::string_view localized(std::string_view key) const { return decision::text(prompt_.locale, key); }

  void add_section(std::string_view field, std::string_view anchor, std::string_view body) {
    if (body.empty()) return;
    add_line(text_, anchor);
    text_ += ' ';
    text_ += on_one_line(body);
    shown_.add(field);
  }

  void add_first_line() {
    if (!prompt_.label.empty()) {
      text_ = prompt_.label + " — ";
      shown_.add("decision_label");
    }
    text_ += on_one_line(prompt_.title.empty() ? prompt_.instruction : prompt_.title);
    shown_.add(prompt_.title.empty() ? "instruction" : "title");
    if (!prompt_.question_id.empty()) text_ += " <gstack-qid:" + prompt_.question_id + ">";
  }

  // A chain's child is asked by its title: what about this option.
  void add_instruction() {
    shown_.add("instruction");
    if (prompt_.title.empty() || prompt_.title == prompt_.instruction || prompt_.kind == DecisionKind::kCherryPick)
      return;
    add_line(text_, on_one_line(prompt_.instruction));
  }

  void add_recommendation() {
    if (!prompt_.sections.recommendation) return;
    const auto& recommendation = *prompt_.sections.recommendation;
    std::string body = recommended_word(prompt_, recommendation.choice);
    if (!recommendation.reason.empty()) body += " because " + recommendation.reason;
    add_section("sections.recommendation", "Recommendation:", body);
  }

  void add_completeness() {
    std::string scores;
    for (std::size_t i = 0; i < prompt_.options.size(); ++i) {
      const auto& option = prompt_.options[i];
      if (!option.completeness) continue;
      if (!scores.empty()) scores += ", ";
      scores += letter_of(i) + "=" + std::to_string(*option.completeness) + "/10";
    }
    if (!scores.empty()) {
      add_section("completeness", "Completeness:", scores);
    } else {
      add_section("sections.kind_note", "Note:", prompt_.sections.kind_note);
    }
  }

  void add_detail(std::string_view field, std::string_view mark, std::string_view detail) {
    if (detail.empty()) return;
    add_line(text_, "  ");
    text_ += mark;
    text_ += on_one_line(detail);
    shown_.add(field);
  }

  void add_option(const Option& option, std::size_t index) {
    add_line(text_, letter_of(index) + ") " + on_one_line(option.label));
    if (option.recommended) {
      text_ += kRecommendedMark;
      shown_.add("recommended");
    }
    add_detail("description", "", option.description);
    for (const auto& pro : option.pros) add_detail("pros", "✅ ", pro);
    for (const auto& con : option.cons) add_detail("cons", "❌ ", con);
    std::string effort;
    if (!option.effort_human.empty()) effort = "human: " + option.effort_human;
    if (!option.effort_agent.empty()) effort += (effort.empty() ? "agent: " : " / agent: ") + option.effort_agent;
    add_detail("effort", "", effort.empty() ? effort : "(" + effort + ")");
  }

  void add_options() {
    const bool has_arguments = std::any_of(prompt_.options.begin(), prompt_.options.end(), [](const Option& option) {
      return !option.pros.empty() || !option.cons.empty();
    });
    if (has_arguments) add_line(text_, "Pros / cons:");
    for (std::size_t i = 0; i < prompt_.options.size(); ++i) add_option(prompt_.options[i], i);
  }

  const Prompt& prompt_;
  ShownFields& shown_;
  std::string text_;
};

}  // namespace

std::string render_brief(const Prompt& prompt) {
  ShownFields shown;
  return render_brief(prompt, shown);
}

std::string render_brief(const Prompt& prompt, ShownFields& shown) {
  return BriefWriter(prompt, shown).write();
}

std::string letter_of(std::size_t index) {
  std::string letters;
  for (std::size_t rest = index + 1; rest > 0; rest = (rest - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
  }
  return letters;
}

std::optional<std::size_t> index_of_letter(std::string_view letters) {
  if (letters.empty() || letters.size() > 2) return std::nullopt;
  std::size_t value = 0;
  for (const char c : letters) {
    if (c < 'A' || c > 'Z') return std::nullopt;
    value = value * 26 + static_cast<std::size_t>(c - 'A') + 1;
  }
  return value - 1;
}

std::string on_one_line(std::string_view text) {
  std::string line;
  bool has_gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_space(c) || c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029) {
      has_gap = !line.empty();
      continue;
    }
    if (has_gap) line += ' ';
    has_gap = false;
    append_code_point(line, c);
  }
  return line;
}

}  // namespace sb::decision
