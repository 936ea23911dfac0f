// Checks every event and blob of a database whose structure is sound, and removes what is damaged.
#pragma once

#include <map>
#include <string>

#include "store/repair/repair.hpp"
#include "store/sqlite/connection.hpp"

namespace sb::store::repair {

// The number of the last event of each stream, as far as it is known from elsewhere.
using KnownHeads = std::map<std::string, std::int64_t>;

// Cuts each stream before its first event that is damaged or missing, sets its head, and removes blobs whose bytes do
// not match their hash. Runs in one transaction. `has_heads`: false for rows copied into an empty store.
Status fix_chains(sqlite::Connection& connection, const KnownHeads& known, bool has_heads, RepairReport& report);

}  // namespace sb::store::repair
