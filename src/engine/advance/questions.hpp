// The questions a session puts to people, and what their answers become. Pure.
//
// All are declarations of decision/declaration/declaration.hpp under the profile `workflow`: that of `interaction`
// without its word limits and with a section for context, since what is judged must be shown. Their ids name step, node
// and attempt, so that no two branches share a question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decision/declaration/declaration.hpp"
#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "inbox/decision_state.hpp"

namespace sb::engine {

// Where a question comes up.
struct QuestionContext {
  const Program& program;
  const Summary& summary;
  const Node& node;
};

// What an attempt delivered.
struct AttemptOutput {
  std::string notes;
  std::vector<Value> artifacts;
  std::vector<std::string> hashes;
  Value context_set;  // null as a value: the key is removed
};

inline constexpr std::string_view kApprove = "approve";
inline constexpr std::string_view kReject = "reject";
inline constexpr std::string_view kRetry = "again";
inline constexpr std::string_view kStop = "stop";
inline constexpr std::string_view kContinueAnyway = "go-on";

// approve or reject what the step delivered: notes, artifacts and the context keys it sets are shown, and bound by the
// question's digest. `needs_signature`: of a human_approval gate. `reason`: why a person is asked now, where an
// evaluator was.
Checked<decision::Declaration> gate_question(const QuestionContext& asked, const AttemptOutput& delivered,
                                             bool needs_signature, std::string_view reason);
// `sha256:…` of {notes, artifacts, context} as canonical JSON.
std::string delivery_digest(const AttemptOutput& delivered);
// again or stop, after too many refused attempts or rejections.
Checked<decision::Declaration> breaker_question(const QuestionContext& asked, std::string_view what_happened);
// go-on or stop, when too few children ended well.
Checked<decision::Declaration> quorum_question(const QuestionContext& asked, std::string_view what_happened);
// Of a decision step; its options from the context where it says so. Faults name the context's key.
Checked<decision::Declaration> step_question(const QuestionContext& asked, const Value& context);

// The declaration an asked question came from, to show it by; nothing where this version would read it otherwise.
std::optional<decision::Declaration> declaration_of(const inbox::OpenedDecision& opened);

// What the answer to a decision step is kept as: the chosen item (its `value`, else its id, else the text itself) for
// one, a list of them for many, the text, or the form's values.
Value chosen_value(const workflow::DecisionStep& step, const Value& context, const inbox::DecisionOutcome& outcome);

}  // namespace sb::engine
