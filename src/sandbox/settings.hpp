// The key `sandbox` of the user's config.yaml: whether agents may run without a sandbox, and what they reach in it.
//
//   sandbox:
//     mode: required                      # none: run without a sandbox
//     read: [~/.config/pip, .env]         # besides the tool chains that are found; relative: in the workspace
//     network: ["registry.npmjs.org:443"] # nothing else is reachable
//     limits: {memory_mb: 8192, processes: 1024, open_files: 4096, shm_mb: 256, cpu_s: 3600}
//
// Only the user's own file has it: a project must not widen what its agents reach. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/setting_key.hpp"
#include "sandbox/limits.hpp"

namespace sb::sandbox {

enum class Mode { kRequired, kNone };

struct Limits {
  std::int64_t memory_mb = limits::kSandboxMemoryMb;  // resident, of all processes together
  std::int64_t processes = limits::kSandboxProcesses;
  std::int64_t open_files = limits::kSandboxOpenFiles;
  std::int64_t shm_mb = limits::kSandboxShmMb;
  std::int64_t cpu_s = limits::kSandboxCpuS;

  bool operator==(const Limits&) const = default;
  std::string text() const;  // on one line, for people
};

struct Settings {
  Mode mode = Mode::kRequired;
  std::vector<std::string> read = {};     // absolute, below ~/, or relative to the workspace
  std::vector<std::string> network = {};  // host:port, in lower case
  Limits limits = {};
};

// host:port in lower case; nothing if it is not one.
std::optional<std::string> read_endpoint(std::string_view text);

SettingKeys<Settings> setting_keys();

}  // namespace sb::sandbox
