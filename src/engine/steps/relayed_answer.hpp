// A person's answer passed on by an agent: only if the user's configuration says `confirmations: relay`, and never for
// a decision that needs a signature. It is recorded as relayed.
#pragma once

#include <string>

#include "engine/state/token.hpp"
#include "inbox/inbox.hpp"

namespace sb::engine {

class SessionUpdate;

struct RelayedAnswer {
  std::string decision = {};  // the one this session waits for
  inbox::AnswerInput given = {};
  std::string remark = {};  // what else the person said, such as the reason for a rejection
  std::string by = {};      // who passed it on
  std::string raw = {};     // as received
};

// Answers the decision the token's node waits for, before the session continues. Does nothing for a token that does not
// name an open attempt: continuing the session reports that.
Status relay(inbox::Inbox& inbox, SessionUpdate& update, const SessionToken& token, const RelayedAnswer& answer);

}  // namespace sb::engine
