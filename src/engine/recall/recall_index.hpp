// The tag index of the sessions in progress, for finding one among many. Those that a run drives are not in it.
//
// An advance does not touch it; a search first indexes what has changed since the last one, oldest first, so
// that the newest session has the newest document. Row `recall`/`mark`: {position, [until, after]}: sessions are
// indexed as of the event at `position`; while a longer pass is under way, it goes up to `until` and has come to
// `after`. A pass that is killed is continued by the next search.
//
// Thread safety: that of the store.
#pragma once

#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

// Indexes what has changed, a few hundred sessions per transaction.
Status refresh_recall_index(store::Store& store);
// The next search indexes everything again: rows of the index may be missing.
Status forget_recall_index(store::Transaction& transaction);
// For a session that did not change now: an imported one.
Status index_session(store::Transaction& transaction, const Summary& summary);

}  // namespace sb::engine
