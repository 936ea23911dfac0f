// What the question tools give back: labels, free text, or one of several kinds of nothing.
#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/render/readers.hpp"
#include "decision/render/render.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision::readers {
namespace {

std::string folded(std::string_view text) {
  if (!is_utf8(text)) return {};
  const std::string source = case_fold(text);
  std::string out;
  bool is_gap = false;
  for (std::size_t at = 0; at < source.size();) {
    const char32_t c = next_code_point(source, at);
    if (is_space(c)) {
      is_gap = !out.empty();
      continue;
    }
    if (is_gap) out += ' ';
    is_gap = false;
    append_code_point(out, c);
  }
  return out;
}

bool carries(std::string_view text, const std::string& nonce) {
  return !nonce.empty() && text.find(marker_of(nonce)) != std::string_view::npos;
}

// The member a host keeps for this question in a map by question text: exactly, by marker, or folded.
const Value* by_question(const Value& map, const AnswerShape& shape) {
  if (!map.is_object()) return nullptr;
  const std::string& text = shape.questions.front().text;
  if (const Value* exact = map.find(text)) return exact;
  for (const Value::Member& member : map.members()) {
    if (carries(member.name, shape.nonce)) return &member.value;
  }
  for (const Value::Member& member : map.members()) {
    if (folded(member.name) == folded(text)) return &member.value;
  }
  return nullptr;
}

bool is_about(const Value& item, const AnswerShape& shape) {
  const auto question = item.string_at("question");
  if (!question) return false;
  const std::string& text = shape.questions.front().text;
  return *question == text || carries(*question, shape.nonce) || folded(*question) == folded(text);
}

const Value* first_of(const Value& item, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Value* value = item.find(name);
    if (value && !value->is_null()) return value;
  }
  return nullptr;
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

// A list of labels, each whole.
HostAnswer read_list(const AnswerShape& shape, const Value& list) {
  const ShownQuestion& question = shape.questions.front();
  std::vector<const ShownOption*> entries;
  for (const Value& item : list.items()) {
    if (!item.is_string() || !is_utf8(item.as_string())) return invalid("shape");
    const ShownOption* entry = find_shown(question.options, item.as_string());
    if (!entry) return list.size() == 1 ? free_text(item.as_string()) : invalid("unknown_label");
    if (std::ranges::find(entries, entry) != entries.end()) return invalid("duplicate");
    entries.push_back(entry);
  }
  std::ranges::sort(entries);  // they stand in one array: by address is in shown order
  return chosen(shape, entries);
}

HostAnswer read_value(const AnswerShape& shape, const Value& value) {
  if (value.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (value.is_string()) return read_labels(shape, value.as_string());
  if (value.is_array()) return read_list(shape, value);
  return invalid("shape");
}

// One record of an array of answers, as some versions of the tool give them.
HostAnswer read_record(const AnswerShape& shape, const Value& record) {
  if (record.is_string()) return read_labels(shape, record.as_string());
  const Value* typed = first_of(record, {"free_text", "other_text"});
  if (typed && typed->is_string() && !typed->as_string().empty()) return free_text(typed->as_string());
  const Value* value = first_of(record, {"option_label", "label", "user_answer", "choice", "answer"});
  return value ? read_value(shape, *value) : without_answer(HostAnswerKind::kEmpty);
}

const Value* record_for(const Value& list, const AnswerShape& shape) {
  for (const Value& item : list.items()) {
    if (is_about(item, shape)) return &item;
  }
  const bool is_only_one = list.size() == 1 && !list.items().front().find("question");
  return is_only_one ? &list.items().front() : nullptr;
}

HostAnswer read_answers(const AnswerShape& shape, const Value& given) {
  const Value& answers = given["answers"];
  if (answers.is_object()) {
    if (const Value* value = by_question(answers, shape)) return read_value(shape, *value);
    const bool is_only_one = answers.size() == 1 && given["questions"].is_array() && given["questions"].size() == 1;
    return is_only_one ? read_value(shape, answers.members().front().value) : without_answer(HostAnswerKind::kEmpty);
  }
  if (answers.is_array()) {
    const Value* record = record_for(answers, shape);
    return record ? read_record(shape, *record) : without_answer(HostAnswerKind::kEmpty);
  }
  if (!answers.is_null()) return invalid("shape");
  const Value& questions = given["questions"];
  if (!questions.is_array()) return invalid("shape");
  const Value* record = record_for(questions, shape);
  const bool is_answered = record && first_of(*record, {"user_answer", "answer", "choice"});
  return is_answered ? read_record(shape, *record) : without_answer(HostAnswerKind::kEmpty);
}

// Why a question was left without an answer, where the host says so.
std::optional<HostAnswerKind> unanswered(const Value& annotation) {
  const std::string kind = annotation.string_at("unanswered").value_or("");
  if (kind == "skipped") return HostAnswerKind::kSkipped;
  // Whoever writes in the chat instead has closed the dialog, not passed over the question.
  if (kind == "dismissed" || kind == "replied_in_chat") return HostAnswerKind::kDismissed;
  return std::nullopt;
}

}  // namespace

HostAnswer ask_user_question(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_object()) return invalid("shape");
  // The dialog resolved itself while nobody was there: whatever stands in `answers` is not a person's.
  const Value& away = given["afkTimeoutMs"];
  if (!away.is_null()) return without_answer(HostAnswerKind::kTimedOut);
  const Value* annotation = by_question(given["annotations"], shape);
  const std::string response = given.string_at("response").value_or("");
  const auto why = annotation ? unanswered(*annotation) : std::nullopt;
  HostAnswer answer = why ? without_answer(*why) : read_answers(shape, given);
  // Text given instead of a choice outranks the choice: the person had more to say than a label.
  if (!response.empty()) answer = is_utf8(response) ? free_text(response) : invalid("encoding");
  if (annotation) answer.notes = annotation->string_at("notes").value_or("");
  return answer;
}

