// Starts a program as a user does, optionally kills it, and returns its output, exit code and resource usage.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb::test_program {

struct ProgramResult {
  int code = -1;  // 128 + signal if ended by one
  bool was_killed = false;
  std::string output, errors;
  long resident_kilobytes = 0;  // peak
  double took_ms = 0;

  // The last line of the output that is a JSON object; null if there is none.
  Value last() const;
};

struct Start {
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // NAME=VALUE, overrides the given ones
  std::string input = {};
  std::string directory = {};
  int max_seconds = 120;                           // then it is killed as hanging
  std::optional<std::int64_t> kill_after_us = {};  // instead of max_seconds
};

// `program`: a path, or a name found in PATH. Throws if it cannot be started.
ProgramResult start_program(const std::string& program, const std::vector<std::string>& environment,
                            const Start& start);

// The lines of a text that are JSON objects.
std::vector<Value> json_lines(std::string_view text);

}  // namespace sb::test_program
