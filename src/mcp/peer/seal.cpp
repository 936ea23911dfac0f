#include "mcp/peer/seal.hpp"

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "mcp/limits.hpp"
#include "net/limits.hpp"

namespace sb::mcp {

namespace {

constexpr std::size_t kMacBytes = 16;
constexpr std::string_view kStateLabel = "requestState";
// A state may contain what a message contained, and be slightly deeper.
constexpr JsonBounds kStateBounds{.depth = 2 * net::limits::kMessageDepth};

std::string mac_of(const std::string& key, std::string_view label, std::string_view payload) {
  std::string bytes(label);
  bytes += '\0';
  bytes += payload;
  return std::string(as_bytes(hmac_sha256(key, bytes)).substr(0, kMacBytes));
}

std::unexpected<Error> invalid_seal() {
  return fail(ErrorCode::kInvalid, "invalid sealed value", "Send it back unchanged");
}

std::unexpected<Error> bad_state(ErrorCode code, std::string what) {
  return fail(code, std::move(what), "Repeat the call without requestState");
}

}  // namespace

std::string Seal::close(std::string_view label, std::string_view payload) const {
  return to_base64url(payload) + "." + to_base64url(mac_of(key_(), label, payload));
}

Result<std::string> Seal::open(std::string_view label, std::string_view sealed) const {
  const std::size_t dot = sealed.find('.');
  if (dot == std::string_view::npos) return invalid_seal();
  auto payload = from_base64url(sealed.substr(0, dot));
  const auto mac = from_base64url(sealed.substr(dot + 1));
  if (!payload || !mac || !constant_time_equal(*mac, mac_of(key_(), label, *payload))) return invalid_seal();
  return std::move(*payload);
}

RequestStates::RequestStates(Seal seal, Clock& clock, Random& random, FirstUse is_first_use)
    : seal_(std::move(seal)), clock_(clock), random_(random), is_first_use_(std::move(is_first_use)) {}

std::string RequestStates::make(const Value& state, const std::string& bound_to, const StateBinding& binding) {
  const Value sealed = Value::object({{"state", state},
                                      {"bound_to", bound_to},
                                      {"principal", binding.principal},
                                      {"request", binding.request},
                                      {"expires", clock_.now_ms() + limits::kStateLifeMs},
                                      {"nonce", to_base32(random_.bytes(15))}});
  return seal_.close(kStateLabel, to_json(sealed));
}

Result<Value> RequestStates::take(std::string_view sealed, const StateBinding& binding) {
  const auto payload = seal_.open(kStateLabel, sealed);
  if (!payload) return bad_state(ErrorCode::kInvalid, "invalid requestState");
  const auto parsed = parse_json(*payload, kStateBounds);
  if (!parsed || !(*parsed)["expires"].is_integer() || !(*parsed)["nonce"].is_string())
    return bad_state(ErrorCode::kInvalid, "invalid requestState");
  if (parsed->string_at("principal") != binding.principal || parsed->string_at("request") != binding.request)
    return bad_state(ErrorCode::kInvalid, "requestState belongs to another request");
  const TimestampMs expires = (*parsed)["expires"].as_integer();
  if (clock_.now_ms() >= expires) return bad_state(ErrorCode::kConflict, "requestState has expired");
  if (!SB_TRY(is_first_use_((*parsed)["nonce"].as_string(), expires)))
    return bad_state(ErrorCode::kConflict, "requestState was already used");
  return (*parsed)["state"];
}

}  // namespace sb::mcp
