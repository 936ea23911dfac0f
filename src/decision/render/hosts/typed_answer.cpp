#include "decision/render/hosts/typed_answer.hpp"

#include "decision/brief.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision::hosts {

ShownQuestion answered_by(OrdinalStyle style, const Prompt& prompt, std::string text) {
  ShownQuestion question{"", std::move(text), prompt.select.mode == SelectMode::kMany, {}};
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const Option& option = prompt.options[i];
    const std::string ordinal = style == OrdinalStyle::kLetterParen ? letter_of(i) : std::to_string(i + 1);
    question.options.push_back({option.id, option.label, ordinal, entry_of(prompt, i)});
  }
  return question;
}

std::vector<const ShownOption*> entries_at(const ShownQuestion& question, const std::vector<std::size_t>& indexes) {
  std::vector<bool> is_chosen(question.options.size(), false);
  for (const std::size_t index : indexes) is_chosen[index] = true;
  std::vector<const ShownOption*> entries;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    if (is_chosen[i]) entries.push_back(&question.options[i]);
  }
  return entries;
}

std::vector<std::string> all_labels(const AnswerShape& shape) {
  std::vector<std::string> labels = shape.elsewhere;
  for (const ShownOption& option : shape.questions.front().options) labels.push_back(option.label);
  return labels;
}

}  // namespace sb::decision::hosts
