#include "decision/render/host_answer.hpp"

#include <algorithm>

#include "decision/render/readers.hpp"

namespace sb::decision {

HostAnswer parse_answer(const AnswerShape& shape, const Value& host_answer) {
  switch (shape.host) {
    case Host::kText:
      return readers::text(shape, host_answer);
    case Host::kBrief:
      return readers::brief(shape, host_answer);
    case Host::kAskUserQuestion:
      return readers::ask_user_question(shape, host_answer);
    case Host::kRequestUserInput:
      return readers::request_user_input(shape, host_answer);
    case Host::kElicitation:
      return readers::elicitation(shape, host_answer);
  }
  return readers::invalid("shape");
}

std::string_view to_string(HostResult result) {
  switch (result) {
    case HostResult::kSelected:
      return "selected";
    case HostResult::kNone:
      return "none";
    case HostResult::kMore:
      return "more";
    case HostResult::kFilled:
      return "filled";
    case HostResult::kOpened:
      return "opened";
    case HostResult::kFreeText:
      return "free_text";
    case HostResult::kInvalid:
      return "invalid";
    case HostResult::kDeclined:
      return "declined";
    case HostResult::kCancelled:
      return "cancelled";
    case HostResult::kDismissed:
      return "dismissed";
    case HostResult::kSkipped:
      return "skipped";
    case HostResult::kTimedOut:
      return "timed_out";
    case HostResult::kEmpty:
      return "empty";
  }
  return "";
}

namespace readers {

HostAnswer without_answer(HostResult result) {
  HostAnswer answer;
  answer.result = result;
  return answer;
}

HostAnswer invalid(std::string reason) {
  HostAnswer answer = without_answer(HostResult::kInvalid);
  answer.reason = std::move(reason);
  return answer;
}

HostAnswer free_text(std::string text) {
  HostAnswer answer = without_answer(HostResult::kFreeText);
  answer.text = std::move(text);
  return answer;
}

HostAnswer chosen(const AnswerShape& shape, const std::vector<const ShownOption*>& entries) {
  if (entries.empty()) return without_answer(HostResult::kEmpty);
  const auto is_own = [](const ShownOption* entry) { return entry->entry != Entry::kOption; };
  if (std::ranges::any_of(entries, is_own)) {
    if (entries.size() > 1) return invalid("arity");
    const Entry entry = entries.front()->entry;
    if (entry == Entry::kMore) return without_answer(HostResult::kMore);
    return without_answer(entry == Entry::kNone ? HostResult::kNone : HostResult::kEmpty);
  }
  const int count = static_cast<int>(entries.size());
  const bool is_many = shape.select.mode == SelectMode::kMany;
  if (is_many ? count < shape.select.min || count > shape.select.max : count != 1) return invalid("arity");
  HostAnswer answer = without_answer(HostResult::kSelected);
  for (const ShownOption* entry : entries) answer.option_ids.push_back(entry->id);
  return answer;
}

}  // namespace readers
}  // namespace sb::decision
