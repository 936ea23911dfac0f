// The current time, and sleeping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sb {

// Milliseconds since 1970-01-01T00:00:00Z.
using TimestampMs = std::int64_t;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimestampMs now_ms() = 0;
  virtual void sleep_ms(std::int64_t duration_ms) = 0;
};

class SystemClock final : public Clock {
 public:
  TimestampMs now_ms() override;
  void sleep_ms(std::int64_t duration_ms) override;
};

// RFC 3339 in UTC: 2026-11-15T08:03:00.000Z
std::string to_rfc3339(TimestampMs time);
Result<TimestampMs> parse_rfc3339(std::string_view text);
// 90s, 45m, 8h, 3d, or a combination: 1h30m
Result<std::int64_t> parse_duration_ms(std::string_view text);

}  // namespace sb
