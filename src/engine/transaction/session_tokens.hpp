// The tokens of a home's sessions: minted with its newest key, read with every key that is not retired.
//
// Keys are read from the store again after a second, because another process may have added or retired one. Not
// thread-safe: its owner synchronizes access.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "engine/answer/remedy.hpp"
#include "engine/state/keyring.hpp"
#include "engine/state/token.hpp"
#include "store/store.hpp"

namespace sb::engine {

class SessionTokens {
 public:
  SessionTokens(store::Store& store, Clock& clock, Random& random, Surface surface)
      : store_(store), clock_(clock), random_(random), surface_(surface) {}

  // Refused with a code for agents: TOKEN_BAD_SIGNATURE, …; TOKEN_SCOPE_MISMATCH if its purpose is not allowed.
  Result<SessionToken> read(std::string_view text, std::initializer_list<Purpose> allowed);

  // Inside a transaction or snapshot. A call that mints without having read a token first loads the keys.
  Status load(store::Snapshot& snapshot) { return keys_.load(snapshot); }
  Status load_or_make(store::Transaction& transaction);
  Status rotate(store::Transaction& transaction, bool retire_old);

  std::string mint(Purpose purpose, std::string_view session, NodeNo node, int attempt) const;
  const Keyring& keys() const { return keys_; }

 private:
  store::Store& store_;
  Clock& clock_;
  Random& random_;
  const Surface surface_;
  Keyring keys_;
  TimestampMs keys_read_ms_ = 0;
};

}  // namespace sb::engine
