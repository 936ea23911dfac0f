// Times for people: in the time zone of this machine, with its name. Programs get RFC 3339 (base/clock.hpp).
#pragma once

#include <string>

#include "base/clock.hpp"

namespace sb::cli {

std::string local_time(TimestampMs time);    // 2026-11-15 09:03:00 CET
std::string local_minute(TimestampMs time);  // 2026-11-15 09:03
std::string local_clock(TimestampMs time);   // 09:03:00
// The clock alone if it is today, else the date too: 09:03:00 CET.
std::string local_until(TimestampMs time, TimestampMs now);

}  // namespace sb::cli
