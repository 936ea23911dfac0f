// The bytes that an operator signs when answering.
//
//   9        "sb-answer"
//   1        layout version, 0x01
//   4 + n    the asked decision's id
//   32       render hash: SHA-256 of what was shown
//   4 + n    digest of what is approved; length 0 when there is none
//   4        number of chosen ids, then for each 4 + n
//   32       SHA-256 of the values as canonical JSON ("{}" for a single decision)
//   8        time of signing, milliseconds since 1970
//
// Integers are big-endian. The decision's id is a fingerprint of the question and of the operators it was asked under
// (inbox/decision_state.hpp), so a signature is valid for one asking of one question only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "inbox/decision_state.hpp"

namespace sb::inbox {

std::string answer_bytes(std::string_view decision, const OpenedDecision& opened, const AnswerInput& given,
                         TimestampMs signed_at);

// Signs with an operator's secret key. `given` as returned by check_answer.
Result<AnswerSignature> sign_answer(std::string_view decision, const OpenedDecision& opened, const AnswerInput& given,
                                    TimestampMs signed_at, std::string_view secret_key);

// An operator's delegation to a key of its own, for scripts. The text form, passed in SIGNALBOX_OPERATOR_TOKEN, is
// `sbt1.` DELEGATION `.` SECRET, both base64url. SECRET is the token's own secret key. DELEGATION is canonical JSON
//   {"by": KEY, "expires": ms, "id": "t-…", "issued": ms, "key": KEY, "scope": SCOPE, "sig": SIG, "v": 1}
// with SIG by the operator's key over "sb-token-1\n" and the JSON without `sig`. An answer carries the delegation,
// never the secret.
struct TokenDelegation {
  std::string id;
  std::string scope;  // decision:ID, workspace:DIR or *
  TimestampMs issued = 0;
  TimestampMs expires = 0;
  std::string public_key;  // the token's
  std::string by;          // the operator's public key
  std::string signature;

  bool covers(std::string_view decision, const OpenedDecision& opened) const;
};

struct OperatorToken {
  TokenDelegation delegation;
  std::string delegation_text;  // base64url, as transmitted
  std::string secret;
};

// `t-`, time and random bytes in base32, and four letters of their hash: a mistyped id is invalid, so that no one
// believes they revoked a token that is still valid.
std::string make_token_id(TimestampMs now, Random& random);
bool is_token_id(std::string_view text);

// kInvalid when the scope is not one of the three.
Result<std::string> make_token(std::string_view id, std::string_view scope, TimestampMs issued, TimestampMs expires,
                               std::string_view operator_secret, Random& random);
Result<OperatorToken> parse_token(std::string_view text);
Result<TokenDelegation> parse_delegation(std::string_view base64url);
bool has_valid_signature(const TokenDelegation& delegation);  // by the key it names; does not check that key

}  // namespace sb::inbox
