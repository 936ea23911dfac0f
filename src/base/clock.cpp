#include "base/clock.hpp"

#include <fmt/format.h>
#include <time.h>

#include <charconv>
#include <chrono>
#include <thread>

namespace sb {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

// Parses exactly `width` digits at `at`; returns -1 if that fails.
int digits_at(std::string_view text, std::size_t at, std::size_t width) {
  if (at + width > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + width; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

}  // namespace

TimestampMs SystemClock::now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void SystemClock::sleep_ms(std::int64_t duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

std::string to_rfc3339(TimestampMs time) {
  const std::int64_t day_count = (time >= 0 ? time : time - kMsPerDay + 1) / kMsPerDay;
  const std::int64_t in_day = time - day_count * kMsPerDay;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day_count}}};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), in_day / 3'600'000,
                     in_day / 60'000 % 60, in_day / 1'000 % 60, in_day % 1'000);
}

Result<TimestampMs> parse_rfc3339(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not a valid time", text),
                "Use the form 2026-11-15T08:00:00Z");
  };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':') {
    return bad();
  }
  const int year = digits_at(text, 0, 4), month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  const int hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (year < 0 || month < 0 || day < 0 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60) {
    return bad();
  }
  std::size_t at = 19;
  int milliseconds = 0;
  if (at < text.size() && text[at] == '.') {
    int scale = 100;
    const std::size_t first = ++at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      milliseconds += (text[at++] - '0') * scale;
      scale /= 10;
    }
    if (at == first) return bad();
  }
  std::int64_t offset_minutes = 0;
  const std::string_view zone = text.substr(at);
  if (zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':') {
    const int hours = digits_at(zone, 1, 2), minutes = digits_at(zone, 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return bad();
    offset_minutes = (zone[0] == '+' ? 1 : -1) * (hours * 60 + minutes);
  } else if (zone != "Z" && zone != "z") {
    return bad();
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * kMsPerDay + ((hour * 60 + minute - offset_minutes) * 60 + second) * 1'000 + milliseconds;
}

Result<std::int64_t> parse_duration_ms(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not a valid duration", text),
                "Use a form such as 90s, 45m, 8h, 30d or 1h30m");
  };
  std::int64_t total = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) return bad();
  while (at < end) {
    std::int64_t count = 0;
    const auto [after, error] = std::from_chars(at, end, count);
    if (error != std::errc{} || count < 0 || count > 100'000'000 || after == end) return bad();
    at = after;
    const bool is_ms = *at == 'm' && at + 1 < end && at[1] == 's';
    std::int64_t unit = 0;
    if (is_ms)
      unit = 1;
    else if (*at == 's')
      unit = 1'000;
    else if (*at == 'm')
      unit = 60'000;
    else if (*at == 'h')
      unit = 3'600'000;
    else if (*at == 'd')
      unit = kMsPerDay;
    else
      return bad();
    at += is_ms ? 2 : 1;
    total += count * unit;
  }
  return total;
}

}  // namespace sb
