// Where random bytes come from: the system, or in tests a seed.
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

// A new id: prefix, then 26 characters of Crockford base32 in lower case: 48 bits of milliseconds, 80 random bits, so
// that ids sort by when they were made.
std::string make_id(std::string_view prefix, std::int64_t now_ms, Random& random);
// Lower-case Crockford base32 of the bytes, no padding.
std::string to_base32(std::string_view bytes);
// The bytes; upper case, o for 0 and i and l for 1 are read too. Nothing for any other character or set spare bits.
std::optional<std::string> from_base32(std::string_view text);

}  // namespace sb
