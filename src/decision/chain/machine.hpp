// A chain as a pure function: from declaration, state and input to the next state and the output.
//
//   start → [meta] → child 1 … child N → [conflict]* → final → done
//
// In addition: on hold (Hold or free text; nothing more is asked until "continue", a named option or "reset"), revise
// one, cut more, narrowing and groups (answers of the meta question), and the single question for options that fit the
// cap.
//
// Every disposition comes from an answer. Hold is not a disposition: final is reached only when every option has one,
// and done only by an explicit answer to it (or to the single question). Nothing is stored here; the caller keeps the
// state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/chain/state.hpp"
#include "decision/flow/flow.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

enum class ChainEvent { kNone, kHold, kDone, kFlowCancel, kStepAbort };
std::string_view to_string(ChainEvent event);  // HOLD, DONE, FLOW_CANCEL, STEP_ABORT; empty for kNone

struct ChainTurn {
  ChainState state;
  std::string output;  // the question, an error line and the question, or nothing
  std::string error;   // that error line
  ChainEvent event = ChainEvent::kNone;
  Value values = Value::object();      // of kDone: key to include, defer or cut, in declared order
  std::optional<std::string> payload;  // of free text: the bytes as given
  std::string label;                   // of the question that is open or held; empty when none is
  std::string question_id;
  Value waived = Value::array();  // of kDone: [dependant, required] for each waived pair
};

// `host_cap` 0: the host has no limit.
Result<ChainTurn> chain_begin(const ChainModel& model, int host_cap);
// Shows the open question again; a chain on hold resumes with the held question.
ChainTurn chain_resume(const ChainModel& model, ChainState state);
// The state must not have ended.
ChainTurn chain_step(const ChainModel& model, ChainState state, std::string_view input);
// The same with option ids instead of letters. Ids that were not shown, or the wrong number of them, are rejected and
// change nothing.
Result<ChainTurn> chain_answer(const ChainModel& model, ChainState state, const std::vector<std::string>& ids);

// The same chain on a host with another limit: every disposition stays, what is asked next may be divided differently.
ChainState chain_with_cap(const ChainModel& model, ChainState state, int cap);

// Holds the chain at this option, by its key. kInvalid if there is none.
Result<ChainState> chain_hold(const ChainModel& model, ChainState state, std::string_view key);

// The blob around a state; key and time as for flows.
using ChainBlobContext = FlowBlobContext;
std::string save_chain(const ChainState& state, std::string_view nonce, const ChainBlobContext& context);
// Rejects a state of another or changed definition, an ended one, and an expired one.
Result<ChainState> load_chain(const ChainModel& model, std::string_view blob, const ChainBlobContext& context);
Status check_chain_not_expired(const Chain& chain, const ChainBlobContext& context);

// The output of `split start` and `split step`: state, output, event, values, payload, label, question_id, waived.
Value to_value(const ChainTurn& turn, std::string_view blob);

}  // namespace sb::decision
