// The result of an elicitation: accept with content, decline, or cancel.
#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/render/form.hpp"
#include "decision/render/readers.hpp"

namespace sb::decision::readers {
namespace {

const ShownOption* option_with(const ShownQuestion& question, const Value& id) {
  if (!id.is_string()) return nullptr;
  const auto found = std::ranges::find(question.options, id.as_string(), &ShownOption::shown);
  return found == question.options.end() ? nullptr : &*found;
}

HostAnswer read_choice(const AnswerShape& shape, const Value& content) {
  const ShownQuestion& question = shape.questions.front();
  for (const Value::Member& member : content.members()) {
    if (member.name != question.key) return invalid(member.name + ": is not a field of this form");
  }
  const Value* given = content.find(question.key);
  if (!given || given->is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!question.is_many) {
    const ShownOption* entry = option_with(question, *given);
    return entry ? chosen(shape, {entry}) : invalid(question.key + ": is not one of the options");
  }
  if (!given->is_array()) return invalid(question.key + ": must be a list");
  std::vector<const ShownOption*> entries;
  for (const Value& id : given->items()) {
    const ShownOption* entry = option_with(question, id);
    if (!entry) return invalid(question.key + ": is not one of the options");
    if (std::ranges::find(entries, entry) != entries.end()) return invalid("duplicate");
    entries.push_back(entry);
  }
  if (entries.empty() && shape.select.min == 0) return without_answer(HostAnswerKind::kNone);
  std::ranges::sort(entries);  // they stand in one array: by address is in shown order
  return chosen(shape, entries);
}

HostAnswer read_content(const AnswerShape& shape, const Value& content) {
  if (content.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!content.is_object()) return invalid("content: must be an object");
  if (content.size() == 0) return without_answer(HostAnswerKind::kEmpty);
  const bool is_form = shape.select.mode == SelectMode::kForm || shape.select.mode == SelectMode::kText;
  if (!is_form) return read_choice(shape, content);
  if (const Status fits = check_content(shape.requested_schema, content); !fits) return invalid(fits.error().message);
  HostAnswer answer = without_answer(HostAnswerKind::kFilled);
  answer.fields = content;
  if (shape.select.mode == SelectMode::kText) {
    answer.text = content.string_at("text").value_or("");
    if (is_blank(answer.text)) return without_answer(HostAnswerKind::kEmpty);
  }
  return answer;
}

}  // namespace

HostAnswer elicitation(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  const std::string action = given.string_at("action").value_or("");
  if (action == "decline") return without_answer(HostAnswerKind::kDeclined);
  if (action == "cancel") return without_answer(HostAnswerKind::kCancelled);
  if (action != "accept") return invalid("action: must be accept, decline or cancel");
  if (shape.select.mode == SelectMode::kUrl) return without_answer(HostAnswerKind::kOpened);
  return read_content(shape, given["content"]);
}

}  // namespace sb::decision::readers
