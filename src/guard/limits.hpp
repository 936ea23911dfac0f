// Limits of what hooks check and store; docs/limits.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::limits {

inline constexpr int kOpenSessionsScanned = 64;  // per folder, most recently started first
inline constexpr int kParentFolders = 64;        // of the host's working folder
inline constexpr std::int64_t kSessionMaxIdleMs =
    43'200'000;  // 12 hours; afterwards it restricts only conversations that use it
inline constexpr std::size_t kHookNoteBytes = 1'024;     // per note to a conversation
inline constexpr std::size_t kCheckedPathBytes = 4'096;  // a longer one is refused where paths are checked
inline constexpr std::size_t kHostSessions = 16;         // sessions, and reported decisions, stored per conversation
inline constexpr std::int64_t kHostSessionTtlMs = 2'592'000'000;  // 30 days since a conversation last used a session
inline constexpr int kShellDepth = 24;                            // brackets and substitutions in a command line
inline constexpr int kShellCommands = 8;                          // nested shells and wrappers
inline constexpr std::size_t kChangedPaths = 1'000;               // of one call; with more, what it changes is unknown
inline constexpr std::size_t kFileTools = 64;                     // of `file_tools` in the user's configuration
inline constexpr std::size_t kFileToolWords = 64;                 // names, and paths, of one of them
inline constexpr std::size_t kFileToolWordBytes = 256;
inline constexpr std::int64_t kOfferMaxIdleMs = 604'800'000;  // 7 days; afterwards a session is not offered to others

}  // namespace sb::limits
