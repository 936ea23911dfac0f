#include <fmt/format.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/render/drafts.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision::drafts {
namespace {

void append(std::string& text, std::string_view addition, std::string_view field, ShownFields& shown) {
  const std::string line = on_one_line(addition);
  if (line.empty()) return;
  text += "\n\n";
  text += line;
  shown.add(field);
}

}  // namespace

std::string name_of(const Prompt& prompt) {
  return quote_json(prompt.is_declared || prompt.label.empty() ? prompt.decision_id : prompt.label);
}

std::unexpected<Error> cannot_show(const Prompt& prompt, const Host& host, std::string_view why, std::string remedy) {
  return fail(ErrorCode::kUnsupported, fmt::format("{} cannot be shown on {}: {}", name_of(prompt), host.name, why),
              std::move(remedy));
}

bool explains(const Profile& profile) {
  return std::ranges::any_of(profile.sections_allowed,
                             [](const std::string& section) { return section != "safety_notice"; });
}

std::string header_of(const Prompt& prompt, int limit, ShownFields& shown) {
  const auto fits = [limit](const std::string& text) {
    return !text.empty() && count_code_points(text) <= static_cast<std::size_t>(limit);
  };
  if (fits(prompt.header)) {
    shown.add("header");
    return prompt.header;
  }
  if (fits(prompt.label)) {
    shown.add("decision_label");
    return prompt.label;
  }
  return std::string(decision::text(prompt.locale, "question"));
}

std::string question_of(const Prompt& prompt, const Profile& profile, std::string_view header, ShownFields& shown) {
  if (explains(profile) && prompt.summary.empty()) return brief_of(prompt, profile, shown);
  std::string question = sentence_of(prompt, header, shown);
  append(question, agreement_text(prompt), "sections.eli10", shown);
  append(question, prompt.sections.safety_notice, "sections.safety_notice", shown);
  append(question, prompt.irreversible_note, "irreversible_note", shown);
  return question;
}

std::string brief_of(const Prompt& prompt, const Profile& profile, ShownFields& shown) {
  if (explains(profile) && profile.recommended == RecommendedMark::kSuffix) return render_brief(prompt, shown);
  Prompt plain = prompt;
  if (!explains(profile)) {
    plain.sections = Sections{};
    plain.sections.eli10 = agreement_text(prompt);
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
  return render_brief(plain, shown);
}

std::string sentence_of(const Prompt& prompt, std::string_view header, ShownFields& shown) {
  shown.add("instruction");
  if (!prompt.summary.empty()) return summary_text(prompt.summary);
  if (prompt.label.empty() || prompt.label == header) return prompt.instruction;
  shown.add("decision_label");
  return fmt::format("{} — {}", prompt.label, prompt.instruction);
}

std::string agreement_text(const Prompt& prompt) {
  const bool is_about_a_list = prompt.kind == DecisionKind::kMeta || prompt.kind == DecisionKind::kConflict ||
                               prompt.kind == DecisionKind::kFinal ||
                               (prompt.kind == DecisionKind::kConfirmation && !prompt.label.empty());
  return is_about_a_list ? on_one_line(prompt.sections.eli10) : std::string();
}

std::string advice_of(const Prompt& prompt, std::string_view separator) {
  const auto& recommendation = prompt.sections.recommendation;
  if (!recommendation || recommendation->reason.empty()) return {};
  const auto found = std::ranges::find(prompt.options, recommendation->choice, &Option::id);
  const std::string& choice = found == prompt.options.end() ? recommendation->choice : found->label;
  return fmt::format("{}{}{}{}", text(prompt.locale, "form.recommended"), choice, choice.empty() ? "" : separator,
                     recommendation->reason);
}

std::string page_hint(const Prompt& prompt) {
  if (prompt.page < 2) return {};
  std::string hint = text_with(prompt.locale, "page.hint", "page", fmt::format("{}/{}", prompt.page, prompt.pages));
  const std::string_view slot = "{word}";
  return hint.replace(hint.find(slot), slot.size(), decision::text(prompt.locale, "page.back"));
}

void mark_question(std::string& question, std::string_view marker) {
  const std::size_t end = std::min(question.find('\n'), question.size());
  question.insert(end, fmt::format(" {}", marker));
}

}  // namespace sb::decision::drafts
