#include "inbox/operators/signature.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/document/stored_reader.hpp"
#include "base/files.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kCheckLetters = 4;

void append_number(std::string& bytes, std::uint64_t number, int width) {
  for (int shift = (width - 1) * 8; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
}

void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, text.size(), 4);
  bytes += text;
}

std::string delegation_bytes(const TokenDelegation& delegation) {
  return "sb-token-1\n" + to_canonical_json(Value::object({{"by", to_hex(delegation.by)},
                                                           {"expires", delegation.expires},
                                                           {"id", delegation.id},
                                                           {"issued", delegation.issued},
                                                           {"key", to_hex(delegation.public_key)},
                                                           {"scope", delegation.scope},
                                                           {"v", 1}}));
}

std::string delegation_json(const TokenDelegation& delegation) {
  return to_canonical_json(Value::object({{"by", to_hex(delegation.by)},
                                          {"expires", delegation.expires},
                                          {"id", delegation.id},
                                          {"issued", delegation.issued},
                                          {"key", to_hex(delegation.public_key)},
                                          {"scope", delegation.scope},
                                          {"sig", to_base64url(delegation.signature)},
                                          {"v", 1}}));
}

Status check_scope(std::string_view scope) {
  if (scope == "*") return {};
  for (const std::string_view prefix : {"decision:", "workspace:"}) {
    if (scope.starts_with(prefix) && scope.size() > prefix.size()) return {};
  }
  return fail(ErrorCode::kInvalid, fmt::format("{} is not a scope", quote_json(scope)),
              "Give decision:ID, workspace:DIR or *");
}

std::unexpected<Error> bad_token() {
  return fail(ErrorCode::kInvalid, "invalid operator token (truncated or mistyped)",
              "Create one with signalbox operator token");
}

}  // namespace

std::string answer_bytes(std::string_view decision, const OpenedDecision& opened, const AnswerInput& given,
                         TimestampMs signed_at) {
  std::string bytes = "sb-answer";
  bytes.push_back(1);
  append_text(bytes, decision);
  const Result<std::string> render_hash = from_hex(opened.render_hash);
  SB_ASSERT(render_hash && render_hash->size() == 32);
  bytes += *render_hash;
  append_text(bytes, opened.digest);
  append_number(bytes, given.options.size(), 4);
  for (const std::string& id : given.options) append_text(bytes, id);
  bytes += as_bytes(sha256(to_canonical_json(given.values)));
  append_number(bytes, static_cast<std::uint64_t>(signed_at), 8);
  return bytes;
}

Result<AnswerSignature> sign_answer(std::string_view decision, const OpenedDecision& opened, const AnswerInput& given,
                                    TimestampMs signed_at, std::string_view secret_key) {
  AnswerSignature result;
  result.signed_at = signed_at;
  result.public_key = SB_TRY(public_key_of(secret_key));
  result.signature = SB_TRY(sign(secret_key, answer_bytes(decision, opened, given, signed_at)));
  return result;
}

bool TokenDelegation::covers(std::string_view decision, const OpenedDecision& opened) const {
  if (scope == "*") return true;
  const std::string_view rest = std::string_view(scope).substr(scope.find(':') + 1);
  if (scope.starts_with("decision:")) return rest == decision || rest == opened.question.id;
  return !opened.workspace.empty() && is_within(opened.workspace, rest);
}

Result<std::string> make_token(std::string_view id, std::string_view scope, TimestampMs issued, TimestampMs expires,
                               std::string_view operator_secret, Random& random) {
  SB_TRY(check_scope(scope));
  const KeyPair own = make_key_pair(random);
  TokenDelegation delegation;
  delegation.id = id;
  delegation.scope = scope;
  delegation.issued = issued;
  delegation.expires = expires;
  delegation.public_key = own.public_key;
  delegation.by = SB_TRY(public_key_of(operator_secret));
  delegation.signature = SB_TRY(sign(operator_secret, delegation_bytes(delegation)));
  return fmt::format("sbt1.{}.{}", to_base64url(delegation_json(delegation)), to_base64url(own.secret));
}

namespace {

std::string check_letters(std::string_view body) {
  return to_base32(as_bytes(sha256("sb-token-id-1\n" + std::string(body)))).substr(0, kCheckLetters);
}

}  // namespace

std::string make_token_id(TimestampMs now, Random& random) {
  const std::string body = make_id("t-", now, random);
  return body + check_letters(body);
}

bool is_token_id(std::string_view text) {
  if (!text.starts_with("t-") || text.size() <= kCheckLetters + 2) return false;
  const std::string_view body = text.substr(0, text.size() - kCheckLetters);
  return text.substr(body.size()) == check_letters(body);
}

Result<TokenDelegation> parse_delegation(std::string_view base64url) {
  const Result<std::string> json = from_base64url(base64url);
  if (!json) return bad_token();
  const auto read = [&]() -> Result<TokenDelegation> {
    const Value value = SB_TRY(parse_stored(*json));
    StoredReader stored(value, "the token");
    TokenDelegation delegation;
    if (stored.integer("v") != 1) return bad_token();
    delegation.id = stored.string("id");
    delegation.scope = stored.string("scope");
    delegation.issued = stored.integer("issued");
    delegation.expires = stored.integer("expires");
    delegation.public_key = SB_TRY(from_hex(stored.string("key")));
    delegation.by = SB_TRY(from_hex(stored.string("by")));
    delegation.signature = stored.bytes("sig");
    SB_TRY(stored.done());
    SB_TRY(check_scope(delegation.scope));
    if (delegation_json(delegation) != *json) return bad_token();
    return delegation;
  };
  const Result<TokenDelegation> result = read();
  if (!result) return bad_token();
  return result;
}

Result<OperatorToken> parse_token(std::string_view text) {
  constexpr std::string_view kPrefix = "sbt1.";
  if (!text.starts_with(kPrefix)) return bad_token();
  text.remove_prefix(kPrefix.size());
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return bad_token();
  OperatorToken token;
  token.delegation_text = text.substr(0, dot);
  token.delegation = SB_TRY(parse_delegation(token.delegation_text));
  const Result<std::string> secret = from_base64url(text.substr(dot + 1));
  if (!secret) return bad_token();
  const Result<std::string> own = public_key_of(*secret);
  if (!own || *own != token.delegation.public_key) return bad_token();
  token.secret = *secret;
  return token;
}

bool has_valid_signature(const TokenDelegation& delegation) {
  return verify(delegation.by, delegation_bytes(delegation), delegation.signature);
}

}  // namespace sb::inbox
