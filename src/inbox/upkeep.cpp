// Checks every decision against its events, and writes its rows again after a repair of the store.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"
#include "inbox/open_decisions.hpp"

namespace sb::inbox {
namespace {

constexpr int kPage = 500;

Result<std::vector<std::string>> all_decisions(store::Snapshot& snapshot) {
  std::vector<std::string> ids;
  for (std::string after;;) {
    const auto names = SB_TRY(snapshot.streams(kDecisionStreams, after, kPage));
    for (const std::string& name : names) ids.push_back(name.substr(kDecisionStreams.size()));
    if (names.size() < static_cast<std::size_t>(kPage)) return ids;
    after = names.back();
  }
}

Result<std::vector<std::string>> rows_without_events(store::Snapshot& snapshot) {
  std::vector<std::string> ids;
  store::Listing listing{.limit = kPage};
  for (;;) {
    const auto rows = SB_TRY(snapshot.list(kDecisions, listing));
    for (const store::Row& row : rows) {
      if (SB_TRY(snapshot.head(decision_stream(row.key))).seq == 0) ids.push_back(row.key);
    }
    if (rows.size() < static_cast<std::size_t>(kPage)) return ids;
    listing.after = rows.back();
  }
}

}  // namespace

Result<std::int64_t> Inbox::verify(const std::function<void(const DecisionDamage&)>& on_damaged) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::int64_t> {
    const auto ids = SB_TRY(all_decisions(snapshot));
    for (const std::string& id : ids) {
      const auto state = read_state(snapshot, id);
      if (!state && state.error().code != ErrorCode::kCorrupt) return std::unexpected(state.error());
      if (!state) {
        on_damaged({id, state.error().message, false});
        continue;
      }
      const auto row = SB_TRY(snapshot.get(kDecisions, id));
      if (!row) on_damaged({id, "its record is missing: it is in no list", true});
      if (row && *row != decision_row(*state)) on_damaged({id, "its record does not match the events", true});
    }
    for (const std::string& id : SB_TRY(rows_without_events(snapshot))) {
      on_damaged({id, "its events are missing", true});
    }
    return static_cast<std::int64_t>(ids.size());
  });
}

Status Inbox::rebuild(const std::vector<std::string>& ids) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    for (const std::string& id : ids) {
      const auto state = read_state(transaction, id);
      if (!state && state.error().code == ErrorCode::kNotFound) {
        SB_TRY(transaction.remove(kDecisions, id));
        continue;
      }
      if (!state) continue;  // nothing but its events can say what it was
      const store::Row row = decision_row(*state);
      SB_TRY(transaction.put(kDecisions, row.key, row.value, row.sort));
      SB_TRY(index_decision(transaction, *state));
      const auto asked = SB_TRY(transaction.get(kDecisionsAsked, state->opened.fingerprint));
      if (!asked) SB_TRY(transaction.put(kDecisionsAsked, state->opened.fingerprint, id));
    }
    return {};
  });
}

}  // namespace sb::inbox
