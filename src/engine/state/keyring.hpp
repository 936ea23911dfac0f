// The keys for this home's tokens, kept in the store: the newest signs, those not retired verify.
//
// Collection `session-keys`, key the id in four hex digits, value (behind a checksum like all state rows) {secret,
// made_at, retired}. Not thread-safe; its owner synchronizes access.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "engine/state/token.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The ids of keys that cannot be read.
Result<std::vector<std::string>> damaged_keys(store::Snapshot& snapshot);
Status remove_damaged_keys(store::Transaction& transaction);

class Keyring {
 public:
  // Reads the keys; in a transaction, creates the first one if there is none.
  Status load(store::Snapshot& snapshot);
  Status load_or_make(store::Transaction& transaction, Random& random, TimestampMs now);
  // A damaged key is deleted: tokens signed with it were refused already.
  Status rotate(store::Transaction& transaction, Random& random, TimestampMs now, bool retire_old);

  bool empty() const { return keys_.empty(); }
  const TokenKey* find(std::uint16_t id) const;
  const TokenKey& current() const;  // asserts that it exists

 private:
  Status add(store::Transaction& transaction, Random& random, TimestampMs now);

  std::map<std::uint16_t, TokenKey> keys_;
};

}  // namespace sb::engine
