#include "decision/render/hosts/question_tool.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/readers.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

// A list of complete labels.
HostAnswer read_label_list(const AnswerShape& shape, const Value& list) {
  const ShownQuestion& question = shape.questions.front();
  std::vector<const ShownOption*> entries;
  for (const Value& item : list.items()) {
    if (!item.is_string() || !is_utf8(item.as_string())) return invalid("shape");
    const ShownOption* entry = find_shown(question.options, item.as_string());
    if (!entry) return list.size() == 1 ? free_text(item.as_string()) : invalid("unknown_label");
    if (std::ranges::find(entries, entry) != entries.end()) return invalid("duplicate");
    entries.push_back(entry);
  }
  std::ranges::sort(entries);  // all in one array: by address is in shown order
  return chosen(shape, entries);
}

}  // namespace

Value tool_option(std::string_view label, std::string description) {
  return Value::object({{"label", label}, {"description", std::move(description)}});
}

std::string description_of(const Option& option, const Profile& profile, ShownFields& shown) {
  if (!drafts::explains(profile)) return {};
  shown.add("description");
  return option.description;
}

void note_labels(const ShownLabels& labels, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  if (profile.recommended == RecommendedMark::kSuffix) shown.add("recommended");
  if (labels.has_ordinals) rendered.omitted_fields.emplace_back("label");
}

void set_tool_question(Rendered& rendered, std::size_t index) {
  rendered.payload.find("questions")->items()[index].set("question", rendered.shape.questions[index].text);
}

HostAnswer read_labels(const AnswerShape& shape, std::string_view text) {
  if (!is_utf8(text)) return invalid("encoding");
  if (is_blank(text)) return without_answer(HostAnswerKind::kEmpty);
  const ShownQuestion& question = shape.questions.front();
  if (const ShownOption* entry = find_shown(question.options, text)) return chosen(shape, {entry});
  if (!question.is_many) return free_text(std::string(text));
  const auto entries = split_joined(question.options, text);
  return entries ? chosen(shape, *entries) : free_text(std::string(text));
}

HostAnswer read_label_value(const AnswerShape& shape, const Value& value) {
  if (value.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (value.is_string()) return read_labels(shape, value.as_string());
  if (value.is_array()) return read_label_list(shape, value);
  return invalid("shape");
}

}  // namespace sb::decision::hosts
