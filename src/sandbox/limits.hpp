// Limits on the sandbox; docs/limits.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::sandbox::limits {

inline constexpr std::size_t kSandboxRead = 64;       // entries of sandbox.read
inline constexpr std::size_t kSandboxNetwork = 64;    // entries of sandbox.network
inline constexpr std::size_t kDoorConnections = 256;  // at the same time through one door
inline constexpr std::size_t kDoorHeadBytes = 8192;   // bytes of a request to the proxy before its body
inline constexpr std::int64_t kDoorHeadMs = 10'000;
inline constexpr std::int64_t kDoorConnectMs = 20'000;
inline constexpr std::size_t kIgnoredFiles = 1'000;          // of the user's checkout, hidden one by one
inline constexpr std::size_t kNestedCheckouts = 64;          // in the user's checkout, with ignored files of their own
inline constexpr std::size_t kVisibleEntries = 2'000'000;    // of one folder, looked at for sockets
inline constexpr std::size_t kSpecialFiles = 1'000;          // sockets and pipes in one folder, hidden one by one
inline constexpr std::uint32_t kSharedSegmentBytes = 4'096;  // of System V; a sandbox can make 4,096 of them
inline constexpr std::uint32_t kSemaphoresPerSet = 32;       // of System V
inline constexpr std::size_t kSystemEntries = 500'000;       // looked at for files that only root may read
inline constexpr std::int64_t kTemporaryMb = 1'024;          // each of /tmp, /var/tmp and the home
inline constexpr std::int64_t kSandboxMemoryMb = 8'192;      // defaults of sandbox.limits
inline constexpr std::int64_t kSandboxProcesses = 1'024;
inline constexpr std::int64_t kSandboxOpenFiles = 4'096;  // per process
inline constexpr std::int64_t kSandboxShmMb = 256;        // /dev/shm
inline constexpr std::int64_t kSandboxCpuS = 3'600;       // per process

}  // namespace sb::sandbox::limits
