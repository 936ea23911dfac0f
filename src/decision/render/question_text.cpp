#include <fmt/format.h>

#include <algorithm>

#include "base/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/render/drafts.hpp"
#include "decision/texts.hpp"

namespace sb::decision::drafts {
namespace {

void append_unless_there(std::string& text, std::string_view addition) {
  const std::string line = on_one_line(addition);
  if (line.empty() || text.find(line) != std::string::npos) return;
  text += "\n\n";
  text += line;
}

}  // namespace

bool explains(const Profile& profile) {
  return std::ranges::any_of(profile.sections_allowed,
                             [](const std::string& section) { return section != "safety_notice"; });
}

std::string header_of(const Prompt& prompt, int limit) {
  for (const std::string* candidate : {&prompt.header, &prompt.label}) {
    if (!candidate->empty() && count_code_points(*candidate) <= static_cast<std::size_t>(limit)) return *candidate;
  }
  return std::string(decision::text(prompt.locale, "question"));
}

std::string question_of(const Prompt& prompt, const Profile& profile, std::string_view header) {
  std::string question;
  if (explains(profile)) {
    question = brief_of(prompt, profile);
  } else {
    question = sentence_of(prompt, header);
  }
  append_unless_there(question, agreed_on(prompt));
  append_unless_there(question, prompt.sections.safety_notice);
  append_unless_there(question, prompt.irreversible_note);
  return question;
}

std::string brief_of(const Prompt& prompt, const Profile& profile) {
  if (explains(profile) && profile.recommended == RecommendedMark::kSuffix) return render_brief(prompt);
  Prompt plain = prompt;
  if (!explains(profile)) {
    plain.sections = Sections{};
    plain.sections.eli10 = agreed_on(prompt);
    plain.sections.safety_notice = prompt.sections.safety_notice;
  }
  for (Option& option : plain.options) {
    if (profile.recommended == RecommendedMark::kHidden) option.recommended = false;
    if (explains(profile)) continue;
    option.description.clear();
    option.completeness.reset();
    option.pros.clear();
    option.cons.clear();
    option.effort_human.clear();
    option.effort_agent.clear();
  }
  return render_brief(plain);
}

std::string sentence_of(const Prompt& prompt, std::string_view header) {
  const bool is_label_shown = prompt.label.empty() || prompt.label == header;
  return is_label_shown ? prompt.instruction : fmt::format("{} — {}", prompt.label, prompt.instruction);
}

std::string agreed_on(const Prompt& prompt) {
  const bool is_about_a_list = prompt.kind == Kind::kMeta || prompt.kind == Kind::kConflict ||
                               prompt.kind == Kind::kFinal ||
                               (prompt.kind == Kind::kConfirmation && !prompt.label.empty());
  return is_about_a_list ? on_one_line(prompt.sections.eli10) : std::string();
}

void mark_question(std::string& question, std::string_view marker) {
  const std::size_t end = std::min(question.find('\n'), question.size());
  question.insert(end, fmt::format(" {}", marker));
}

}  // namespace sb::decision::drafts
