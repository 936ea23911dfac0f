#include "cli/local_time.hpp"

#include <ctime>

namespace sb::cli {
namespace {

std::string formatted(TimestampMs time, const char* format) {
  const std::time_t seconds = static_cast<std::time_t>((time - (time < 0 ? 999 : 0)) / 1000);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return to_rfc3339(time);
  char text[128];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

}  // namespace

std::string local_time(TimestampMs time) {
  return formatted(time, "%Y-%m-%d %H:%M:%S %Z");
}

std::string local_minute(TimestampMs time) {
  return formatted(time, "%Y-%m-%d %H:%M");
}

std::string local_clock(TimestampMs time) {
  return formatted(time, "%H:%M:%S");
}

std::string local_until(TimestampMs time, TimestampMs now) {
  const bool is_today = formatted(time, "%F") == formatted(now, "%F");
  return formatted(time, is_today ? "%H:%M:%S %Z" : "%Y-%m-%d %H:%M:%S %Z");
}

}  // namespace sb::cli
