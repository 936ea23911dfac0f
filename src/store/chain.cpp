#include "store/chain.hpp"

#include <fmt/format.h>

#include "store/checks.hpp"

namespace sb::store {
namespace {

void add_integer(std::string& bytes, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
}

void add_text(std::string& bytes, std::string_view text) {
  add_integer(bytes, text.size());
  bytes += text;
}

std::unexpected<Error> corrupt(std::string_view stream, std::int64_t seq, std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("event {} of stream \"{}\" {}", seq, stream, what),
              std::string(kRepairRemedy));
}

}  // namespace

Digest event_hash(const Digest& previous, std::string_view stream, std::int64_t seq, std::string_view type,
                  TimestampMs time_ms, std::string_view payload) {
  std::string bytes;
  bytes.reserve(8 + 1 + 32 + 5 * 8 + stream.size() + type.size() + payload.size());
  bytes += "sb-event";
  bytes.push_back('\x01');
  bytes += as_bytes(previous);
  add_text(bytes, stream);
  add_integer(bytes, static_cast<std::uint64_t>(seq));
  add_text(bytes, type);
  add_integer(bytes, static_cast<std::uint64_t>(time_ms));
  add_text(bytes, payload);
  return sha256(bytes);
}

Status check_event(const Event& event) {
  if (event_hash(event.previous, event.stream, event.seq, event.type, event.time_ms, event.payload) != event.hash) {
    return corrupt(event.stream, event.seq, "was modified: its hash does not match");
  }
  return {};
}

Status check_chain(const Head& before, std::span<const Event> events) {
  Head head = before;
  for (const Event& event : events) {
    if (event.seq != head.seq + 1) return corrupt(event.stream, head.seq + 1, "is missing");
    if (event.previous != head.hash) return corrupt(event.stream, event.seq, "does not follow the previous event");
    SB_TRY(check_event(event));
    head = {event.seq, event.hash};
  }
  return {};
}

}  // namespace sb::store
