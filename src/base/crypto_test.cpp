#include "base/crypto.hpp"

#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"

namespace sb {
namespace {

std::string hex(std::string_view text) {
  return *from_hex(text);
}

TEST(Crypto, Sha256AndHmacVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(as_bytes(hmac_sha256(std::string(20, '\x0b'), "Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

TEST(Crypto, Ed25519VectorOfRfc8032) {
  const std::string secret = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  EXPECT_EQ(to_hex(*public_key_of(secret)), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(
      to_hex(*sign(secret, "")),
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
      "655141438e7a100b");
}

TEST(Crypto, SignatureIsValidOnlyForItsMessageAndKey) {
  FakeRandom random(7);
  const KeyPair pair = make_key_pair(random), other = make_key_pair(random);
  const std::string signature = *sign(pair.secret, "approve");
  EXPECT_TRUE(verify(pair.public_key, "approve", signature));
  EXPECT_FALSE(verify(pair.public_key, "approve!", signature));
  EXPECT_FALSE(verify(other.public_key, "approve", signature));
  EXPECT_FALSE(verify(pair.public_key, "approve", signature.substr(1)));
  EXPECT_FALSE(verify("short", "approve", signature));
}

TEST(Crypto, UnsealNeedsTheRightPassphrase) {
  FakeRandom random(7);
  const std::string sealed = *seal("the secret", "horse", random, 10);
  EXPECT_EQ(*unseal(sealed, "horse"), "the secret");
  EXPECT_EQ(unseal(sealed, "Horse").error().code, ErrorCode::kForbidden);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(unseal(changed, "horse")) << i;
  }
}

TEST(Crypto, Base64UrlIsStrict) {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "\xff\xfe\x00"})
    EXPECT_EQ(*from_base64url(to_base64url(bytes)), bytes);
  EXPECT_FALSE(from_base64url("Zg=="));
  EXPECT_FALSE(from_base64url("Zh"));  // spare bits set: a second encoding of the same byte
  EXPECT_FALSE(from_base64url("Z"));
  EXPECT_FALSE(from_base64url("Z g"));
}

TEST(Crypto, DifferentLengthsCompareUnequal) {
  EXPECT_TRUE(constant_time_equal("abc", "abc"));
  EXPECT_FALSE(constant_time_equal("abc", "abd"));
  EXPECT_FALSE(constant_time_equal("abc", "ab"));
}

TEST(Ids, SortByTimeAndDiffer) {
  FakeRandom random(1);
  const std::string a = make_id("d-", 1000, random), b = make_id("d-", 2000, random);
  EXPECT_EQ(a.size(), 28u);
  EXPECT_LT(a, b);
  EXPECT_NE(make_id("d-", 1000, random), a);
}

}  // namespace
}  // namespace sb
