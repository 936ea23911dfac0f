#include "engine/state/token.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/random.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kDomain = "sb-token-1";
constexpr unsigned kVersion = 1;
constexpr std::size_t kHeadBytes = 24;
constexpr std::size_t kMacBytes = 12;
constexpr std::size_t kBytes = kHeadBytes + kMacBytes + 2;
constexpr std::size_t kDigits = 61;
constexpr std::string_view kSessionPrefix = "s-";

std::string_view prefix_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::kContinue:
      return "ct_";
    case Purpose::kCheckpoint:
      return "ck_";
    case Purpose::kResume:
      return "st_";
  }
  return "";
}

void put_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::uint16_t crc16(std::string_view bytes) {
  std::uint16_t crc = 0xffff;
  for (const char c : bytes) {
    crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(c) << 8));
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
  }
  return crc;
}

std::string mac_of(std::string_view head, const TokenKey& key) {
  return std::string(as_bytes(hmac_sha256(key.secret, std::string(kDomain) + std::string(head))).substr(0, kMacBytes));
}

// Characters around a token that was copied from JSON, Markdown or a sentence.
std::string_view bare(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"'`.,;<>()[]{}*";
  const auto begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

std::unexpected<TokenError> fault(TokenFault fault, ErrorCode code, std::string message, std::string remedy) {
  return std::unexpected(TokenError{fault, Error{code, std::move(message), std::move(remedy), {}, false}});
}

std::optional<Purpose> purpose_named(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  std::string start(text.substr(0, 3));
  std::ranges::transform(start, start.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Purpose purpose : {Purpose::kContinue, Purpose::kCheckpoint, Purpose::kResume}) {
    if (start == prefix_of(purpose)) return purpose;
  }
  return std::nullopt;
}

std::expected<std::string, TokenError> whole_bytes(std::string_view text, Purpose purpose) {
  const std::string_view digits = text.substr(3);
  const auto mangled = [](std::string what) {
    return fault(TokenFault::kMangled, ErrorCode::kInvalid, "invalid token (truncated or mistyped): " + what,
                 "Copy the whole token again from the JSON line of the last answer");
  };
  if (digits.size() != kDigits) {
    return mangled(fmt::format("it has {} characters instead of {}", text.size(), kDigits + 3));
  }
  const auto bytes = from_base32(digits);
  if (!bytes || bytes->size() != kBytes) return mangled("it contains an invalid character");
  if (number_at(*bytes, kBytes - 2, 2) != crc16(std::string_view(*bytes).substr(0, kBytes - 2))) {
    return mangled("its checksum does not match");
  }
  if ((static_cast<unsigned char>((*bytes)[0]) & 0x0f) != static_cast<unsigned>(purpose)) {
    return mangled("its prefix does not match the rest");
  }
  return *bytes;
}

}  // namespace

std::string mint(const SessionToken& token, const TokenKey& key) {
  const auto session = session_bytes(token.session);
  SB_ASSERT(session);
  SB_ASSERT(token.node >= 0 && token.node < (1 << 24) && token.attempt >= 0 && token.attempt < (1 << 16));
  std::string bytes;
  put_number(bytes, (kVersion << 4) | static_cast<unsigned>(token.purpose), 1);
  put_number(bytes, key.id, 2);
  bytes += *session;
  put_number(bytes, static_cast<std::uint64_t>(token.node), 3);
  put_number(bytes, static_cast<std::uint64_t>(token.attempt), 2);
  bytes += mac_of(bytes, key);
  put_number(bytes, crc16(bytes), 2);
  return std::string(prefix_of(token.purpose)) + to_base32(bytes);
}

std::expected<SessionToken, TokenError> read_token(std::string_view text,
                                                   const std::function<const TokenKey*(std::uint16_t)>& find_key) {
  text = bare(text);
  const auto purpose = purpose_named(text);
  if (!purpose) {
    return fault(TokenFault::kNotAToken, ErrorCode::kInvalid, "not a token: tokens start with ct_, ck_ or st_",
                 "Copy it from the JSON line of an answer");
  }
  auto whole = whole_bytes(text, *purpose);
  if (!whole) return std::unexpected(std::move(whole).error());
  const std::string_view bytes = *whole;
  if (static_cast<unsigned char>(bytes[0]) >> 4 != kVersion) {
    return fault(TokenFault::kVersion, ErrorCode::kUnsupported, "this token was created by a newer version",
                 "Use the version that created it");
  }
  const TokenKey* key = find_key(static_cast<std::uint16_t>(number_at(bytes, 1, 2)));
  if (key == nullptr) {
    return fault(TokenFault::kUnknownKey, ErrorCode::kForbidden, "this token was not created in this home",
                 "Use the home (SIGNALBOX_HOME) the session was started in");
  }
  if (key->is_retired) {
    return fault(TokenFault::kRetiredKey, ErrorCode::kForbidden, "the key of this token is retired", "");
  }
  if (!constant_time_equal(mac_of(bytes.substr(0, kHeadBytes), *key), bytes.substr(kHeadBytes, kMacBytes))) {
    auto forged = fault(TokenFault::kForged, ErrorCode::kForbidden, "this token is not genuine",
                        "Copy it from the JSON line of an answer");
    forged.error().error.is_retryable = true;
    return forged;
  }
  return SessionToken{*purpose, session_id_from_bytes(bytes.substr(3, 16)),
                      static_cast<NodeNo>(number_at(bytes, 19, 3)), static_cast<int>(number_at(bytes, 22, 2))};
}

std::string session_id_from_bytes(std::string_view bytes16) {
  SB_ASSERT(bytes16.size() == 16);
  return std::string(kSessionPrefix) + to_base32(bytes16);
}

Result<std::string> session_bytes(std::string_view id) {
  const auto bytes = id.starts_with(kSessionPrefix) ? from_base32(id.substr(kSessionPrefix.size())) : std::nullopt;
  if (!bytes || bytes->size() != 16) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not a valid session id", quote_json(id.substr(0, limits::kIdBytes))),
                "List sessions: signalbox session list");
  }
  return *bytes;
}

}  // namespace sb::engine