namespace {

// What one question of Codex was answered with; nothing when it was not.
const Value* codex_answer(const Value& map, const std::string& key) {
  const Value* answer = map.find(key);
  const Value* list = answer && answer->is_object() ? answer->find("answers") : answer;
  const bool is_there = list && !list->is_null() && !(list->is_array() && list->size() == 0);
  return is_there ? list : nullptr;
}

// The yes/no rows as one choice. Every row must be answered: a row left out is neither yes nor no.
HostAnswer read_rows(const AnswerShape& shape, const Value& map) {
  std::vector<const ShownOption*> entries;
  std::size_t answered = 0;
  for (const ShownQuestion& row : shape.questions) {
    const Value* list = codex_answer(map, row.key);
    if (!list) continue;
    const Value& item = list->is_array() ? list->items().front() : *list;
    if (!item.is_string() || (list->is_array() && list->size() != 1)) return invalid("shape");
    const ShownOption* entry = find_shown(row.options, item.as_string());
    if (!entry) return is_utf8(item.as_string()) ? free_text(item.as_string()) : invalid("encoding");
    ++answered;
    if (entry->entry == EntryKind::kOption) entries.push_back(entry);
  }
  if (answered == 0) return without_answer(HostAnswerKind::kEmpty);
  if (answered < shape.questions.size()) return invalid("arity");
  if (entries.empty()) {
    const bool may_be_none = shape.has_none || shape.select.min == 0;
    return may_be_none ? without_answer(HostAnswerKind::kNone) : invalid("arity");
  }
  return chosen(shape, entries);
}

}  // namespace

HostAnswer request_user_input(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_object()) return invalid("shape");
  const Value* inner = given.find("answers");
  const Value& map = inner && inner->is_object() ? *inner : given;
  if (shape.select.mode == SelectMode::kMany) return read_rows(shape, map);
  const Value* list = codex_answer(map, shape.questions.front().key);
  if (!list) return without_answer(HostAnswerKind::kEmpty);
  if (list->is_array() && list->size() == 1) return read_value(shape, list->items().front());
  return read_value(shape, *list);
}

}  // namespace sb::decision::readers
