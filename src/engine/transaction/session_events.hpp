// A session's events read back one by one, by the numbers that its rows hold. The store checks their chain.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/advance/questions.hpp"
#include "store/store.hpp"

namespace sb::engine {

// kUnsupported if a newer version wrote the newest event. Whatever is read from rows calls it, because rows do not say.
Status check_newest_event(store::Snapshot& snapshot, std::string_view session);

// kCorrupt if it is missing or of another type.
Result<Value> read_event(store::Snapshot& snapshot, std::string_view session, std::int64_t seq, std::string_view type);

// What an attempt delivered; `seq` is its Attempt::output_seq. Empty for 0.
Result<AttemptOutput> read_output(store::Snapshot& snapshot, std::string_view session, std::int64_t seq);

// Only its notes.
Result<std::string> read_notes(store::Snapshot& snapshot, std::string_view session, std::int64_t seq);

}  // namespace sb::engine
