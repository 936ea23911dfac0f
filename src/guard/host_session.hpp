// Which conversation of an agent host works on which sessions, as seen by its hooks, and what was reported to it. So
// two conversations in one folder do not restrict each other, and no news is reported twice.
//
// Collection `host-sessions`, key the first 32 hex digits of the SHA-256 of the host's id for the conversation, and for
// a subagent inside it `/` and the same of the subagent's id; sort key the time. Value, JSON: {v: 1, at, sessions:
// [{session, workspace}…] (last used first), told: [ids of decisions, and of sessions taken over…], [transcript]}.
// Collection `session-hosts`, key the session's id, value the key of the conversation that used it last. Each write
// drops rows that were not touched for a month.
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
  std::string transcript;  // the host's file of the conversation; may be empty
  TimestampMs at = 0;
};

// Empty for no id. `helper` (a subagent's id) may be empty.
std::string host_key(std::string_view conversation, std::string_view subagent);

Result<HostSession> read_host_session(store::Snapshot& snapshot,
                                      std::string_view key);  // an empty one when there is none
// The conversation that used the session last; empty when unknown.
Result<std::string> last_user_of(store::Snapshot& snapshot, std::string_view session);

// Whether using it changes what is stored.
bool is_latest(const HostSession& host, const HostSession::SessionUse& used);
Status record_use(store::Transaction& transaction, std::string_view conversation, std::string_view subagent,
                  std::string_view transcript, const HostSession::SessionUse& used, TimestampMs now);
// `what`: a decision that was answered, or a session that another conversation took over.
Status record_notified(store::Transaction& transaction, std::string_view conversation, std::string_view what,
                       TimestampMs now);
// The conversation has ended: others may use its sessions. Its row is kept in case it is resumed.
Status record_ended(store::Transaction& transaction, std::string_view conversation);
// The session has ended.
Status forget_session(store::Transaction& transaction, std::string_view session);

}  // namespace sb::guard
