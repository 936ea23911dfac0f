#include "inbox/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"
#include "inbox/operators/signature.hpp"

namespace sb::inbox {
namespace {

constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";

std::string signed_register_bytes(Value entry) {
  entry.erase("sig");
  return "sb-operators-1\n" + to_canonical_json(entry);
}

std::unexpected<Error> broken(std::string_view file, int number, std::string_view why) {
  return fail(ErrorCode::kCorrupt, fmt::format("invalid operator registry: {}", why),
              "No signature counts until it is restored from a backup", {std::string(file), "", number, 1});
}

std::unexpected<Error> refused(std::string_view why) {
  return fail(ErrorCode::kForbidden, std::string(why));
}

}  // namespace

Result<Operators> Operators::parse(std::string_view text, std::string_view file,
                                   const std::optional<std::vector<std::string>>& anchor) {
  Operators operators;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return broken(file, number + 1, "the last line is truncated");
    SB_TRY(operators.add(text.substr(0, end), file, ++number));
    text.remove_prefix(end + 1);
  }
  if (anchor && !operators.empty()) {
    const std::string root = to_hex(operators.keys_.front().public_key);
    if (std::ranges::find(*anchor, root) == anchor->end()) {
      return fail(ErrorCode::kForbidden,
                  fmt::format("the operator registry begins with key {}, which is not in /etc/signalbox/operators",
                              root.substr(0, 16)),
                  "If it is yours, ask the administrator to add it", {std::string(file), "", 1, 1});
    }
  }
  return operators;
}

Status Operators::add(std::string_view line, std::string_view file, int number) {
  const auto entry = parse_stored(line);
  if (!entry || !entry->is_object() || to_canonical_json(*entry) != line)
    return broken(file, number, "the line was changed");
  const auto read = [&]() -> Status {
    StoredReader stored(*entry, "the entry");
    const std::string type = stored.string("type");
    const TimestampMs at = stored.integer("at");
    const std::string signed_by = stored.string("by");
    const std::string signature = stored.bytes("sig");
    const std::int64_t version = stored.integer("v");
    const std::string previous = stored.string("previous");
    SB_TRY(stored.done());
    const std::string by = SB_TRY(from_hex(signed_by));
    if (version != 1) return broken(file, number, "it was written by a newer version");
    if (previous != (heads_.empty() ? kNoHash : std::string_view(heads_.back()))) {
      return broken(file, number, "the line does not follow the one before");
    }
    if (!verify(by, signed_register_bytes(*entry), signature)) return broken(file, number, "invalid signature");
    const OperatorKey* signer = find(by);
    const bool is_first = heads_.empty();
    if (!is_first && (signer == nullptr || signer->revoked_at))
      return broken(file, number, "not signed by an operator");
    if (type == "enrol") {
      const std::string key = SB_TRY(from_hex(stored.string("key")));
      const std::string name = stored.string("name");
      SB_TRY(stored.done());
      if (key.size() != 32 || (is_first && key != by)) return broken(file, number, "invalid key");
      if (find(key) != nullptr || named(name) != nullptr) return broken(file, number, "it enrols an operator twice");
      keys_.push_back({name, key, at, std::nullopt});
      return {};
    }
    if (is_first) return broken(file, number, "it does not begin with a key");
    if (type == "revoke-token") {
      revoked_tokens_.emplace(stored.string("token"), at);
      return stored.done();
    }
    if (type != "revoke-key") return broken(file, number, "unknown entry type");
    const std::string key = SB_TRY(from_hex(stored.string("key")));
    SB_TRY(stored.done());
    const auto found = std::ranges::find(keys_, key, &OperatorKey::public_key);
    if (found == keys_.end() || found->revoked_at) return broken(file, number, "it revokes an unknown key");
    found->revoked_at = at;
    return {};
  };
  if (const Status status = read(); !status) {
    if (!status.error().location.file.empty()) return status;
    return broken(file, number, status.error().message);
  }
  heads_.push_back(sha256_hex(line));
  return {};
}

const OperatorKey* Operators::find(std::string_view public_key) const {
  const auto found = std::ranges::find(keys_, public_key, &OperatorKey::public_key);
  return found == keys_.end() ? nullptr : &*found;
}

const OperatorKey* Operators::named(std::string_view name) const {
  const auto found = std::ranges::find_if(keys_, [&](const OperatorKey& k) { return k.name == name && !k.revoked_at; });
  return found == keys_.end() ? nullptr : &*found;
}

std::optional<TimestampMs> Operators::token_revoked_at(std::string_view token_id) const {
  const auto found = revoked_tokens_.find(token_id);
  if (found == revoked_tokens_.end()) return std::nullopt;
  return found->second;
}

