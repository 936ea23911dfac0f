// Other programs, run to their end with limits on time and output.
#pragma once

#include <map>
#include <optional>
#include <string>
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
};

struct Exit {
  int code = 0;  // 128 + signal when killed by one
  std::string output;
  std::string errors;
  bool timed_out = false;
  bool output_cut = false;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual Result<Exit> run(const Command& command) = 0;
};

// Kills the whole process group when the time is up.
class SystemProcess final : public Process {
 public:
  Result<Exit> run(const Command& command) override;
};

}  // namespace sb
