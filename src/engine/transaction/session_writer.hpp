// Writes what an update did to a session, and in the same commit the row about its open step that hooks read
// (guard/open_step.hpp). Refers to its parts.
#pragma once

#include "engine/transaction/pinned_programs.hpp"
#include "engine/transaction/session_tokens.hpp"
#include "engine/transaction/session_update.hpp"

namespace sb::engine {

class SessionWriter {
 public:
  SessionWriter(const SessionTokens& tokens, PinnedPrograms& programs) : tokens_(tokens), programs_(programs) {}

  // Every update ends with this; it writes nothing if nothing happened.
  Status finish(SessionUpdate& update);
  // Mints the tokens of all open steps again, with the newest key.
  Status renew_open_step_tokens(store::Transaction& transaction);

 private:
  const SessionTokens& tokens_;
  PinnedPrograms& programs_;
};

}  // namespace sb::engine
