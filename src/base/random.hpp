// Random bytes from the system, or in tests from a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sb {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;

  std::string bytes(std::size_t count);
};

class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override;
};

// A new id: the prefix, then 26 characters of lower-case Crockford base32 (48 bits of milliseconds, 80 random bits), so
// that ids sort by creation time.
std::string make_id(std::string_view prefix, std::int64_t now_ms, Random& random);
// Lower-case Crockford base32 of the bytes, without padding.
std::string to_base32(std::string_view bytes);
// Decodes to bytes; also accepts upper case, o for 0, and i and l for 1. Nothing for any other character or non-zero
// spare bits.
std::optional<std::string> from_base32(std::string_view text);

}  // namespace sb
