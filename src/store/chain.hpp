// The hash that chains each event to the previous one in its stream.
//
// hash = SHA-256 over these bytes, integers big-endian, in this order:
//
//   8        "sb-event"
//   1        layout version, 0x01
//   32       hash of the previous event; 32 zero bytes for the first
//   8 + n    length of the stream's name, then the name
//   8        sequence number, from 1
//   8 + n    length of the type, then the type
//   8        time in milliseconds since 1970, two's complement
//   8 + n    length of the payload, then the payload
//
// The position in the whole log is not included, so an exported stream has the same hashes in another store.
#pragma once

#include <span>

#include "store/store.hpp"

namespace sb::store {

Digest event_hash(const Digest& previous, std::string_view stream, std::int64_t seq, std::string_view type,
                  TimestampMs time_ms, std::string_view payload);

// kCorrupt if the event's hash does not match its content.
Status check_event(const Event& event);

// kCorrupt if an event's own hash, its number or its link to the previous event is wrong. `before` is the head that the
// first event must follow.
Status check_chain(const Head& before, std::span<const Event> events);

}  // namespace sb::store
