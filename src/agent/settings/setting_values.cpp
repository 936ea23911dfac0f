#include "agent/settings/setting_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace sb::agent {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_variable(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= 256 && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

// Why it is not a valid path; empty if it is.
std::string_view path_misfit(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > 4'096) return "the path is too long";
  if (std::ranges::any_of(path, is_control)) return "the path has control characters";
  if (path.starts_with('~')) return "~ is not supported here";
  return {};
}

constexpr std::string_view kPathRemedy = "Write an absolute path, or one relative to this file's folder";

std::string below(const std::string& directory, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : join_path(directory, path);
}

}  // namespace

std::string read_secret_name(const Reader& reader, const std::string& directory) {
  // Not with Reader::string(), whose fault for a number shows the number.
  const Value& value = reader.value();
  const std::string_view text = value.is_string() ? std::string_view(value.as_string()) : std::string_view();
  if (text.starts_with('$') && is_variable(text.substr(1))) return std::string(text);
  if (text.starts_with("file:") && path_misfit(text.substr(5)).empty()) {
    return "file:" + below(directory, text.substr(5));
  }
  const bool is_number = value.is_number();
  if (!value.is_string() && !is_number) {
    reader.fault(fmt::format("expected the name of a secret, found {}", kind_name(value.kind())),
                 "Write $NAME for a variable or file:PATH for a file", ErrorCode::kInvalid, "wrong_kind");
    return {};
  }
  reader.fault(
      "a secret must not be written in this file (its value is not shown)",
      "Put it into a variable and write $NAME, or into a file and write file:PATH; replace one that was shared",
      ErrorCode::kInvalid, "literal_secret");
  return {};
}

std::string read_path(const Reader& reader, const std::string& directory) {
  const auto path = reader.string();
  if (!path) return {};
  if (const std::string_view violation = path_misfit(*path); !violation.empty()) {
    reader.fault(std::string(violation), std::string(kPathRemedy), ErrorCode::kInvalid, "bad_path");
    return {};
  }
  return below(directory, *path);
}

std::string read_url(const Reader& reader) {
  const auto url = reader.string(2'048);
  if (!url) return {};
  std::string_view rest = *url;
  const bool has_scheme = rest.starts_with("http://") || rest.starts_with("https://");
  if (has_scheme) rest.remove_prefix(rest.find("//") + 2);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) {
    reader.fault("a URL must not contain a user name or password (they are not shown)", "Use key for the secret",
                 ErrorCode::kInvalid, "literal_secret");
    return {};
  }
  const auto is_bad = [](char c) { return is_control(c) || c == ' '; };
  if (!has_scheme || host.empty() || std::ranges::any_of(*url, is_bad)) {
    reader.fault("not a valid URL", "Write it like https://api.example.com/v1", ErrorCode::kInvalid, "bad_url");
    return {};
  }
  return *url;
}

std::optional<std::int64_t> read_duration_ms(const Reader& reader, std::int64_t min, std::int64_t max) {
  const auto text = reader.string(64);
  if (!text) return std::nullopt;
  const auto duration = parse_duration_ms(*text);
  if (!duration) {
    reader.fault(duration.error().message, duration.error().remedy, ErrorCode::kInvalid, "bad_duration");
    return std::nullopt;
  }
  if (*duration >= min && *duration <= max) return *duration;
  reader.fault(fmt::format("{} is out of range", *text),
               fmt::format("Write a duration from {} s to {} h", min / 1'000, max / 3'600'000), ErrorCode::kInvalid,
               "bad_duration");
  return std::nullopt;
}

std::string read_line(const Reader& reader, std::size_t max_bytes) {
  auto text = reader.string(max_bytes);
  if (!text) return {};
  const bool is_blank = text->find_first_not_of(' ') == std::string::npos;
  if (!is_blank && std::ranges::none_of(*text, is_control)) return std::move(*text);
  reader.fault(is_blank ? "the text is empty" : "the text has control characters", "Write one line",
               ErrorCode::kInvalid, "bad_line");
  return {};
}

std::optional<double> read_dollars(const Reader& reader) {
  const auto number = reader.number();
  if (!number) return std::nullopt;
  if (*number >= 0 && *number <= kMostDollars) return number;
  reader.fault("the number is out of range", fmt::format("Write a number from 0 to {}", kMostDollars),
               ErrorCode::kInvalid, "out_of_range");
  return std::nullopt;
}

Value secret_schema() {
  return Value::object({{"type", "string"}, {"pattern", "^(\\$[A-Za-z_][A-Za-z0-9_]*|file:[^~].*)$"}});
}

Value path_schema() {
  return Value::object({{"type", "string"}, {"minLength", 1}, {"maxLength", 4'096}});
}

Value url_schema() {
  return text_schema(2'048, "^https?://[^/?#@ ]+");
}

Value duration_schema() {
  return text_schema(64);
}

Value dollars_schema(double least) {
  return Value::object({{"type", "number"}, {"minimum", least}, {"maximum", kMostDollars}});
}

Value line_schema(std::size_t max_bytes) {
  return text_schema(max_bytes, "^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$");
}

}  // namespace sb::agent
