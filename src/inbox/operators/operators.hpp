// The operators: the people whose signature answers what only a person may answer.
//
// `operators/registry.jsonl` in the data home is a chain of lines, each canonical JSON with members sorted:
//   {"at": ms, "by": KEY, "key": KEY, "name": NAME, "previous": HASH, "sig": SIG, "type": "enrol", "v": 1}
//   {"at", "by", "key", "previous", "sig", "type": "revoke-key", "v"}
//   {"at", "by", "previous", "sig", "token": ID, "type": "revoke-token", "v"}
// KEY is 64 hex digits, SIG base64url over "sb-operators-1\n" and the line without `sig`; HASH is the SHA-256, hex, of
// the line before (64 zeros for the first). The first line enrols the first key and is signed by it; every other is
// signed by a key that was enrolled and not revoked before it. Without an operator's passphrase a process can therefore
// not extend the chain, only cut or replace it, and a decision records the chain it was asked under (OperatorPin).
//
// If `/etc/signalbox/operators` exists, belongs to root and is writable by no one else, it lists the keys (hex, one per
// line, # comments) with which a registry may begin; any other registry is rejected. It is the one anchor that a
// process of the same user cannot change.
//
// `operators/NAME.key` holds a secret key sealed with a passphrase: {"key": KEY, "name": NAME, "sealed": seal(), "v":
// 1}.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "inbox/decision_state.hpp"

namespace sb::inbox {

struct TokenDelegation;

struct OperatorKey {
  std::string name;
  std::string public_key;  // 32 bytes
  TimestampMs enrolled_at = 0;
  std::optional<TimestampMs> revoked_at;
};

// A parsed and verified registry. A value; does not follow later changes of the file.
class Operators {
 public:
  Operators() = default;  // no operators
  // kCorrupt when the chain is invalid; kForbidden when it does not begin with a key that the anchor lists.
  static Result<Operators> parse(std::string_view text, std::string_view file,
                                 const std::optional<std::vector<std::string>>& anchor = std::nullopt);

  bool empty() const { return keys_.empty(); }
  const std::vector<OperatorKey>& keys() const { return keys_; }
  const OperatorKey* find(std::string_view public_key) const;
  const OperatorKey* named(std::string_view name) const;
  std::optional<TimestampMs> token_revoked_at(std::string_view token_id) const;

  std::optional<OperatorPin> pin() const;  // nothing when there are no operators
  // Whether this registry is the pinned one or continues it.
  bool continues(const OperatorPin& pin) const;

  // The next lines of a registry.
  Result<std::string> enrolment(std::string_view name, std::string_view public_key, TimestampMs at,
                                std::string_view by_secret) const;
  Result<std::string> key_revocation(std::string_view public_key, TimestampMs at, std::string_view by_secret) const;
  Result<std::string> token_revocation(std::string_view token_id, TimestampMs at, std::string_view by_secret) const;

 private:
  Status add(std::string_view line, std::string_view file, int number);
  Result<std::string> line_of(Value entry, std::string_view by_secret) const;

  std::vector<OperatorKey> keys_;
  std::map<std::string, TimestampMs, std::less<>> revoked_tokens_;
  std::vector<std::string> heads_;  // hash of each line, hex
};

// The operator who issued a token that covers this decision at that time; kForbidden says why it does not.
Result<const OperatorKey*> check_token(const Operators& operators, const TokenDelegation& delegation,
                                       std::string_view id, const OpenedDecision& opened, TimestampMs at);

// Checks the signatures of answers against a registry, as a SignatureCheck.
SignatureCheck signature_check(const Operators& operators);

}  // namespace sb::inbox
