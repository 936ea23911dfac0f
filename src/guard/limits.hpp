// Limits of what hooks look at and keep; docs/limits.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::limits {

inline constexpr int kOpenSessionsScanned = 64;                // of one folder, the last started first
inline constexpr int kOpenSessionsSearched = 2'000;            // for the id a call's result names
inline constexpr int kParentFolders = 64;                      // of the one a host works in
inline constexpr std::int64_t kSessionMaxIdleMs = 43'200'000;  // 12 hours; then it holds only who uses it
inline constexpr std::size_t kHookNoteBytes = 1'024;           // what a conversation is told at once
inline constexpr std::size_t kCheckedPathBytes = 4'096;        // a longer one is refused where paths are checked
inline constexpr std::size_t kHostSessions = 16;  // sessions, and news told, remembered of one conversation
inline constexpr std::int64_t kHostSessionTtlMs = 2'592'000'000;  // 30 days since a conversation last used a session
inline constexpr int kShellDepth = 24;                            // brackets and substitutions in a command line
inline constexpr int kShellCommands = 8;                          // shells and wrappers in one another
inline constexpr std::size_t kScopePaths = 64;                    // out of scope in one session

}  // namespace sb::limits
