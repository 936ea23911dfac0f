#include "engine/state/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/limits.hpp"

namespace sb::engine {
namespace {

const TokenKey kKey{0x1234, std::string(32, 'k'), 0, false};
const SessionToken kToken{Purpose::kContinue, session_id_from_bytes("0123456789abcdef"), 16'777'215, 65'535};

std::expected<SessionToken, TokenError> read(std::string_view text, const TokenKey& key = kKey) {
  return read_token(text, [&](std::uint16_t id) { return id == key.id ? &key : nullptr; });
}

TokenFault fault_of(std::string_view text, const TokenKey& key = kKey) {
  const auto token = read(text, key);
  EXPECT_FALSE(token) << text;
  return token ? TokenFault::kVersion : token.error().fault;
}

TEST(Token, RoundTripsInSixtyFourCharacters) {
  for (const Purpose purpose : {Purpose::kContinue, Purpose::kCheckpoint, Purpose::kResume}) {
    SessionToken token = kToken;
    token.purpose = purpose;
    const std::string text = mint(token, kKey);
    EXPECT_EQ(text.size(), limits::kTokenChars);
    EXPECT_EQ(read(text), token) << text;
  }
}

TEST(Token, SurvivesCopying) {
  const std::string text = mint(kToken, kKey);
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(read(upper), kToken);
  EXPECT_EQ(read(" \"" + text + "\",\n"), kToken);
  EXPECT_EQ(read("`" + text + "`."), kToken);
  std::string letters = text;
  std::ranges::replace(letters.begin() + 3, letters.end(), '0', 'O');
  std::ranges::replace(letters.begin() + 3, letters.end(), '1', 'l');
  EXPECT_EQ(read(letters), kToken);
}

TEST(Token, AnyChangedCharacterIsReportedAsMangledNotForged) {
  const std::string text = mint(kToken, kKey);
  for (std::size_t at = 3; at < text.size(); ++at) {
    for (const char c : {'0', '7', 'z', '-'}) {
      std::string changed = text;
      changed[at] = c;
      if (changed == text) continue;
      EXPECT_EQ(fault_of(changed), TokenFault::kMangled) << at << c;
    }
  }
  EXPECT_EQ(fault_of(text.substr(0, 40)), TokenFault::kMangled);
  EXPECT_EQ(fault_of(text + "0"), TokenFault::kMangled);
  EXPECT_EQ(fault_of("ck_" + text.substr(3)), TokenFault::kMangled);
  EXPECT_THAT(read(text.substr(0, 40)).error().error.message, testing::HasSubstr("40 characters"));
}

TEST(Token, OfAnotherHomeOrKeyIsRefused) {
  const std::string text = mint(kToken, kKey);
  EXPECT_EQ(fault_of(text, {0x9999, kKey.secret, 0, false}), TokenFault::kUnknownKey);
  EXPECT_EQ(fault_of(text, {kKey.id, std::string(32, 'x'), 0, false}), TokenFault::kForged);
  EXPECT_EQ(fault_of(text, {kKey.id, kKey.secret, 0, true}), TokenFault::kRetiredKey);
}

TEST(Token, OtherTextIsNotAToken) {
  for (const std::string_view text : {"", "ct", "hello", "  ", "ct-", "\0\xff", "s-0123"}) {
    EXPECT_EQ(fault_of(text), TokenFault::kNotAToken) << text;
  }
  EXPECT_EQ(fault_of(std::string(1 << 20, 'c')), TokenFault::kNotAToken);
  EXPECT_EQ(fault_of("ct_" + std::string(1 << 20, '0')), TokenFault::kMangled);
}

TEST(SessionId, IsSixteenBytesInBase32) {
  const std::string id = session_id_from_bytes("0123456789abcdef");
  EXPECT_EQ(id.size(), 28u);
  EXPECT_EQ(*session_bytes(id), "0123456789abcdef");
  EXPECT_FALSE(session_bytes("s-0"));
  EXPECT_FALSE(session_bytes(id + "0"));
  EXPECT_FALSE(session_bytes("d-" + id.substr(2)));
}

}  // namespace
}  // namespace sb::engine
