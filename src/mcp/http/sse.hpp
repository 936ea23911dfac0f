// Server-sent events as the transport writes them, and the ids with which a client gets the events it missed. Pure.
//
// An event id is `BOOT-STREAM-NUMBER` or `BOOT-STREAM-NUMBER-REQUEST`: the process that sent it, the stream of the
// session (0 is the one for notifications, the others answer requests), the number of the event in that stream, and
// (base64url of its JSON) the id of the request the stream answers. So an id is unique over all streams of a session,
// even after a server restart, and a process that does not know the stream can still report what happened to the
// request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::mcp {

inline constexpr std::uint64_t kGeneralStream = 0;

struct EventId {
  std::string boot;  // letters and digits
  std::uint64_t stream = kGeneralStream;
  std::uint64_t number = 0;
  Value request = {};  // null: none, or too long to include

  bool operator==(const EventId&) const = default;
};
std::string to_text(const EventId& id);
std::optional<EventId> parse_event_id(std::string_view text);

// An empty `id` is omitted.
std::string event_text(std::string_view id, const Value& message);
// No data: gives the client an id to reconnect with, and a delay before it does.
std::string priming_text(std::string_view id);
inline constexpr std::string_view kKeepAliveText = ":\n\n";

}  // namespace sb::mcp
