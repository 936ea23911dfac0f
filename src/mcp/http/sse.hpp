// Server-sent events as the transport writes them, and the ids that let a client come back for those it missed. Pure.
//
// An event id is `BOOT-STREAM-NUMBER` or `BOOT-STREAM-NUMBER-REQUEST`: which process sent it, on which stream of the
// session (0 is the one for notifications, the others answer requests), the how manieth of that stream it is, and
// (base64url of its JSON) the id of the request the stream answers. So an id is unique over all streams of a session,
// also after the server was started again, and a process that does not know the stream can still tell the request what
// became of it.
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
  Value request = {};  // null: none, or longer than is worth carrying

  bool operator==(const EventId&) const = default;
};
std::string to_text(const EventId& id);
std::optional<EventId> parse_event_id(std::string_view text);

// An empty `id` is left out.
std::string event_text(std::string_view id, const Value& message);
// No data: gives the client an id to come back with, and how long to wait before it does.
std::string priming_text(std::string_view id);
inline constexpr std::string_view kKeepAliveText = ":\n\n";

}  // namespace sb::mcp
