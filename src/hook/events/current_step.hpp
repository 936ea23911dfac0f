// Finds the open step, if any, that the agent of an event works on.
//
// A conversation whose start_workflow or continue_workflow calls were seen works on the session it used last among
// those still open. One that was never seen to use any may be working on a session that was started elsewhere (in a
// terminal, or before the hooks were installed): the most recently touched one in its folder or a parent folder,
// provided that no conversation or subagent uses it, that it is not unattended, and that it was touched in the last
// twelve hours. So two conversations in one folder do not restrict each other, nor does a subagent the conversation
// that started it, and an abandoned session restricts no one the next day.
#pragma once

#include <optional>
#include <string>

#include "guard/interlock.hpp"
#include "hook/events/event.hpp"
#include "store/store.hpp"

namespace sb::hook {

struct CurrentStep {
  guard::OpenStepChain chain;  // the session's own step first
  bool is_used = false;        // this conversation was seen using it

  const guard::OpenStep& step() const { return chain.front(); }
};

// `folder` is absolute and free of links.
Result<std::optional<CurrentStep>> current_step(store::Snapshot& snapshot, const HookEvent& event,
                                                const std::string& folder, TimestampMs now);

}  // namespace sb::hook
