// The tokens that agents carry: self-contained and signed, so that no table of them is needed and every process of a
// home can read the tokens of the others.
//
// 38 bytes, then lower-case Crockford base32 (61 characters) behind `ct_`, `ck_` or `st_`: 64 characters.
//
//   1    version (1) in the high four bits, purpose in the low
//   2    key id
//   16   session id
//   3    node, big-endian
//   2    attempt, big-endian
//   12   HMAC-SHA-256 over "sb-token-1" and the 24 bytes before, truncated
//   2    CRC-16/CCITT-FALSE over the 36 bytes before
//
// When reading, case does not matter, o is read as 0, i and l as 1, and blanks, quotes and backticks around the token
// are ignored. The checksum distinguishes a mangled token (a copying error: suggest copying it again) from one that was
// not made here (kForbidden). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

enum class Purpose : std::uint8_t { kContinue = 1, kCheckpoint = 2, kResume = 3 };

struct SessionToken {
  Purpose purpose = Purpose::kContinue;
  std::string session;
  NodeNo node = 0;
  int attempt = 0;
  bool operator==(const SessionToken&) const = default;
};

struct TokenKey {
  std::uint16_t id = 0;
  std::string secret;  // 32 bytes
  TimestampMs made_at = 0;
  bool is_retired = false;
};

std::string mint(const SessionToken& token, const TokenKey& key);

enum class TokenFault { kNotAToken, kMangled, kVersion, kUnknownKey, kRetiredKey, kForged };

// Error::message says which fault and Error::remedy what to do.
struct TokenError {
  TokenFault fault;
  Error error;
};
// `find_key` returns null for a key this home does not have.
std::expected<SessionToken, TokenError> read_token(std::string_view text,
                                                   const std::function<const TokenKey*(std::uint16_t)>& find_key);

// `s-` and 26 characters of base32: 16 bytes.
std::string session_id_from_bytes(std::string_view bytes16);
Result<std::string> session_bytes(std::string_view id);

}  // namespace sb::engine
