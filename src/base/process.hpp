// Runs other programs to completion, with limits on time and output.
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
  std::string directory = {};                                          // empty: the current directory
  std::optional<std::map<std::string, std::string>> environment = {};  // absent: inherited
  std::int64_t timeout_ms = 60'000;
  std::size_t max_output_bytes = 1 << 20;
  bool merge_stderr = false;      // errors go to the output, in the order written
  bool keep_tail = false;         // over the limit, keep both ends of the output, with a line between them
  bool kill_descendants = false;  // also kill processes that left its process group
  // What it and its descendants may use together; 0: as much as they want. Over it, all of them are killed.
  struct Ceiling {
    std::int64_t memory_bytes = 0, processes = 0;
    std::vector<std::string> memory_folders = {};  // file systems in memory that only they see; count as memory
  };
  Ceiling ceiling = {};
  // Files that it and its descendants see read-only, so that they cannot change their modes either. Only where we may
  // mount, as root may; elsewhere ignored.
  std::vector<std::string> sealed_files = {};
  std::string control_group = {};  // a cgroup.procs file that it is put into before it starts; empty: none
  // Called on the caller's thread about once a second; returning false kills the program, as at a timeout.
  std::function<bool()> should_continue = {};
  // Called with every piece of output and errors as it arrives, on the caller's thread.
  std::function<void(std::string_view)> on_output = {};
};

struct ProcessResult {
  int code = 0;  // 128 + signal when killed by one
  std::string output;
  std::string errors;
  bool timed_out = false;
  bool was_cancelled = false;  // should_continue returned false
  std::string exceeded = {};   // the ceiling it was killed for: `memory` or `processes`
  bool output_truncated = false;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual Result<ProcessResult> run(const Command& command) = 0;
};

// Waits for the program, not for other processes that hold its output open. Kills the whole process group at the
// timeout. The program inherits its three streams and no other open file.
//
// `kill_descendants` puts a guard process in between: it adopts orphans and kills all of them when the program exits,
// at the timeout, and when we die. Only a program that kills the guard first can escape.
class SystemProcess final : public Process {
 public:
  Result<ProcessResult> run(const Command& command) override;
};

}  // namespace sb
