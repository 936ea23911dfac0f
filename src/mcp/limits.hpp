// The limits of the MCP server. docs/limits.md lists them; each is tested at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::mcp::limits {

inline constexpr std::int64_t kHoldMs = 45'000;                 // a call held open for a person
inline constexpr std::int64_t kLongestHoldMs = 24 * 3'600'000;  // the same where the client waits longer (--hold)
inline constexpr std::int64_t kStateLifeMs = 24 * 3'600'000;    // a requestState
inline constexpr std::size_t kAskRounds = 512;                  // rounds of questions per call, session era
inline constexpr std::size_t kLateQuestions = 256;              // abandoned by calls, still answerable; per client
inline constexpr std::size_t kLateBytes = 16u << 20;            // of their requests
inline constexpr std::int64_t kLateMs = 24 * 3'600'000;         // how long they can be answered
inline constexpr std::size_t kCallsAtOnce = 1'024;              // running calls per client
inline constexpr std::size_t kWorkers = 8;                      // threads that run calls
inline constexpr std::size_t kWaitingCalls = 4'096;             // calls waiting for a thread
inline constexpr std::size_t kPageItems = 100;                  // items per page of a list
inline constexpr std::size_t kCompletions = 100;                // values per completion (the protocol's own limit)
inline constexpr std::size_t kSubscriptions = 1'000;            // subscribed resources per client
inline constexpr std::int64_t kWatchMs = 1'000;                 // between checks for changes
inline constexpr std::int64_t kWatchSoonMs = 200;               // after a call that may have changed something
inline constexpr std::int64_t kLastCallsMs = 5'000;             // for running calls when the server stops
inline constexpr std::size_t kSessions = 4'096;                 // open HTTP sessions
inline constexpr std::int64_t kSessionIdleMs = 30 * 60'000;     // an HTTP session without a request or an open stream
inline constexpr std::int64_t kSessionLifeMs =
    7 * 24 * 3'600'000;                                     // how long a session id of an earlier process is accepted
inline constexpr std::size_t kKeptEvents = 256;             // per stream, for a client that reconnects
inline constexpr std::size_t kKeptBytes = 4u << 20;         // the same in bytes, per session
inline constexpr std::size_t kKeptBytesInAll = 256u << 20;  // the same, all sessions together
inline constexpr std::size_t kKeptStreams = 64;             // finished streams per session whose events are kept
inline constexpr std::int64_t kRetryMs = 2'000;             // delay before a client reconnects
inline constexpr std::size_t kSessionIdBytes = 4u << 10;    // a session id
inline constexpr std::size_t kEndedSessions = 65'536;       // remembered ids of an earlier process that this one ended
inline constexpr std::int64_t kCloseWaitMs = 10'000;        // for running calls on shutdown
inline constexpr std::size_t kListeners = 4'096;            // streams open for notifications
inline constexpr std::int64_t kKeepAliveMs = 25'000;        // between comments on a silent stream
inline constexpr std::int64_t kStreamAfterMs = 2'000;       // a longer call is answered with a stream

}  // namespace sb::mcp::limits
