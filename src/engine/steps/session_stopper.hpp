// Stops a session before its workflow ends, together with all sessions below it; its open question is withdrawn. Refers
// to its parts.
#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "engine/transaction/session_writer.hpp"
#include "inbox/inbox.hpp"

namespace sb::engine {

class SessionStopper {
 public:
  SessionStopper(SessionWriter& writer, inbox::Inbox& inbox, Clock& clock)
      : writer_(writer), inbox_(inbox), clock_(clock) {}

  // A session that is over stays as it is; those below it are stopped. kNotFound.
  Status stop(store::Transaction& transaction, std::string_view session, std::string_view reason, std::string_view by);

 private:
  SessionWriter& writer_;
  inbox::Inbox& inbox_;
  Clock& clock_;
};

}  // namespace sb::engine
