// Values of settings that are read alike everywhere: secrets that are only named, paths, addresses, durations, lines.
//
// Each gives a fault, and an empty value, for what it cannot take. No fault shows a secret.
#pragma once

#include <optional>
#include <string>

#include "base/document/reader.hpp"

namespace sb::agent {

// `$NAME` or `file:PATH`, relative ones below `directory`. The secret itself is refused without being shown.
std::string read_secret_name(const Reader& reader, const std::string& directory);
// Absolute, or below `directory`.
std::string read_path(const Reader& reader, const std::string& directory);
// http or https with a host, and nobody's name or password in it.
std::string read_url(const Reader& reader);
// 90s, 10m, 1h30m.
std::optional<std::int64_t> read_duration_ms(const Reader& reader, std::int64_t min, std::int64_t max);
// One line that says something, without control characters.
std::string read_line(const Reader& reader, std::size_t max_bytes = 1'024);

}  // namespace sb::agent
