// Sessions below other sessions: how one is attached to the session that starts it, and the check that it was.
#pragma once

#include <string>
#include <string_view>

#include "engine/answer/remedy.hpp"
#include "engine/state/keyring.hpp"
#include "engine/steps/new_session.hpp"
#include "store/store.hpp"

namespace sb::engine {

// Makes it a child of that session. Refused if there is no such session (NOT_FOUND), or if it would be nested too deep
// (kForbidden).
Status attach_to_parent(store::Snapshot& snapshot, NewSession& new_session, const std::string& parent, Surface surface);

// Sessions::check_lineage.
Status check_lineage(store::Snapshot& snapshot, const Keyring& keys, std::string_view session);

}  // namespace sb::engine
