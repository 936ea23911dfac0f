#include "decision/render/host_answer.hpp"

#include <algorithm>

#include "decision/render/readers.hpp"

namespace sb::decision {

HostAnswer parse_answer(const AnswerShape& shape, const Value& host_answer) {
  return shape.host->read(shape, host_answer);
}

std::string_view to_string(HostAnswerKind result) {
  switch (result) {
    case HostAnswerKind::kSelected:
      return "selected";
    case HostAnswerKind::kNone:
      return "none";
    case HostAnswerKind::kMore:
      return "more";
    case HostAnswerKind::kFilled:
      return "filled";
    case HostAnswerKind::kOpened:
      return "opened";
    case HostAnswerKind::kFreeText:
      return "free_text";
    case HostAnswerKind::kInvalid:
      return "invalid";
    case HostAnswerKind::kDeclined:
      return "declined";
    case HostAnswerKind::kCancelled:
      return "cancelled";
    case HostAnswerKind::kDismissed:
      return "dismissed";
    case HostAnswerKind::kSkipped:
      return "skipped";
    case HostAnswerKind::kTimedOut:
      return "timed_out";
    case HostAnswerKind::kEmpty:
      return "empty";
  }
  return "";
}

namespace readers {

HostAnswer without_answer(HostAnswerKind result) {
  HostAnswer answer;
  answer.result = result;
  return answer;
}

HostAnswer invalid(std::string reason) {
  HostAnswer answer = without_answer(HostAnswerKind::kInvalid);
  answer.reason = std::move(reason);
  return answer;
}

HostAnswer free_text(std::string text) {
  HostAnswer answer = without_answer(HostAnswerKind::kFreeText);
  answer.text = std::move(text);
  return answer;
}

HostAnswer chosen(const AnswerShape& shape, const std::vector<const ShownOption*>& entries) {
  if (entries.empty()) return without_answer(HostAnswerKind::kEmpty);
  const auto is_own = [](const ShownOption* entry) { return entry->entry != EntryKind::kOption; };
  if (std::ranges::any_of(entries, is_own)) {
    if (entries.size() > 1) return invalid("arity");
    const EntryKind entry = entries.front()->entry;
    if (entry == EntryKind::kMore) return without_answer(HostAnswerKind::kMore);
    return without_answer(entry == EntryKind::kNone ? HostAnswerKind::kNone : HostAnswerKind::kEmpty);
  }
  const int count = static_cast<int>(entries.size());
  const bool is_many = shape.select.mode == SelectMode::kMany;
  if (is_many ? count < shape.select.min || count > shape.select.max : count != 1) return invalid("arity");
  HostAnswer answer = without_answer(HostAnswerKind::kSelected);
  for (const ShownOption* entry : entries) answer.option_ids.push_back(entry->id);
  return answer;
}

}  // namespace readers
}  // namespace sb::decision
