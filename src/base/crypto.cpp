#include "base/crypto.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/sha.h>

#include <charconv>
#include <memory>
#include <new>
#include <vector>

#include "base/assert.hpp"

namespace sb {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// With valid arguments, these functions of OpenSSL fail only for lack of memory.
void expect_done(bool is_done) {
  if (!is_done) throw std::bad_alloc();
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeMd {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kSaltBytes = 16;
constexpr int kMaxLogN = 20;

Result<std::string> scrypt_key(std::string_view passphrase, std::string_view salt, int log_n) {
  std::string key(32, '\0');
  const std::uint64_t n = std::uint64_t{1} << log_n;
  const std::uint64_t memory = n * 8 * 128 + (64u << 20);
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), bytes_of(salt), salt.size(), n, 8, 1, memory, bytes_of(key),
                     key.size()) != 1) {
    return fail(ErrorCode::kInternal, "cannot derive a key from the passphrase");
  }
  return key;
}

}  // namespace

// Uses the old interface on purpose: the new one first reads OpenSSL's configuration and searches for providers, which
// takes longer than everything else a hook does.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Digest sha256(std::string_view bytes) {
  Digest digest;
  SHA256_CTX context;
  SB_ASSERT(SHA256_Init(&context) == 1);
  SB_ASSERT(SHA256_Update(&context, bytes.data(), bytes.size()) == 1);
  SB_ASSERT(SHA256_Final(digest.data(), &context) == 1);
  return digest;
}
#pragma GCC diagnostic pop

std::string sha256_hex(std::string_view bytes) {
  return to_hex(as_bytes(sha256(bytes)));
}

std::string sha1_hex(std::string_view bytes) {
  std::array<std::uint8_t, 20> digest;
  unsigned length = 0;
  expect_done(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha1(), nullptr) == 1);
  SB_ASSERT(length == digest.size());
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest digest;
  unsigned length = 0;
  expect_done(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(bytes), bytes.size(), digest.data(),
                   &length) != nullptr);
  SB_ASSERT(length == digest.size());
  return digest;
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view as_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string to_hex(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kHex[(static_cast<unsigned char>(c) >> 4) & 15];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

Result<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return fail(ErrorCode::kInvalid, "odd number of hex digits");
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const char* end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, byte, 16).ptr != end)
      return fail(ErrorCode::kInvalid, "invalid hex digits");
    out += static_cast<char>(byte);
  }
  return out;
}

std::string to_base64url(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(c);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      out += kAlphabet[(buffer >> bits) & 63];
    }
  }
  if (bits > 0) out += kAlphabet[(buffer << (6 - bits)) & 63];
  return out;
}

Result<std::string> from_base64url(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    unsigned digit = 0;
    if (c >= 'A' && c <= 'Z')
      digit = static_cast<unsigned>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      digit = static_cast<unsigned>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0' + 52);
    else if (c == '-')
      digit = 62;
    else if (c == '_')
      digit = 63;
    else
      return fail(ErrorCode::kInvalid, "invalid character in base64url text");
    buffer = (buffer << 6) | digit;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((buffer >> bits) & 255);
    }
  }
  // If two texts decoded to the same bytes, a modified blob could pass as the original.
  if (bits >= 6 || (buffer & ((1u << bits) - 1)) != 0)
    return fail(ErrorCode::kInvalid, "invalid end of base64url text");
  return out;
}

KeyPair make_key_pair(Random& random) {
  KeyPair pair;
  pair.secret = random.bytes(32);
  auto public_key = public_key_of(pair.secret);
  SB_ASSERT(public_key.has_value());
  pair.public_key = std::move(*public_key);
  return pair;
}

Result<std::string> public_key_of(std::string_view secret) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(secret), secret.size()));
  std::string out(32, '\0');
  std::size_t length = out.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes_of(out), &length) != 1 || length != out.size()) {
    return fail(ErrorCode::kInvalid, "invalid Ed25519 key");
  }
  return out;
}

Result<std::string> sign(std::string_view secret, std::string_view message) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(secret), secret.size()));
  if (!key) return fail(ErrorCode::kInvalid, "invalid Ed25519 key");
  std::unique_ptr<EVP_MD_CTX, FreeMd> context(EVP_MD_CTX_new());
  std::string signature(64, '\0');
  std::size_t length = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), bytes_of(signature), &length, bytes_of(message), message.size()) != 1) {
    return fail(ErrorCode::kInternal, "signing failed");
  }
  return signature;
}

bool verify(std::string_view public_key, std::string_view message, std::string_view signature) {
  Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key), public_key.size()));
  if (!key || signature.size() != 64) return false;
  std::unique_ptr<EVP_MD_CTX, FreeMd> context(EVP_MD_CTX_new());
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

Result<std::string> seal(std::string_view secret, std::string_view passphrase, Random& random, int log_n) {
  SB_ASSERT(log_n >= 10 && log_n <= kMaxLogN);
  const std::string salt = random.bytes(kSaltBytes);
  const std::string nonce = random.bytes(kNonceBytes);
  const std::string key = SB_TRY(scrypt_key(passphrase, salt, log_n));
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context(EVP_CIPHER_CTX_new());
  std::string sealed(secret.size() + kTagBytes, '\0');
  int length = 0, last = 0;
  const bool is_done =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1 &&
      EVP_EncryptUpdate(context.get(), bytes_of(sealed), &length, bytes_of(secret), static_cast<int>(secret.size())) ==
          1 &&
      EVP_EncryptFinal_ex(context.get(), bytes_of(sealed) + length, &last) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, bytes_of(sealed) + secret.size()) == 1;
  if (!is_done) return fail(ErrorCode::kInternal, "encryption failed");
  return fmt::format("sb-seal-1.{}.{}.{}.{}", log_n, to_base64url(salt), to_base64url(nonce), to_base64url(sealed));
}

Result<std::string> unseal(std::string_view sealed, std::string_view passphrase) {
  const auto malformed = [] { return fail(ErrorCode::kCorrupt, "not a sealed key", "Restore the file from a backup"); };
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= sealed.size();) {
    const std::size_t dot = std::min(sealed.find('.', at), sealed.size());
    parts.push_back(sealed.substr(at, dot - at));
    at = dot + 1;
  }
  if (parts.size() != 5 || parts[0] != "sb-seal-1") return malformed();
  int log_n = 0;
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), log_n);
  const auto salt = from_base64url(parts[2]), nonce = from_base64url(parts[3]), body = from_base64url(parts[4]);
  if (log_n < 10 || log_n > kMaxLogN || !salt || !nonce || !body || nonce->size() != kNonceBytes ||
      body->size() < kTagBytes) {
    return malformed();
  }
  const std::string key = SB_TRY(scrypt_key(passphrase, *salt, log_n));
  std::string tag = body->substr(body->size() - kTagBytes);
  std::string secret(body->size() - kTagBytes, '\0');
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context(EVP_CIPHER_CTX_new());
  int length = 0, last = 0;
  const bool is_open =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(*nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(secret), &length, bytes_of(*body), static_cast<int>(secret.size())) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(secret) + length, &last) == 1;
  if (!is_open)
    return fail(ErrorCode::kForbidden, "wrong passphrase, or the key file was modified", "Try the passphrase again");
  return secret;
}

}  // namespace sb
