// Maps a host's answer to option ids, using what was shown.
//
// Pure. Only an exact match with what was shown selects; anything else is free text, invalid, or one of six distinct
// non-answers. An empty answer is never consent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "decision/render/answer_shape.hpp"

namespace sb::decision {

enum class HostAnswerKind {
  kSelected,  // option_ids, at least one
  kNone,      // "none of these" on a page of a multi-select question
  kMore,      // the next page was requested: no answer yet
  kFilled,    // fields: a form, or the one member `text`
  kOpened,    // url: consent to open it, not completion
  kFreeText,  // text: recorded, and the decision stays open
  kInvalid,   // reason says why; ask again
  // The six non-answers.
  kDeclined,
  kCancelled,
  kDismissed,
  kSkipped,
  kTimedOut,
  kEmpty,
};

struct HostAnswer {
  HostAnswerKind result = HostAnswerKind::kEmpty;
  std::vector<std::string> option_ids;  // in shown order
  std::string text;
  std::string notes;
  Value fields;
  // For kInvalid: shape, range, duplicate, arity, encoding, near_command, unknown_label, other_brief, or for a form
  // `field: what is wrong`.
  std::string reason;

  bool is_answer() const { return result == HostAnswerKind::kSelected || result == HostAnswerKind::kFilled; }
  bool operator==(const HostAnswer&) const = default;
};

// The host's unmodified output: a tool's response, the result of an elicitation, or the typed line as a string.
HostAnswer parse_answer(const AnswerShape& shape, const Value& host_answer);

std::string_view to_string(
    HostAnswerKind result);  // selected, none, more, filled, opened, free_text, invalid, declined, ...

}  // namespace sb::decision
