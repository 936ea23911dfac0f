// Which conversation of an agent host works on which sessions, as its hooks have seen it, and what it was told. So two
// conversations in one folder do not hold each other back, and nobody is told the same news twice.
//
// Collection `host-sessions`, key the first 32 hex digits of the SHA-256 of the host's id for the conversation, and for
// a helper inside it `/` and the same of the helper's id; sort key the time. Value, JSON: {v: 1, at, sessions:
// [{session, workspace}…] (last used first), told: [decision ids…]}. Collection `session-hosts`, key the session's id,
// value the key of the conversation that used it last. Rows nobody has touched for a month are dropped by whoever
// writes one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "store/store.hpp"

namespace sb::guard {

struct HostSession {
  struct SessionUse {
    std::string session, workspace;
    bool operator==(const SessionUse&) const = default;
  };
  std::vector<SessionUse> sessions;
  std::vector<std::string> notified;
  TimestampMs at = 0;
};

// Empty for no id. `helper` may be empty.
std::string host_key(std::string_view conversation, std::string_view subagent);

Result<HostSession> read_host_session(store::Snapshot& snapshot,
                                      std::string_view key);  // an empty one when there is none
// Who used the session last; empty when nobody is known to.
Result<std::string> last_user_of(store::Snapshot& snapshot, std::string_view session);

// Whether using it changes anything that is written.
bool is_latest(const HostSession& host, const HostSession::SessionUse& used);
Status record_use(store::Transaction& transaction, std::string_view conversation, std::string_view subagent,
                  const HostSession::SessionUse& used, TimestampMs now);
Status record_notified(store::Transaction& transaction, std::string_view conversation, std::string_view decision,
                       TimestampMs now);
// The conversation is over: what it used is anybody's. It is still known, should it be taken up again.
Status record_ended(store::Transaction& transaction, std::string_view conversation);
// The session is over.
Status forget_session(store::Transaction& transaction, std::string_view session);

}  // namespace sb::guard
