// The interaction block: a person reads it and types a number. The only host that can be our own terminal.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/classify.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/hosts/typed_answer.hpp"
#include "decision/render/readers.hpp"
#include "decision/text_block.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

// A profile with wider limits than the text grammar may declare what the grammar cannot express.
Status check_grammar(const Prompt& prompt, const Profile& profile) {
  if (profile.grammar == Grammar::kStrictNumbers) return {};
  const std::string remedy = fmt::format("Use --host {}, or shorten it", kBrief.name);
  const int instruction_words = word_units(prompt.instruction);
  if (instruction_words > 15) {
    return drafts::cannot_show(
        prompt, kText, fmt::format("the instruction has {} words, and a block can hold 15", instruction_words), remedy);
  }
  for (const Option& option : prompt.options) {
    const int words = word_units(option.label);
    if (words <= 5) continue;
    return drafts::cannot_show(
        prompt, kText, fmt::format("option {} has {} words, and a block can hold 5", quote_json(option.label), words),
        remedy);
  }
  return {};
}

void add_paragraph(std::string& text, const std::string& paragraph) {
  if (paragraph.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += paragraph;
}

void draft_text(const Prompt& prompt, const Profile& profile, const RenderOptions& options, Rendered& rendered,
                ShownFields& shown) {
  rendered.text = !prompt.summary.empty()  ? render_confirmation(prompt.summary)
                  : prompt.options.empty() ? prompt.instruction
                                           : render_block(prompt);
  shown.add("instruction");
  add_paragraph(rendered.before, prompt.sections.context);
  add_paragraph(rendered.before, prompt.sections.safety_notice);
  add_paragraph(rendered.before, prompt.irreversible_note);
  if (options.shows_before) {
    for (const auto field : {"sections.context", "sections.safety_notice", "irreversible_note"}) shown.add(field);
  }
  rendered.shape.commands = profile.commands;
  rendered.shape.questions.push_back(answered_by(OrdinalStyle::kNumberParen, prompt, rendered.text));
}

HostAnswer read_free_line(const std::string& line) {
  if (!is_utf8(line)) return invalid("encoding");
  if (is_blank(line)) return without_answer(HostAnswerKind::kEmpty);
  HostAnswer answer = without_answer(HostAnswerKind::kFilled);
  answer.text = line;
  answer.fields = Value::object({{"text", line}});
  return answer;
}

HostAnswer read_ordinals(const AnswerShape& shape, const Selection& selection) {
  std::vector<std::size_t> indexes;
  for (const int ordinal : selection.ordinals) indexes.push_back(static_cast<std::size_t>(ordinal) - 1);
  return chosen(shape, entries_at(shape.questions.front(), indexes));
}

HostAnswer invalid_line(InvalidReason reason) {
  if (reason == InvalidReason::kEmpty) return without_answer(HostAnswerKind::kEmpty);
  return invalid(std::string(to_string(reason)));
}

HostAnswer read_text_answer(const AnswerShape& shape, const Value& given) {
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_string() || shape.questions.empty()) return invalid("shape");
  const std::string& line = given.as_string();
  const bool is_command = std::ranges::find(shape.commands, line) != shape.commands.end();
  if (shape.select.mode != SelectMode::kOne && shape.select.mode != SelectMode::kMany) {
    return is_command ? without_answer(HostAnswerKind::kCancelled) : read_free_line(line);
  }
  const std::vector<std::string> labels = all_labels(shape);
  const Input input = classify(line, {.option_count = static_cast<int>(shape.questions.front().options.size()),
                                      .select = shape.select,
                                      .labels = labels,
                                      .pending_keys = {},
                                      .other_keys = {},
                                      .commands = shape.commands,
                                      .command_case_fold = false});
  if (const auto* selection = std::get_if<Selection>(&input)) return read_ordinals(shape, *selection);
  if (std::holds_alternative<CancelCommand>(input)) return without_answer(HostAnswerKind::kCancelled);
  if (const auto* wrong = std::get_if<Invalid>(&input)) return invalid_line(wrong->reason);
  return free_text(line);
}

}  // namespace

// No set_question: the block's grammar has no place for a marker.
constinit const Host kText = {
    .name = "text",
    .limits = {.questions = 1, .options = 7},
    .takes_text = true,
    .can_be_local = true,
    .accepts_none = false,
    .check = check_grammar,
    .draft = draft_text,
    .read = read_text_answer,
};

}  // namespace sb::decision::hosts
