// Checks every decision against its events, and writes its rows again after a repair of the store.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"
#include "inbox/open_decisions.hpp"
#include "store/paging.hpp"

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
  SB_TRY(store::each_row(snapshot, kDecisions, {}, [&](const store::Row& row) -> Status {
    if (SB_TRY(snapshot.head(decision_stream(row.key))).seq == 0) ids.push_back(row.key);
    return {};
  }));
  return ids;
}

// What is wrong with the rows of the open index for this decision; empty: nothing.
std::string index_damage(const std::multimap<std::string, store::Row>& index, const DecisionState& state) {
  const auto expected = open_decision_row(state);
  const auto [first, last] = index.equal_range(state.id);
  if (!expected) return first == last ? "" : "it is closed, but listed as open";
  if (first == last) return "it is open, but in no list of open decisions";
  return std::next(first) == last && first->second == *expected ? ""
                                                                : "its entry in the list of open decisions is wrong";
}

}  // namespace

Result<std::int64_t> Inbox::verify(const std::function<void(const DecisionDamage&)>& on_damaged) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::int64_t> {
    const auto ids = SB_TRY(all_decisions(snapshot));
    const bool has_index = SB_TRY(has_open_index(snapshot));
    const auto index = has_index ? SB_TRY(open_decision_rows(snapshot)) : std::multimap<std::string, store::Row>();
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
      const std::string wrong = has_index ? index_damage(index, *state) : "";
      if (row && !wrong.empty()) on_damaged({id, wrong, true});
    }
    std::set<std::string> gone;
    for (const std::string& id : SB_TRY(rows_without_events(snapshot))) gone.insert(id);
    for (const auto& [id, row] : index) {
      if (SB_TRY(snapshot.head(decision_stream(id))).seq == 0) gone.insert(id);
    }
    for (const std::string& id : gone) on_damaged({id, "its events are missing", true});
    return static_cast<std::int64_t>(ids.size());
  });
}

Status Inbox::rebuild(const std::vector<std::string>& ids) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    const auto index = SB_TRY(open_decision_rows(transaction));
    for (const std::string& id : ids) {
      const auto [first, last] = index.equal_range(id);
      for (auto each = first; each != last; ++each) SB_TRY(transaction.remove(kOpenDecisions, each->second.key));
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
