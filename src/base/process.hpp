// Other programs, run to their end with limits on time and output.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb {

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::string input = {};
  std::string directory = {};                                          // empty: as we are
  std::optional<std::map<std::string, std::string>> environment = {};  // absent: ours
  std::int64_t timeout_ms = 60'000;
  std::size_t max_output_bytes = 1 << 20;
  bool merge_stderr = false;      // errors go into the output, in the order they were written
  bool keep_tail = false;         // of output over the limit both ends are kept, and a line between them says so
  bool kill_descendants = false;  // what it started ends with it, even what has left its process group
  // Asked on the caller's thread about once a second; false ends it as when the time is up.
  std::function<bool()> should_continue = {};
  // Told of every piece of output and errors as it comes, on the caller's thread.
  std::function<void(std::string_view)> on_output = {};
};

struct ProcessResult {
  int code = 0;  // 128 + signal when killed by one
  std::string output;
  std::string errors;
  bool timed_out = false;
  bool was_cancelled = false;  // should_continue said so
  bool output_truncated = false;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual Result<ProcessResult> run(const Command& command) = 0;
};

// Waits for the program, not for others that hold its output open. Kills the whole process group when the time is up.
// The program inherits its three streams and no other open file.
//
// `kill_descendants` puts a process of ours between: what is orphaned falls to it, and it ends all of them when the
// program has ended, when the time is up and when we die. Only one that kills this process first gets away.
class SystemProcess final : public Process {
 public:
  Result<ProcessResult> run(const Command& command) override;
};

}  // namespace sb
