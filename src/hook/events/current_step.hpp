// Which open step, if any, the agent of an event works on.
//
// A conversation whose calls of start_workflow or continue_workflow were seen works on the session it used last, of
// those that are still open. One that was never seen to use any may be working on a session that was started elsewhere
// (a terminal, before the hooks were there): the one that was touched last in its folder or one around it, provided
// that no other conversation uses it, that it is not an unattended one, and that it was touched in the last twelve
// hours. So two conversations in one folder do not hold each other, and a session left lying holds nobody the next day.
#pragma once

#include <optional>
#include <string>

#include "guard/interlock.hpp"
#include "hook/events/event.hpp"
#include "store/store.hpp"

namespace sb::hook {

struct CurrentStep {
  guard::OpenStepChain chain;  // its step first
  bool is_used = false;        // this conversation was seen to use it

  const guard::OpenStep& step() const { return chain.front(); }
};

// `folder` absolute and without links.
Result<std::optional<CurrentStep>> current_step(store::Snapshot& snapshot, const HookEvent& event,
                                                const std::string& folder, TimestampMs now);

}  // namespace sb::hook
