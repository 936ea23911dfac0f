#include "inbox/question/choice_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"
#include "inbox/question/question.hpp"

namespace sb::inbox {
namespace {

using decision::Decision;
using decision::Option;
using decision::Profile;

bool explains(const Profile& profile) {
  return std::ranges::any_of(profile.sections_allowed,
                             [](const std::string& section) { return section != "safety_notice"; });
}

void add_paragraph(std::string& text, std::string_view prefix, std::string_view paragraph) {
  if (!paragraph.empty()) {
    text += prefix.empty() ? fmt::format("{}\n\n", quoted(paragraph))
                           : fmt::format("{} {}\n\n", prefix, continued(paragraph));
  }
}

std::string known_first(const Decision& decision) {
  const auto named = [&](std::string_view key) { return decision::text(decision.locale, key); };
  std::string text;
  add_paragraph(text, "", decision.sections.context);
  add_paragraph(text, "", decision.sections.eli10);
  add_paragraph(text, named("inbox.stakes"), decision.sections.stakes);
  if (decision.sections.kind_note != decision::kKindNote) add_paragraph(text, "", decision.sections.kind_note);
  add_paragraph(text, "", decision.sections.safety_notice);
  add_paragraph(text, named("brief.one_way"), decision.irreversible_note);
  add_paragraph(text, named("inbox.digest"), decision.digest);
  return text;
}

// One scheme for all options, so that readers need not distinguish letters from labels.
bool needs_letters(const Decision& decision, const Profile& profile) {
  if (profile.ordinals == decision::OrdinalStyle::kLetterParen) return true;
  return std::ranges::any_of(decision.options, [&](const Option& option) {
    const bool is_long = word_units(option.label) > kBlockLabelWords || option.label.contains('\n');
    return is_long || (explains(profile) && !option.description.empty());
  });
}

std::string lettered(const Decision& decision, const Profile& profile) {
  const bool marks = profile.recommended == decision::RecommendedMark::kSuffix;
  std::string text;
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    const Option& option = decision.options[i];
    text += fmt::format("{}: {}{}\n", decision::letters_of(i), continued(option.label),
                        option.recommended && marks ? decision::kRecommendedSuffix : "");
    if (explains(profile) && !option.description.empty()) text += fmt::format("   {}\n", continued(option.description));
  }
  return text + '\n';
}

std::string choice_text(const Decision& decision, const Profile& profile) {
  std::string text = known_first(decision);
  if (decision.select.mode == decision::SelectMode::kMany) {
    text += decision::text_with(decision.locale, "inbox.many", "counts",
                                fmt::format("{}–{}", decision.select.min, decision.select.max)) +
            "\n\n";
  }
  const bool has_letters = needs_letters(decision, profile);
  if (has_letters) text += lettered(decision, profile);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    labels.push_back(has_letters ? decision::letters_of(i) : decision.options[i].label);
  }
  return text + decision::render_block(decision.instruction, labels);
}

bool has_block(const Decision& decision) {
  return decision.select.mode == decision::SelectMode::kOne || decision.select.mode == decision::SelectMode::kMany;
}

}  // namespace

std::string choice_text(const decision::Declaration& declaration) {
  if (const Decision* decision = declaration.decision(); decision != nullptr && has_block(*decision)) {
    return printable(choice_text(*decision, declaration.profile));
  }
  const decision::Flow* flow = declaration.flow();
  const bool all_blocks = flow != nullptr && std::ranges::all_of(flow->steps, [](const decision::FlowStep& step) {
                            return has_block(step.decision);
                          });
  if (!all_blocks) return without_trailing_newlines(question_of(declaration).text);
  std::string text;
  for (const decision::FlowStep& step : flow->steps) {
    if (!text.empty()) text += "\n\n";
    text += choice_text(step.decision, declaration.profile);
  }
  return printable(text);
}

}  // namespace sb::inbox
