// A program started as a user starts it, and killed as a machine does: its output, its end, what it took.
//
// Thread-safe: any number of them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb::test_program {

struct ProgramResult {
  int code = -1;  // 128 + signal when ended by one
  bool was_killed = false;
  std::string output, errors;
  long resident_kilobytes = 0;  // the most it had
  double took_ms = 0;

  // The last line of the output that is a JSON object; null when there is none.
  Value last() const;
};

struct Start {
  std::vector<std::string> arguments;
  std::vector<std::string> environment = {};  // NAME=VALUE, besides the given ones; these count
  std::string input = {};
  std::string directory = {};
  int max_seconds = 120;                           // then it is killed: a hang is a finding
  std::optional<std::int64_t> kill_after_us = {};  // instead of that
};

// `program`: a path, or a name of PATH. Throws when it cannot be started.
ProgramResult start_program(const std::string& program, const std::vector<std::string>& environment,
                            const Start& start);

// Each line of a text that is a JSON object.
std::vector<Value> json_lines(std::string_view text);

}  // namespace sb::test_program
