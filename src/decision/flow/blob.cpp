// The state of a flow as text. The payload inside the blob is
//   {"v":1, "kind":"flow", "flow":ID, "def":HASH, "locale":L, "phase":P, "from":P, "step":I, "page":I, "chosen":[...],
//    "answers":[[ordinals]...], "streak":K, "nonce":N, "expires":MS}
// with answers by step; trailing unanswered steps are omitted.
#include <fmt/format.h>

#include <array>

#include "base/assert.hpp"
#include "decision/flow/flow.hpp"
#include "decision/state_blob.hpp"

namespace sb::decision {
namespace {

constexpr std::array<std::string_view, 7> kFlowPhases = {"step",      "confirm",   "edit_pick", "edit",
                                                         "suspended", "cancelled", "done"};

std::string_view name_of(FlowPhase phase) {
  return kFlowPhases[static_cast<std::size_t>(phase)];
}

std::optional<FlowPhase> phase_of(const Value& name) {
  for (std::size_t i = 0; name.is_string() && i < kFlowPhases.size(); ++i) {
    if (kFlowPhases[i] == name.as_string()) return static_cast<FlowPhase>(i);
  }
  return std::nullopt;
}

std::unexpected<Error> not_ours() {
  return fail(ErrorCode::kInvalid, "the state does not match this definition",
              "Pass the state exactly as printed by the last call");
}

std::optional<std::int64_t> number_in(const Value& value, std::int64_t below) {
  if (!value.is_integer() || value.as_integer() < 0 || value.as_integer() >= below) return std::nullopt;
  return value.as_integer();
}

std::optional<std::vector<int>> ordinals_in(const Value& list, std::size_t option_count) {
  if (!list.is_array()) return std::nullopt;
  std::vector<int> ordinals;
  for (const Value& item : list.items()) {
    const auto ordinal = number_in(item, static_cast<std::int64_t>(option_count) + 1);
    if (!ordinal || *ordinal == 0) return std::nullopt;
    ordinals.push_back(static_cast<int>(*ordinal));
  }
  return ordinals;
}

}  // namespace

// Anyone can write an unauthenticated blob, so every number is checked before it is used as an index.
std::optional<FlowState> flow_state_from(const Declaration& declaration, const Value& value) {
  const Flow& flow = *declaration.flow();
  FlowState state;
  const auto phase = phase_of(value["phase"]), from = phase_of(value["from"]);
  const auto step = number_in(value["step"], static_cast<std::int64_t>(flow.steps.size()));
  const auto page = number_in(value["page"], 10'000);
  const auto streak = number_in(value["streak"], 1'000);
  if (!phase || !from || !step || !page || !streak || !value["answers"].is_array()) return std::nullopt;
  state.phase = *phase;
  state.suspended_from = *from;
  state.step = static_cast<std::size_t>(*step);
  state.page = static_cast<std::size_t>(*page);
  state.streak = static_cast<int>(*streak);
  const auto& answers = value["answers"].items();
  if (answers.size() > flow.steps.size()) return std::nullopt;
  state.answers.resize(flow.steps.size());
  bool is_complete = answers.size() == flow.steps.size();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto ordinals = ordinals_in(answers[i], flow.steps[i].decision.options.size());
    if (!ordinals) return std::nullopt;
    is_complete &= !ordinals->empty();
    state.answers[i] = std::move(*ordinals);
  }
  auto chosen = ordinals_in(value["chosen"], flow.steps[state.step].decision.options.size());
  if (!chosen) return std::nullopt;
  state.chosen = std::move(*chosen);
  const FlowPhase live = state.phase == FlowPhase::kSuspended ? state.suspended_from : state.phase;
  if (live == FlowPhase::kSuspended) return std::nullopt;
  const bool needs_all = live == FlowPhase::kConfirm || live == FlowPhase::kEditPick || live == FlowPhase::kEdit;
  if (needs_all && !is_complete) return std::nullopt;
  if (live == FlowPhase::kStep || live == FlowPhase::kEdit) {
    if (live == FlowPhase::kStep && !state.answers[state.step].empty()) return std::nullopt;
    const auto pages = prompts_of(flow.steps[state.step].decision, declaration.profile, "");
    if (state.page >= pages.size()) return std::nullopt;
  } else if (live == FlowPhase::kEditPick) {
    const auto pages = paginate(flow.steps.size(), static_cast<std::size_t>(declaration.profile.max_options), false);
    if (state.page >= pages.size()) return std::nullopt;
  }
  return state;
}

Value to_value(const FlowState& state) {
  Value chosen = Value::array(), answers = Value::array();
  for (const int ordinal : state.chosen) chosen.push_back(ordinal);
  std::size_t count = state.answers.size();
  while (count > 0 && state.answers[count - 1].empty()) --count;
  for (std::size_t i = 0; i < count; ++i) {
    Value ordinals = Value::array();
    for (const int ordinal : state.answers[i]) ordinals.push_back(ordinal);
    answers.push_back(std::move(ordinals));
  }
  return Value::object({{"phase", name_of(state.phase)},
                        {"from", name_of(state.suspended_from)},
                        {"step", static_cast<long>(state.step)},
                        {"page", static_cast<long>(state.page)},
                        {"chosen", std::move(chosen)},
                        {"answers", std::move(answers)},
                        {"streak", state.streak}});
}

Status check_not_expired(const std::optional<TimestampMs>& expires, const FlowBlobContext& context) {
  if (expires && context.now && *context.now >= *expires) {
    return fail(ErrorCode::kInvalid, fmt::format("this expired at {}", to_rfc3339(*expires)),
                "Start again from a definition that is still valid");
  }
  return {};
}

std::string save_flow(const Declaration& declaration, const FlowState& state, std::string_view nonce,
                      const FlowBlobContext& context) {
  const Flow& flow = *declaration.flow();
  Value blob = Value::object(
      {{"v", 1}, {"kind", "flow"}, {"flow", flow.id}, {"def", declaration.hash}, {"locale", flow.locale}});
  const Value members = to_value(state);
  for (const Value::Member& member : members.members()) blob.set(member.name, member.value);
  blob.set("nonce", nonce);
  blob.set("expires", flow.expires ? Value(static_cast<long>(*flow.expires)) : Value());
  return seal_state(blob, context.key);
}

Result<FlowState> load_flow(const Declaration& declaration, std::string_view blob, const FlowBlobContext& context,
                            bool may_be_suspended) {
  const Value value = SB_TRY(open_state(blob, context.key));
  if (!value["v"].is_integer() || value["v"].as_integer() != 1) {
    return fail(ErrorCode::kUnsupported, "the state was written by another version", "Start again");
  }
  if (value.string_at("kind") != "flow" || value.string_at("flow") != declaration.flow()->id) {
    return fail(ErrorCode::kInvalid, "the state belongs to another definition",
                "Use the definition it was started with");
  }
  if (value.string_at("def") != declaration.hash) {
    return fail(ErrorCode::kInvalid, "the definition has changed since this state was written",
                "Start again, or restore the definition");
  }
  SB_TRY(check_not_expired(declaration.flow()->expires, context));
  auto state = flow_state_from(declaration, value);
  if (!state) return not_ours();
  const bool is_ended = state->phase == FlowPhase::kCancelled || state->phase == FlowPhase::kDone;
  if (is_ended || (state->phase == FlowPhase::kSuspended && !may_be_suspended)) {
    return fail(ErrorCode::kInvalid,
                state->phase == FlowPhase::kSuspended ? "the flow is suspended" : "the flow has ended",
                state->phase == FlowPhase::kSuspended ? "Resume it: signalbox flow start --def F --state BLOB"
                                                      : "Start it again");
  }
  return std::move(*state);
}

}  // namespace sb::decision
