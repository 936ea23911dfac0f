// What `net` takes at most. docs/limits.md lists them; each is tested at the edge and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::net::limits {

inline constexpr std::size_t kMessageBytes = 16u << 20;          // one JSON-RPC message: a line, or a request's body
inline constexpr int kMessageDepth = 128;                        // nesting of its JSON
inline constexpr std::size_t kBatchMessages = 100;               // messages in a batch
inline constexpr std::size_t kHeaderBytes = 32u << 10;           // all of a request's headers
inline constexpr std::size_t kTargetBytes = 8u << 10;            // a request's target
inline constexpr std::size_t kAllBodyBytes = 256u << 20;         // bodies that are coming in, of all connections
inline constexpr std::size_t kConnections = 4'096;               // open connections
inline constexpr std::int64_t kHeaderWaitMs = 10'000;            // until a request's headers are there
inline constexpr std::int64_t kBodyWaitMs = 60'000;              // until its body is
inline constexpr std::int64_t kIdleWaitMs = 120'000;             // a kept connection without a request
inline constexpr std::size_t kResponseHeaderBytes = 256u << 10;  // all headers of an answer to us
inline constexpr std::size_t kUnsentBytes = 16u << 20;           // waiting for a slow reader, one stream

}  // namespace sb::net::limits
