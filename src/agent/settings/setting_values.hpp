// Reads the kinds of values that settings have: names of secrets, paths, URLs, durations, lines.
//
// An invalid value is reported as a fault and read as empty. No fault shows a secret.
#pragma once

#include <optional>
#include <string>

#include "base/document/setting_key.hpp"

namespace sb::agent {

// `$NAME` or `file:PATH`; relative paths are below `directory`. A literal secret is rejected without being shown.
std::string read_secret_name(const Reader& reader, const std::string& directory);
// Absolute, or below `directory`.
std::string read_path(const Reader& reader, const std::string& directory);
// http or https with a host, and without a user name or password.
std::string read_url(const Reader& reader);
// 90s, 10m, 1h30m.
std::optional<std::int64_t> read_duration_ms(const Reader& reader, std::int64_t min, std::int64_t max);
// One non-blank line without control characters.
std::string read_line(const Reader& reader, std::size_t max_bytes = 1'024);
// From 0 to kMostDollars.
inline constexpr double kMostDollars = 1e6;
std::optional<double> read_dollars(const Reader& reader);

// The same rules in the published schema.
Value secret_schema();
Value path_schema();
Value url_schema();
Value duration_schema();
Value line_schema(std::size_t max_bytes = 1'024);
Value dollars_schema(double least = 0);

// Rows for keys of these kinds.

template <class S>
SettingKey<S> line_key(std::string_view name, std::string S::* member, std::string_view help,
                       std::size_t max_bytes = 1'024) {
  return text_key<S>(
      name, member, line_schema(max_bytes),
      [=](const Reader& reader, const SettingSource&) { return read_line(reader, max_bytes); }, help);
}

template <class S>
SettingKey<S> url_key(std::string_view name, std::string S::* member, std::string_view help) {
  return text_key<S>(
      name, member, url_schema(), [](const Reader& reader, const SettingSource&) { return read_url(reader); }, help);
}

template <class S>
SettingKey<S> secret_key(std::string_view name, std::string S::* member, std::string_view help) {
  return text_key<S>(
      name, member, secret_schema(),
      [](const Reader& reader, const SettingSource& source) { return read_secret_name(reader, source.directory); },
      help);
}

// Stored in milliseconds, as `stored_name`.
template <class S>
SettingKey<S> duration_key(std::string_view name, std::string_view stored_name, std::int64_t S::* member,
                           std::int64_t min_ms, std::int64_t max_ms, std::string_view help) {
  return {.name = name,
          .help = help,
          .schema = duration_schema(),
          .read = [=](const Reader& reader, const SettingSource&,
                      S& settings) { settings.*member = read_duration_ms(reader, min_ms, max_ms).value_or(0); },
          .write = [=](const S& settings, Value& stored) { stored.set(stored_name, settings.*member); },
          .restore = [=](const Value& stored, S& settings) { settings.*member = stored_integer(stored, stored_name); }};
}

}  // namespace sb::agent
