// A flow of questions that ends in a confirmation: a pure function from definition, state and input to the next state
// and the output.
//
// Nothing is stored here. The caller keeps the state as an opaque blob (decision/state_blob.hpp) and passes it back
// with the next input; a blob of another or changed definition, and an ended or expired one, is rejected. The same
// arguments give the same bytes on every machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

enum class FlowPhase { kStep, kConfirm, kEditPick, kEdit, kSuspended, kCancelled, kDone };

struct FlowState {
  FlowPhase phase = FlowPhase::kStep;
  FlowPhase suspended_from = FlowPhase::kStep;
  std::size_t step = 0;                   // the current one, in kStep and kEdit
  std::size_t page = 0;                   // of that step's options, or of the edit picker
  std::vector<int> chosen;                // on the earlier pages of a multi-select step
  std::vector<std::vector<int>> answers;  // by step: ordinals over the declared list, empty while open
  int streak = 0;                         // invalid inputs in a row
};

enum class FlowEvent { kNone, kFreeText, kStepAbort, kFlowCancel, kExecute };

struct FlowOutcome {
  FlowState state = {};
  std::string output = {};
  std::string error = {};  // the error line at its beginning, if any
  FlowEvent event = FlowEvent::kNone;
  Value values = Value::object();           // of kExecute: key to id, or to a list of ids in option order
  std::optional<std::string> payload = {};  // of kFreeText: the bytes as given
};

// Shows the first question, or the current question of a suspended or open state.
FlowOutcome flow_begin(const Declaration& declaration);
FlowOutcome flow_resume(const Declaration& declaration, FlowState state);
FlowOutcome flow_step(const Declaration& declaration, FlowState state, std::string_view input);
// The same with the ids of the open prompt's options instead of their numbers.
FlowOutcome flow_answer(const Declaration& declaration, FlowState state, const std::vector<std::string>& ids);

// The output of a live state as a prompt: the question, the confirmation or the edit picker.
Prompt flow_prompt(const Declaration& declaration, const FlowState& state);

// The state as members {phase, from, step, page, chosen, answers, streak}; nothing for a value that is not a state of
// this flow: anyone may have written it.
Value to_value(const FlowState& state);
std::optional<FlowState> flow_state_from(const Declaration& declaration, const Value& value);

// The blob around a state.
struct FlowBlobContext {
  std::optional<std::string> key;
  std::optional<TimestampMs> now;  // compared with `expires:`; absent: not compared
};
std::string save_flow(const Declaration& declaration, const FlowState& state, std::string_view nonce,
                      const FlowBlobContext& context);
// `may_be_suspended`: accepts a suspended state (to resume it) instead of rejecting it as ended.
Result<FlowState> load_flow(const Declaration& declaration, std::string_view blob, const FlowBlobContext& context,
                            bool may_be_suspended);
Status check_not_expired(const std::optional<TimestampMs>& expires, const FlowBlobContext& context);

std::string_view to_string(FlowEvent event);

}  // namespace sb::decision
