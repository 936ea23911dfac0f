// The limits of `net`. docs/limits.md lists them; each is tested at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::net::limits {

inline constexpr std::size_t kMessageBytes = 16u << 20;          // one JSON-RPC message: a line or a request body
inline constexpr int kMessageDepth = 128;                        // nesting of its JSON
inline constexpr std::size_t kBatchMessages = 100;               // messages in a batch
inline constexpr std::size_t kHeaderBytes = 32u << 10;           // all headers of a request
inline constexpr std::size_t kTargetBytes = 8u << 10;            // a request's target
inline constexpr std::size_t kAllBodyBytes = 256u << 20;         // request bodies in progress, all connections together
inline constexpr std::size_t kConnections = 4'096;               // open connections
inline constexpr std::int64_t kHeaderWaitMs = 10'000;            // for the headers of a request
inline constexpr std::int64_t kBodyWaitMs = 60'000;              // for its body
inline constexpr std::int64_t kIdleWaitMs = 120'000;             // for the next request on an open connection
inline constexpr std::size_t kResponseHeaderBytes = 256u << 10;  // all headers of a response we receive
inline constexpr std::size_t kUnsentBytes = 16u << 20;           // queued for a slow reader, per stream

}  // namespace sb::net::limits
