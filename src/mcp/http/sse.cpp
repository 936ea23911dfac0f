#include "mcp/http/sse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "mcp/limits.hpp"

namespace sb::mcp {
namespace {

constexpr std::size_t kRequestIdBytes = 64;
constexpr std::size_t kEventIdBytes = 256;

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Value> parse_request(std::string_view text) {
  const auto json = from_base64url(text);
  if (!json) return std::nullopt;
  // Wrapped, because a document must be an object or a list.
  const auto list = parse_json(fmt::format("[{}]", *json), {.bytes = kEventIdBytes});
  if (!list || list->size() != 1) return std::nullopt;
  const Value& id = list->items().front();
  return id.is_string() || id.is_integer() ? std::optional(id) : std::nullopt;
}

}  // namespace

std::string to_text(const EventId& id) {
  std::string text = fmt::format("{}-{}-{}", id.boot, id.stream, id.number);
  if (id.request.is_null()) return text;
  const std::string json = to_json(id.request);
  return json.size() > kRequestIdBytes ? text : text + "-" + to_base64url(json);
}

std::optional<EventId> parse_event_id(std::string_view text) {
  if (text.size() > kEventIdBytes) return std::nullopt;
  // base64url itself contains '-', so the request is everything that is left.
  const auto parts = split(text, '-', 4);
  if (parts.size() < 3 || parts[0].empty()) return std::nullopt;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (!std::ranges::all_of(parts[0], is_letter)) return std::nullopt;
  const auto stream = parse_count(parts[1]);
  const auto number = parse_count(parts[2]);
  if (!stream || !number) return std::nullopt;
  EventId id{.boot = std::string(parts[0]), .stream = *stream, .number = *number};
  if (parts.size() == 3) return id;
  auto request = parse_request(parts[3]);
  if (!request) return std::nullopt;
  id.request = std::move(*request);
  return id;
}

std::string event_text(std::string_view id, const Value& message) {
  if (id.empty()) return fmt::format("event: message\ndata: {}\n\n", to_json(message));
  return fmt::format("event: message\nid: {}\ndata: {}\n\n", id, to_json(message));
}

std::string priming_text(std::string_view id) {
  return fmt::format("id: {}\nretry: {}\ndata:\n\n", id, limits::kRetryMs);
}

}  // namespace sb::mcp
