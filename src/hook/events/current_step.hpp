// Finds the open step, if any, that the agent of an event works on.
//
// A conversation whose start_workflow or continue_workflow calls were seen works on the session it used last among
// those still open. One that was never seen to use any may be working on a session that was started elsewhere (in a
// terminal, or before the hooks were installed): the most recently touched one in its folder or a parent folder,
// provided that no conversation or subagent uses it, that it is not unattended, and that it was touched in the last
// twelve hours. So two conversations in one folder do not restrict each other, nor does a subagent the conversation
// that started it, and an abandoned session restricts no one the next day.
//
// A conversation that was killed never releases its session, and cannot be distinguished from one whose user is away.
// So its session restricts no one else, but is offered to new conversations, which continue it if their user says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "guard/interlock.hpp"
#include "hook/events/event.hpp"
#include "store/store.hpp"

namespace sb::hook {

struct CurrentStep {
  guard::OpenStepChain chain;  // the session's own step first
  bool is_used = false;        // this conversation was seen using it

  const guard::OpenStep& step() const { return chain.front(); }
};

// `folders`: session_folders() of the event's.
Result<std::optional<CurrentStep>> current_step(store::Snapshot& snapshot, const HookEvent& event,
                                                const std::vector<std::string>& folders, TimestampMs now);

struct LeftSession {
  guard::OpenStep step;
  bool has_user = false;      // a conversation that did not release it
  TimestampMs last_seen = 0;  // that conversation, or the session itself
};
// The session to offer to a new conversation: in the nearest folder, the one seen last. Children belong to their
// parents' conversations.
Result<std::optional<LeftSession>> left_session(store::Snapshot& snapshot, const Files& files,
                                                const std::vector<std::string>& folders, TimestampMs now);

}  // namespace sb::hook
