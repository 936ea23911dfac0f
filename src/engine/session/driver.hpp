// Sessions that a run drives: only its workers continue them, or see the step they are at.
//
// Another agent that continued one would answer for the run's agent, whose role, isolation and gates it does not have.
// A person takes such a session from its run first (`signalbox session take-over`); what is below it is then theirs
// too.
#pragma once

#include "engine/answer/remedy.hpp"
#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

// kForbidden unless `surface` may continue the session. Reads nothing if no run drives it.
Status check_driver(store::Snapshot& snapshot, const Summary& summary, Surface surface);

}  // namespace sb::engine
