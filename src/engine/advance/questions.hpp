// The questions a session asks people, and what their answers are stored as. Pure.
//
// All are declarations (decision/declaration/declaration.hpp) under the profile `workflow`: `interaction` without word
// limits and with a context section, because people must see what they judge. Question ids contain step, node and
// attempt, so no two branches share a question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decision/declaration/declaration.hpp"
#include "engine/state/session_node.hpp"
#include "inbox/decision_state.hpp"

namespace sb::engine {

// What an attempt delivered.
struct AttemptOutput {
  std::string notes;
  std::vector<Value> artifacts;
  Value context_set;  // null as a value: the key is removed
};

inline constexpr std::string_view kApprove = "approve";
inline constexpr std::string_view kReject = "reject";
inline constexpr std::string_view kRetry = "again";
inline constexpr std::string_view kStop = "stop";
inline constexpr std::string_view kContinueAnyway = "go-on";

// Approve or reject the step's delivery. Shows notes, artifacts and the context keys it sets; the question's digest
// covers them. `needs_signature`: for a human_approval gate. `reason`: why a person is asked instead of the evaluator.
Checked<decision::Declaration> gate_question(const SessionNode& asked, const AttemptOutput& delivered,
                                             bool needs_signature, std::string_view reason);
// `sha256:…` of {notes, artifacts, context} as canonical JSON.
std::string delivery_digest(const AttemptOutput& delivered);
// Retry or stop, after too many refused attempts or rejections.
Checked<decision::Declaration> breaker_question(const SessionNode& asked, std::string_view what_happened);
// Continue or stop, when too few children succeeded.
Checked<decision::Declaration> quorum_question(const SessionNode& asked, std::string_view what_happened);
// The question of a decision step; its options come from the context if it says so. Faults name the context key.
// `is_author_trusted`: `safe` and `door: two-way` in the workflow's file count.
Checked<decision::Declaration> step_question(const SessionNode& asked, const Value& context, bool is_author_trusted);

// Whether the file of a decision step says that something is less dangerous than its words.
bool claims_safety(const SessionNode& asked);

// The declaration an open question was made from, for display; none if this version would read it differently.
std::optional<decision::Declaration> declaration_of(const inbox::OpenedDecision& opened);

// How the answer to a decision step is stored: the chosen item (its `value`, else its id, else the text itself), a list
// of items for a multiple choice, the text, or the form's values.
Value chosen_value(const workflow::DecisionStep& step, const Value& context, const inbox::DecisionOutcome& outcome);

}  // namespace sb::engine
