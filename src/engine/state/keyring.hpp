// The keys of this home's tokens, kept in the store: the newest signs, those not retired verify.
//
// Collection `session-keys`, key the id in four hex digits, value (behind a checksum as all state rows) {secret,
// made_at, retired}. Not thread-safe; its owner is.
#pragma once

#include <map>

#include "base/random.hpp"
#include "engine/state/token.hpp"
#include "store/store.hpp"

namespace sb::engine {

class Keyring {
 public:
  // Reads the keys; in a transaction, makes the first one when there is none.
  Status load(store::Snapshot& snapshot);
  Status load_or_make(store::Transaction& transaction, Random& random, TimestampMs now);
  Status rotate(store::Transaction& transaction, Random& random, TimestampMs now, bool retire_old);

  bool empty() const { return keys_.empty(); }
  const TokenKey* find(std::uint16_t id) const;
  const TokenKey& current() const;  // asserts that there is one

 private:
  Status add(store::Transaction& transaction, Random& random, TimestampMs now);

  std::map<std::uint16_t, TokenKey> keys_;
};

}  // namespace sb::engine
