// The index of the decisions that can be answered, in the order of their urgency.
//
// Collection `decisions-open`: key FOLDER/ID, where FOLDER is the beginning of the hash of the workspace; sort key
// DEADLINE/WAITS/TIME/ID. So the most urgent comes first: the soonest deadline, then what a session or a run waits for,
// then the oldest. A parked decision has no deadline any more. The value is {session, acts, held}: acts if its deadline
// will have an effect, held if it is a chain on hold. Homes of older versions have no index, or one without `held`,
// until the row `decisions-open` of `counters` is 2.
//
// Only an index: what it lists is read and checked like any other decision.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inbox/decision_state.hpp"
#include "store/store.hpp"

namespace sb::inbox {

// Adds, moves or removes the decision.
Status index_decision(store::Transaction& transaction, const DecisionState& state);
// Its row; nothing if it cannot be answered.
std::optional<store::Row> open_decision_row(const DecisionState& state);
// Every row, by decision. One that is there twice or more was moved by damage.
Result<std::multimap<std::string, store::Row>> open_decision_rows(store::Snapshot& snapshot);

Result<bool> has_open_index(store::Snapshot& snapshot);
Status mark_open_index(store::Transaction& transaction);
// The next listing makes it again: rows of it may be missing.
Status forget_open_index(store::Transaction& transaction);

std::string decision_of(const store::Row& row);
std::string session_of(const store::Row& row);
// Ids, at most `limit`, of decisions whose deadline has an effect that is not recorded yet.
Result<std::vector<std::string>> due_decisions(store::Snapshot& snapshot, TimestampMs now, std::size_t limit);
// Those on hold that were asked in one of these folders.
Result<std::vector<std::string>> held_in(store::Snapshot& snapshot, std::span<const std::string> folders);
// How many were asked in one of these folders.
Result<std::int64_t> count_open_in(store::Snapshot& snapshot, std::span<const std::string> folders);

}  // namespace sb::inbox
