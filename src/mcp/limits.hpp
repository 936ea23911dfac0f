// What the MCP server takes and holds at most. docs/limits.md lists them; each is tested at the edge and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::mcp::limits {

inline constexpr std::int64_t kHoldMs = 45'000;               // a call held open for a person
inline constexpr std::int64_t kStateLifeMs = 24 * 3'600'000;  // a requestState
inline constexpr std::size_t kAskRounds = 16;                 // times one call may ask, sessions' era
inline constexpr std::size_t kLateQuestions = 256;            // given up by calls, still answerable; of one client
inline constexpr std::size_t kLateBytes = 16u << 20;          // of the requests behind them
inline constexpr std::int64_t kLateMs = 24 * 3'600'000;       // for how long
inline constexpr std::size_t kCallsAtOnce = 1'024;            // running calls of one client
inline constexpr std::size_t kWorkers = 8;                    // threads that work on calls
inline constexpr std::size_t kWaitingCalls = 4'096;           // calls waiting for one of them
inline constexpr std::size_t kPageItems = 100;                // items of a list's page
inline constexpr std::size_t kCompletions = 100;              // values of one completion (the protocol's own limit)
inline constexpr std::size_t kSubscriptions = 1'000;          // subscribed resources of one client
inline constexpr std::int64_t kWatchMs = 1'000;               // between looks for changes
inline constexpr std::int64_t kWatchSoonMs = 200;             // after a call that may have changed something
inline constexpr std::int64_t kLastCallsMs = 5'000;           // for running calls when the server goes down
inline constexpr std::size_t kSessions = 4'096;               // HTTP sessions at once
inline constexpr std::int64_t kSessionIdleMs = 30 * 60'000;   // an HTTP session without a request or an open stream
inline constexpr std::int64_t kSessionLifeMs =
    7 * 24 * 3'600'000;  // how long after its making a session id of an earlier process is taken
inline constexpr std::size_t kKeptEvents = 256;             // of a stream, for a client that comes back
inline constexpr std::size_t kKeptBytes = 4u << 20;         // the same in bytes, of all streams of a session
inline constexpr std::size_t kKeptBytesInAll = 256u << 20;  // the same, of all sessions
inline constexpr std::size_t kKeptStreams = 64;             // answered streams of a session whose events are still kept
inline constexpr std::int64_t kRetryMs = 2'000;             // how long a client is told to wait before it comes back
inline constexpr std::size_t kSessionIdBytes = 4u << 10;    // a session id
inline constexpr std::size_t kEndedSessions = 65'536;       // ids of an earlier process that this one ended, remembered
inline constexpr std::int64_t kCloseWaitMs = 10'000;        // running calls, when the server stops
inline constexpr std::size_t kListeners = 4'096;            // streams open for notifications
inline constexpr std::int64_t kKeepAliveMs = 25'000;        // a comment on a silent stream
inline constexpr std::int64_t kStreamAfterMs = 2'000;       // a call that takes longer is answered by a stream

}  // namespace sb::mcp::limits
