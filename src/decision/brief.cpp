#include "decision/brief.hpp"

#include <algorithm>
#include <vector>

#include "base/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

void add_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

void add_section(std::string& text, std::string_view anchor, std::string_view body) {
  if (body.empty()) return;
  add_line(text, anchor);
  text += ' ';
  text += on_one_line(body);
}

std::string first_line(const Prompt& prompt) {
  std::string line;
  if (!prompt.label.empty()) line = prompt.label + " — ";
  line += on_one_line(prompt.title.empty() ? prompt.instruction : prompt.title);
  if (!prompt.question_id.empty()) line += " <gstack-qid:" + prompt.question_id + ">";
  return line;
}

// What stands behind `Recommendation:`: the bucket's word in a child, else the letters of what is marked.
std::string recommended_word(const Prompt& prompt, std::string_view choice) {
  if (prompt.kind == Kind::kCherryPick && !choice.empty()) {
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

void add_recommendation(std::string& text, const Prompt& prompt) {
  if (!prompt.sections.recommendation) return;
  const auto& recommendation = *prompt.sections.recommendation;
  std::string body = recommended_word(prompt, recommendation.choice);
  if (!recommendation.reason.empty()) body += " because " + recommendation.reason;
  add_section(text, "Recommendation:", body);
}

void add_completeness(std::string& text, const Prompt& prompt) {
  std::string scores;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const auto& option = prompt.options[i];
    if (!option.completeness) continue;
    if (!scores.empty()) scores += ", ";
    scores += letter_of(i) + "=" + std::to_string(*option.completeness) + "/10";
  }
  if (!scores.empty()) {
    add_section(text, "Completeness:", scores);
  } else {
    add_section(text, "Note:", prompt.sections.kind_note);
  }
}

void add_option(std::string& text, const Option& option, std::size_t index) {
  add_line(text, letter_of(index) + ") " + on_one_line(option.label));
  if (option.recommended) text += kRecommendedMark;
  const auto add_detail = [&text](std::string_view mark, std::string_view detail) {
    if (detail.empty()) return;
    add_line(text, "  ");
    text += mark;
    text += on_one_line(detail);
  };
  add_detail("", option.description);
  for (const auto& pro : option.pros) add_detail("✅ ", pro);
  for (const auto& con : option.cons) add_detail("❌ ", con);
  std::string effort;
  if (!option.effort_human.empty()) effort = "human: " + option.effort_human;
  if (!option.effort_agent.empty()) effort += (effort.empty() ? "agent: " : " / agent: ") + option.effort_agent;
  add_detail("", effort.empty() ? effort : "(" + effort + ")");
}

void add_options(std::string& text, const Prompt& prompt) {
  const bool has_arguments = std::any_of(prompt.options.begin(), prompt.options.end(), [](const Option& option) {
    return !option.pros.empty() || !option.cons.empty();
  });
  if (has_arguments) add_line(text, "Pros / cons:");
  for (std::size_t i = 0; i < prompt.options.size(); ++i) add_option(text, prompt.options[i], i);
}

std::string joined(const std::vector<std::string>& labels) {
  std::string list;
  for (const auto& label : labels) {
    if (!list.empty()) list += ", ";
    list += label;
  }
  return list;
}

}  // namespace

std::string render_brief(const Prompt& prompt) {
  const auto& sections = prompt.sections;
  std::string text = first_line(prompt);
  add_section(text, "Project/branch/task:", sections.context);
  if (!prompt.title.empty() && prompt.title != prompt.instruction && prompt.kind != Kind::kCherryPick) {
    add_line(text, on_one_line(prompt.instruction));
  }
  add_section(text, "ELI10:", sections.eli10);
  add_section(text, "Stakes if we pick wrong:", sections.stakes);
  add_section(text, decision::text(prompt.locale, "brief.one_way"), prompt.irreversible_note);
  add_section(text, decision::text(prompt.locale, "brief.safety"), sections.safety_notice);
  add_recommendation(text, prompt);
  add_completeness(text, prompt);
  if (prompt.select.mode == SelectMode::kMany) add_line(text, decision::text(prompt.locale, "brief.many"));
  add_options(text, prompt);
  add_section(text, decision::text(prompt.locale, "brief.elsewhere"), joined(prompt.shown_elsewhere));
  add_section(text, "Net:", sections.net);
  return text;
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
