// A chain as a pure function: from declaration, state and input to the next state and what to show.
//
//   start → [meta] → child 1 … child N → [conflict]* → final → done
//
// Beside it: on hold (Hold or free text; nothing more is asked until "continue", a named option or "reset"), revise
// one, cut more, narrowing and groups (answers of the meta question), and the ordinary question of options that fit the
// cap.
//
// Every disposition comes from an answer. Hold is none: final is reached only when every option has one, and done only
// by an explicit answer to it (or to the one ordinary question). Nothing is kept here; the caller keeps the state.
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
  ChainEvent event = ChainEvent::kNone;
  Value values = Value::object();      // of kDone: key to include, defer or cut, in declared order
  std::optional<std::string> payload;  // of free text: the bytes as given
  std::string label;                   // of the question that is open or held; empty when none is
  std::string question_id;
  Value waived = Value::array();  // of kDone: [dependant, required] for each pair left broken on purpose
};

// `host_cap` 0: the host sets no limit of its own.
Result<ChainTurn> chain_begin(const ChainModel& model, int host_cap);
// Shows the open question again; a chain on hold goes on with what was held.
ChainTurn chain_resume(const ChainModel& model, ChainState state);
// The state must not have ended.
ChainTurn chain_step(const ChainModel& model, ChainState state, std::string_view input);
// The same with option ids in place of letters. Ids that are not among those shown, or not as many as may be chosen,
// are refused and change nothing.
Result<ChainTurn> chain_answer(const ChainModel& model, ChainState state, const std::vector<std::string>& ids);

// The blob around a state; key and time as for flows.
using ChainBlobContext = FlowBlobContext;
std::string save_chain(const ChainState& state, std::string_view nonce, const ChainBlobContext& context);
// Refuses a state of another or a changed definition, one that has ended, and an expired one.
Result<ChainState> load_chain(const ChainModel& model, std::string_view blob, const ChainBlobContext& context);
Status check_chain_not_expired(const Chain& chain, const ChainBlobContext& context);

// What `split start` and `split step` print: state, output, event, values, payload, label, question_id, waived.
Value to_value(const ChainTurn& turn, std::string_view blob);

}  // namespace sb::decision
