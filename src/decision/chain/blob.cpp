// The state of a chain as text, and a turn as printed by the commands.
#include "decision/chain/machine.hpp"
#include "decision/state_blob.hpp"

namespace sb::decision {

Status check_chain_not_expired(const Chain& chain, const ChainBlobContext& context) {
  if (chain.expires && context.now && *context.now >= *chain.expires) {
    return fail(ErrorCode::kInvalid, "this expired at " + to_rfc3339(*chain.expires),
                "Start again from a definition that is still valid");
  }
  return {};
}

std::string save_chain(const ChainState& state, std::string_view nonce, const ChainBlobContext& context) {
  ChainState stamped = state;
  stamped.nonce = nonce;
  return seal_state(to_value(stamped), context.key);
}

Result<ChainState> load_chain(const ChainModel& model, std::string_view blob, const ChainBlobContext& context) {
  const Value value = SB_TRY(open_state(blob, context.key));
  ChainState state = SB_TRY(chain_state_from(value, model));
  SB_TRY(check_chain_not_expired(model.chain, context));
  if (state.end != ChainEnd::kNo) return fail(ErrorCode::kInvalid, "the chain has ended", "Start it again");
  return state;
}

Value to_value(const ChainTurn& turn, std::string_view blob) {
  const bool has_question = !turn.label.empty();
  return Value::object({{"state", blob},
                        {"output", turn.output},
                        {"event", turn.event == ChainEvent::kNone ? Value() : Value(to_string(turn.event))},
                        {"values", turn.values},
                        {"payload", turn.payload ? Value(*turn.payload) : Value()},
                        {"label", has_question ? Value(turn.label) : Value()},
                        {"question_id", has_question ? Value(turn.question_id) : Value()},
                        {"waived", turn.waived}});
}

}  // namespace sb::decision
