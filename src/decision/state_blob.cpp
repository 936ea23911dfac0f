#include "decision/state_blob.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb::decision {
namespace {

std::string tag_of(std::string_view head_and_payload, const std::optional<std::string>& key) {
  const Digest digest = key ? hmac_sha256(*key, head_and_payload) : sha256(head_and_payload);
  return to_base64url(as_bytes(digest));
}

}  // namespace

std::string seal_state(const Value& state, const std::optional<std::string>& key) {
  const std::string body = fmt::format("sb1.{}.{}", key ? 'm' : 'd', to_base64url(to_canonical_json(state)));
  return body + '.' + tag_of(body, key);
}

Result<Value> open_state(std::string_view blob, const std::optional<std::string>& key) {
  const auto refuse = [](std::string message, std::string remedy) {
    return fail(ErrorCode::kInvalid, std::move(message), std::move(remedy));
  };
  constexpr std::string_view kRemedy = "Pass the state exactly as printed by the last call";
  if (blob.size() > limits::kStateBlobBytes)
    return fail(ErrorCode::kLimit, "the state is too long", std::string(kRemedy));
  const bool is_keyed = blob.starts_with("sb1.m.");
  if (!is_keyed && !blob.starts_with("sb1.d.")) return refuse("this is not a signalbox state", std::string(kRemedy));
  if (is_keyed && !key) {
    return refuse("the state is authenticated, but no key was given", "Set SIGNALBOX_STATE_KEY or pass --key");
  }
  if (!is_keyed && key) {
    return refuse("a key was given, but the state is unauthenticated", "Start again with the key");
  }
  const std::size_t dot = blob.rfind('.');
  const std::string_view body = blob.substr(0, dot);
  if (dot < 6 || !constant_time_equal(blob.substr(dot + 1), tag_of(body, key))) {
    return refuse(
        is_keyed ? "invalid state (truncated, modified or from another key)" : "invalid state (truncated or modified)",
        std::string(kRemedy));
  }
  const std::string payload = SB_TRY(from_base64url(body.substr(6)));
  Value state = SB_TRY(parse_json(payload));
  if (!state.is_object()) return refuse("this is not a signalbox state", std::string(kRemedy));
  return state;
}

std::string next_nonce(std::string_view previous_blob, std::string_view input) {
  std::string bytes = fmt::format("{}:", previous_blob.size());
  bytes.append(previous_blob).append(input);
  return to_base64url(as_bytes(sha256(bytes)).substr(0, 12));
}

}  // namespace sb::decision
