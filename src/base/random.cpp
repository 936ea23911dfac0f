#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.hpp"

namespace sb {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (c == 'o') c = '0';
  if (c == 'i' || c == 'l') c = '1';
  const auto at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string Random::bytes(std::size_t count) {
  std::string out(count, '\0');
  fill({reinterpret_cast<std::uint8_t*>(out.data()), count});
  return out;
}

void SystemRandom::fill(std::span<std::uint8_t> bytes) {
  // From the kernel: a library's own generator needs memory, and there may be none left.
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    SB_ASSERT(count > 0 || errno == EINTR);
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::string to_base32(std::string_view bytes) {
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(c);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += kAlphabet[(buffer >> bits) & 31];
    }
  }
  if (bits > 0) out += kAlphabet[(buffer << (5 - bits)) & 31];
  return out;
}

std::optional<std::string> from_base32(std::string_view text) {
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) return std::nullopt;
    buffer = ((buffer << 5) | static_cast<unsigned>(digit)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(buffer >> bits);
    }
  }
  if (bits >= 5 || (buffer & ((1u << bits) - 1)) != 0) return std::nullopt;
  return out;
}

std::string make_id(std::string_view prefix, std::int64_t now_ms, Random& random) {
  std::string bytes(6, '\0');
  for (int i = 0; i < 6; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(now_ms >> (8 * (5 - i)));
  return std::string(prefix) + to_base32(bytes + random.bytes(10));
}

}  // namespace sb
