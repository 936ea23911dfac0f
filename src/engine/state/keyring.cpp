#include "engine/state/keyring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "engine/state/rows.hpp"

namespace sb::engine {
namespace {

constexpr int kMaxKeys = 1'000;

std::string key_name(std::uint16_t id) {
  return fmt::format("{:04x}", id);
}

Result<TokenKey> key_from(const store::Row& row) {
  const Value value = SB_TRY(open_row(kKeys, row));
  const auto secret = from_hex(value.string_at("secret").value_or(""));
  const auto id = from_hex(row.key);
  if (!secret || secret->size() != 32 || !id || id->size() != 2) {
    return fail(ErrorCode::kCorrupt, fmt::format("the stored token key {} is damaged", row.key));
  }
  TokenKey key;
  key.id =
      static_cast<std::uint16_t>((static_cast<unsigned char>((*id)[0]) << 8) | static_cast<unsigned char>((*id)[1]));
  key.secret = *secret;
  key.made_at = value["made_at"].is_integer() ? value["made_at"].as_integer() : 0;
  key.is_retired = value["retired"].is_bool() && value["retired"].as_bool();
  return key;
}

Status write_key(store::Transaction& transaction, const TokenKey& key) {
  const Value value =
      Value::object({{"secret", to_hex(key.secret)}, {"made_at", key.made_at}, {"retired", key.is_retired}});
  return transaction.put(kKeys, key_name(key.id), seal_row(kKeys, key_name(key.id), value));
}

}  // namespace

Result<std::vector<std::string>> damaged_keys(store::Snapshot& snapshot) {
  std::vector<std::string> damaged;
  for (const store::Row& row : SB_TRY(snapshot.list(kKeys, {.limit = kMaxKeys}))) {
    if (!key_from(row)) damaged.push_back(row.key);
  }
  return damaged;
}

Status remove_damaged_keys(store::Transaction& transaction) {
  for (const std::string& key : SB_TRY(damaged_keys(transaction))) SB_TRY(transaction.remove(kKeys, key));
  return {};
}

Status Keyring::load(store::Snapshot& snapshot) {
  keys_.clear();
  for (const store::Row& row : SB_TRY(snapshot.list(kKeys, {.limit = kMaxKeys}))) {
    auto key = key_from(row);
    if (!key) {
      return fail(ErrorCode::kCorrupt, fmt::format("the stored token key {} is damaged", row.key),
                  "Create a new one: signalbox session rotate-keys. Sessions stay; signalbox session resume prints new "
                  "tokens");
    }
    keys_[key->id] = std::move(*key);
  }
  return {};
}

Status Keyring::load_or_make(store::Transaction& transaction, Random& random, TimestampMs now) {
  SB_TRY(load(transaction));
  const bool has_one = std::ranges::any_of(keys_, [](const auto& entry) { return !entry.second.is_retired; });
  return has_one ? Status{} : add(transaction, random, now);
}

Status Keyring::add(store::Transaction& transaction, Random& random, TimestampMs now) {
  if (keys_.size() >= kMaxKeys) return fail(ErrorCode::kLimit, "there are too many token keys");
  TokenKey key;
  do {
    const std::string id = random.bytes(2);
    key.id = static_cast<std::uint16_t>((static_cast<unsigned char>(id[0]) << 8) | static_cast<unsigned char>(id[1]));
  } while (keys_.contains(key.id));
  key.secret = random.bytes(32);
  // Later than all others, whatever the clock says, because the newest key signs.
  key.made_at = now;
  for (const auto& [id, other] : keys_) key.made_at = std::max(key.made_at, other.made_at + 1);
  SB_TRY(write_key(transaction, key));
  keys_[key.id] = key;
  return {};
}

Status Keyring::rotate(store::Transaction& transaction, Random& random, TimestampMs now, bool retire_old) {
  SB_TRY(remove_damaged_keys(transaction));
  SB_TRY(load(transaction));
  if (retire_old) {
    for (auto& [id, key] : keys_) {
      key.is_retired = true;
      SB_TRY(write_key(transaction, key));
    }
  }
  return add(transaction, random, now);
}

const TokenKey* Keyring::find(std::uint16_t id) const {
  const auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : &found->second;
}

const TokenKey& Keyring::current() const {
  const TokenKey* newest = nullptr;
  for (const auto& [id, key] : keys_) {
    if (!key.is_retired && (newest == nullptr || key.made_at > newest->made_at)) newest = &key;
  }
  SB_ASSERT(newest != nullptr);
  return *newest;
}

}  // namespace sb::engine
