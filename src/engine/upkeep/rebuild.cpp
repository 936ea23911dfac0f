// Makes sessions fit the events that a repair of the store has left: rows are written again from the events, and an
// advance that was cut in the middle is undone.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/state/child_rows.hpp"
#include "engine/state/rows.hpp"
#include "engine/upkeep/session_rows.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {
namespace {

constexpr std::int64_t kMostUndone = 1'000;  // events of one advance

Result<std::vector<store::Event>> all_events(store::Snapshot& snapshot, const std::string& stream) {
  std::vector<store::Event> all;
  for (;;) {
    auto page = SB_TRY(snapshot.events(stream, static_cast<std::int64_t>(all.size()) + 1, limits::kStorePageRows));
    std::ranges::move(page, std::back_inserter(all));
    if (page.size() < static_cast<std::size_t>(limits::kStorePageRows)) return all;
  }
}

Status cut_stream(store::Transaction& transaction, const std::string& stream, std::span<const store::Event> kept) {
  SB_TRY(transaction.remove_stream(stream));
  store::Head head;
  for (const store::Event& event : kept) {
    const store::NewEvent again{event.type, event.time_ms, event.payload};
    head = SB_TRY(transaction.append(stream, head, std::span(&again, 1)));
  }
  return {};
}

Status write_rows_again(store::Transaction& transaction, const SessionState& state) {
  const Summary& summary = state.summary;
  SB_TRY(remove_session_rows(transaction, kNodes, summary.id));
  SB_TRY(remove_session_rows(transaction, kAttempts, summary.id));
  SB_TRY(write_session_rows(transaction, state));
  if (!summary.parent_session.empty()) SB_TRY(record_child(transaction, summary.parent_session, summary.id));
  const std::string key = guard::open_step_key(summary.workspace, summary.id);
  const auto tip = state.nodes.find(summary.tip);
  if (tip == state.nodes.end() || summary.workspace.empty()) return transaction.remove(guard::kOpenSteps, key);
  // The new token comes when the session is resumed; until then the row still says what the step forbids.
  const auto open = expected_open_step(transaction, summary, tip->second);
  if (!open || !*open) return transaction.remove(guard::kOpenSteps, key);
  return transaction.put(guard::kOpenSteps, key, guard::to_row(**open));
}

// Nothing if the session is gone.
Result<std::optional<RebuiltSession>> rebuild_in(store::Transaction& transaction, const std::string& id) {
  const std::string stream = session_stream(id);
  const std::vector<store::Event> events = SB_TRY(all_events(transaction, stream));
  RebuiltSession rebuilt{.session = id, .events = static_cast<std::int64_t>(events.size())};
  for (std::size_t kept = events.size(); kept > 0; --kept) {
    if (static_cast<std::int64_t>(events.size() - kept) > kMostUndone) break;
    const SessionState state = SB_TRY(replay(std::span(events).first(kept)));
    if (!is_between_advances(state)) continue;
    if (kept < events.size()) SB_TRY(cut_stream(transaction, stream, std::span(events).first(kept)));
    SB_TRY(write_rows_again(transaction, state));
    rebuilt.undone = static_cast<std::int64_t>(events.size() - kept);
    rebuilt.events = static_cast<std::int64_t>(kept);
    rebuilt.step = step_name(state.summary);
    rebuilt.goal = state.summary.goal;
    return rebuilt;
  }
  return std::nullopt;
}

}  // namespace

std::string step_name(const Summary& summary) {
  return summary.step_title.empty() ? summary.step_id : summary.step_title;
}

Result<std::vector<RebuiltSession>> rebuild_sessions(store::Store& store) {
  std::vector<std::pair<std::string, std::vector<Damage>>> damaged;
  const auto note = [&](const std::string& id, const std::vector<Damage>& damages) {
    damaged.emplace_back(id, damages);
  };
  SB_TRY(verify_sessions(store, note, nullptr));
  std::vector<RebuiltSession> all;
  for (const auto& [id, damages] : damaged) {
    auto rebuilt = store.write([&](store::Transaction& transaction) { return rebuild_in(transaction, id); });
    if (!rebuilt && rebuilt.error().code != ErrorCode::kCorrupt) return std::unexpected(rebuilt.error());
    if (rebuilt && !*rebuilt) {
      SB_TRY(remove_session(store, id));
      all.push_back({.session = id, .is_gone = true, .has_changed = true});
      continue;
    }
    RebuiltSession one = rebuilt ? **rebuilt : RebuiltSession{.session = id};
    one.left = SB_TRY(verify_session(store, id));
    one.has_changed = one.undone > 0 || one.left.size() != damages.size();
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sb::engine