std::optional<OperatorPin> Operators::pin() const {
  if (empty()) return std::nullopt;
  return OperatorPin{to_hex(keys_.front().public_key), heads_.back(), static_cast<int>(heads_.size())};
}

bool Operators::continues(const OperatorPin& pin) const {
  const auto count = static_cast<std::size_t>(pin.count);
  return pin.count > 0 && heads_.size() >= count && heads_[count - 1] == pin.head &&
         to_hex(keys_.front().public_key) == pin.root;
}

Result<std::string> Operators::line_of(Value entry, std::string_view by_secret) const {
  entry.set("by", to_hex(SB_TRY(public_key_of(by_secret))));
  entry.set("previous", heads_.empty() ? kNoHash : std::string_view(heads_.back()));
  entry.set("v", 1);
  entry.set("sig", to_base64url(SB_TRY(sign(by_secret, signed_register_bytes(entry)))));
  return to_canonical_json(entry) + "\n";
}

Result<std::string> Operators::enrolment(std::string_view name, std::string_view public_key, TimestampMs at,
                                         std::string_view by_secret) const {
  return line_of(Value::object({{"type", "enrol"}, {"name", name}, {"key", to_hex(public_key)}, {"at", at}}),
                 by_secret);
}

Result<std::string> Operators::key_revocation(std::string_view public_key, TimestampMs at,
                                              std::string_view by_secret) const {
  return line_of(Value::object({{"type", "revoke-key"}, {"key", to_hex(public_key)}, {"at", at}}), by_secret);
}

Result<std::string> Operators::token_revocation(std::string_view token_id, TimestampMs at,
                                                std::string_view by_secret) const {
  return line_of(Value::object({{"type", "revoke-token"}, {"token", token_id}, {"at", at}}), by_secret);
}

namespace {

Status check_key(const OperatorKey* key, TimestampMs at) {
  if (key == nullptr) return refused("it is signed with a key that is not an operator's");
  if (at < key->enrolled_at) return refused("it was signed before the key was enrolled");
  if (key->revoked_at && at >= *key->revoked_at) return refused("it was signed with a revoked key");
  return {};
}

Result<const OperatorKey*> check_delegation(const Operators& operators, const std::string& id,
                                            const OpenedDecision& opened, const AnswerSignature& signature) {
  const TokenDelegation delegation = SB_TRY(parse_delegation(signature.delegation));
  if (delegation.public_key != signature.public_key) return refused("it is not signed with the token's key");
  return check_token(operators, delegation, id, opened, signature.signed_at);
}

Result<std::string> check_signature(const Operators& operators, const std::string& id, const OpenedDecision& opened,
                                    const DecisionOutcome& outcome) {
  if (!outcome.signature) return refused("a stored answer without a signature does not count");
  const AnswerSignature& signature = *outcome.signature;
  if (!opened.operators) return refused("it was asked when there was no operator key");
  if (!operators.continues(*opened.operators)) return refused("the operator keys changed since this was asked");
  if (outcome.render_hash != opened.render_hash) return refused("the answer is for a different text than was shown");
  if (signature.signed_at < opened.opened_at) return refused("it was signed before the question was asked");
  const OperatorKey* key = operators.find(signature.public_key);
  std::string name;
  if (signature.delegation.empty()) {
    SB_TRY(check_key(key, signature.signed_at));
    name = key->name;
  } else {
    key = SB_TRY(check_delegation(operators, id, opened, signature));
    name = key->name;
  }
  const AnswerInput given{outcome.options, outcome.values};
  if (!verify(signature.public_key, answer_bytes(id, opened, given, signature.signed_at), signature.signature)) {
    return refused("the signature does not match the answer");
  }
  return name;
}

}  // namespace

Result<const OperatorKey*> check_token(const Operators& operators, const TokenDelegation& delegation,
                                       std::string_view id, const OpenedDecision& opened, TimestampMs at) {
  const OperatorKey* key = operators.find(delegation.by);
  SB_TRY(check_key(key, delegation.issued));
  SB_TRY(check_key(key, at));
  if (!has_valid_signature(delegation)) return refused("invalid token signature");
  if (at < delegation.issued) return refused("it was signed before the token was issued");
  if (at >= delegation.expires) return refused("the token had expired");
  const auto revoked_at = operators.token_revoked_at(delegation.id);
  if (revoked_at && at >= *revoked_at) return refused("the token was revoked");
  if (!delegation.covers(id, opened)) {
    return refused(fmt::format("the token is for {} and does not cover this decision", delegation.scope));
  }
  return key;
}

SignatureCheck signature_check(const Operators& operators) {
  return [&operators](const std::string& id, const OpenedDecision& opened, const DecisionOutcome& outcome) {
    return check_signature(operators, id, opened, outcome);
  };
}

}  // namespace sb::inbox
