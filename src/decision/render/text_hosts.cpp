// The two hosts a person reads as text: the interaction block, answered by number, and the brief, answered by letter.
#include "decision/brief.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/text_block.hpp"

namespace sb::decision::drafts {
namespace {

ShownQuestion answered_by(OrdinalStyle style, const Prompt& prompt, std::string text) {
  ShownQuestion question{"", std::move(text), prompt.select.mode == SelectMode::kMany, {}};
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const Option& option = prompt.options[i];
    const std::string ordinal = style == OrdinalStyle::kLetterParen ? letter_of(i) : std::to_string(i + 1);
    question.options.push_back({option.id, option.label, ordinal, entry_of(prompt, i)});
  }
  return question;
}

void add_paragraph(std::string& text, const std::string& paragraph) {
  if (paragraph.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += paragraph;
}

}  // namespace

void text(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  rendered.text = prompt.options.empty() ? prompt.instruction : render_block(prompt);
  shown.add("instruction");
  add_paragraph(rendered.before, prompt.sections.context);
  add_paragraph(rendered.before, prompt.sections.safety_notice);
  add_paragraph(rendered.before, prompt.irreversible_note);
  rendered.shape.commands = profile.commands;
  rendered.shape.questions.push_back(answered_by(OrdinalStyle::kNumberParen, prompt, rendered.text));
}

void brief(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  rendered.text = brief_of(prompt, profile, shown);
  rendered.shape.commands = profile.commands;
  rendered.shape.questions.push_back(answered_by(OrdinalStyle::kLetterParen, prompt, rendered.text));
}

}  // namespace sb::decision::drafts
