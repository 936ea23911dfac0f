// Digests, MACs, signatures and sealed secrets, implemented with OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "base/result.hpp"

namespace sb {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
std::string sha1_hex(std::string_view bytes);  // only for names that other programs derive this way; not for security
Digest hmac_sha256(std::string_view key, std::string_view bytes);
bool constant_time_equal(std::string_view a, std::string_view b);

std::string_view as_bytes(const Digest& digest);
std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view hex);
std::string to_base64url(std::string_view bytes);           // no padding
Result<std::string> from_base64url(std::string_view text);  // strict: no padding, no other characters, no spare bits

// Ed25519 with raw keys and signatures.
struct KeyPair {
  std::string secret;      // 32 bytes
  std::string public_key;  // 32 bytes
};
KeyPair make_key_pair(Random& random);
Result<std::string> public_key_of(std::string_view secret);
Result<std::string> sign(std::string_view secret, std::string_view message);  // 64 bytes
bool verify(std::string_view public_key, std::string_view message, std::string_view signature);

// A secret encrypted with a passphrase: scrypt derives the key, AES-256-GCM encrypts. Sealed form, all parts base64url:
// `sb-seal-1.LOGN.SALT.NONCE.CIPHERTEXT+TAG`. A wrong passphrase or a modified byte returns kForbidden.
Result<std::string> seal(std::string_view secret, std::string_view passphrase, Random& random, int log_n = 15);
Result<std::string> unseal(std::string_view sealed, std::string_view passphrase);

}  // namespace sb
