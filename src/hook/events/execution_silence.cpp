#include "hook/events/execution_silence.hpp"

#include "base/document/document.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/events/turn_note.hpp"
#include "hook/install/stop_projects.hpp"
#include "inbox/home.hpp"

namespace sb::hook {
namespace {

using decision::WalkTurn;

Result<bool> is_checked(const HookEvent& event, const HomeDirectories& homes, const Seams& seams) {
  return is_stop_enabled(seams.files, homes, SB_TRY(folder_of(event, seams)));
}

Status end_silence(const HookEvent& event, const Seams& seams) {
  TurnNote(seams.files, SB_TRY(sb::homes(seams.environment)), kAnswered, event).drop();
  return {};
}

// The decision in a result of the tool `ask`: a line of JSON among its texts. Empty if there is none.
std::string decision_in(const Value& result) {
  std::string id;
  if (result.is_string()) {
    const auto line = parse_json(result.as_string());
    if (line && (line->is_object() || line->is_array())) return decision_in(*line);
  } else if (result.is_array()) {
    for (const Value& item : result.items()) {
      if (std::string found = decision_in(item); !found.empty()) id = std::move(found);
    }
  } else if (result.is_object()) {
    if (const auto own = result.string_at("decision")) return *own;
    for (const Value::Member& member : result.members()) {
      if (std::string found = decision_in(member.value); !found.empty()) id = std::move(found);
    }
  }
  return id;
}

}  // namespace

Status begin_silence(const HookEvent& event, std::string_view profile, const Seams& seams) {
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  if (!SB_TRY(is_checked(event, homes, seams))) return {};
  return TurnNote(seams.files, homes, kAnswered, event).keep(profile);
}

Status follow_turn(const HookEvent& event, const WalkTurn& turn, std::string_view profile, const Seams& seams) {
  if (turn.kind == WalkTurn::Kind::kHeld) return end_silence(event, seams);
  const bool is_next = turn.kind == WalkTurn::Kind::kAsk && !turn.is_same;
  return is_next || turn.kind == WalkTurn::Kind::kAnswered ? begin_silence(event, profile, seams) : Status();
}

Result<std::string> after_ask(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  if (!SB_TRY(is_checked(event, SB_TRY(sb::homes(seams.environment)), seams))) return "";
  const std::string id = decision_in(event.tool_response);
  const auto home = id.empty() ? nullptr : SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return "";
  const auto state = home->store().read([&](store::Snapshot& snapshot) { return home->inbox().peek_in(snapshot, id); });
  if (!state)
    return state.error().code == ErrorCode::kNotFound ? Result<std::string>("") : std::unexpected(state.error());
  if (state->is_answered()) SB_TRY(begin_silence(event, profile_of(*state), seams));
  if (state->is_open() && state->position["held"] == Value(true)) SB_TRY(end_silence(event, seams));
  return "";
}

}  // namespace sb::hook
