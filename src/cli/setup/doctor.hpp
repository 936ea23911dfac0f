// What `signalbox doctor` looks at, a function a subject. None of them makes or changes anything, and none gives up
// because another found something wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"

namespace sb::cli {

enum class Health {
  kOk,
  kNote,   // works, but somebody may want to know or do something
  kWrong,  // something does not work until it is mended
};

struct Finding {
  Health health = Health::kOk;
  std::string what;
  std::string remedy = {};
};
using Findings = std::vector<Finding>;

struct Patient {
  const Seams& seams;
  std::optional<Homes> homes;  // nothing when the environment leads to none
  std::string project;         // around the current folder, absolute and without links
  std::string program;         // this one, absolute
  std::string version;
  int port = 0;  // where `signalbox serve` listens
};

Findings check_home(const Patient& patient);
Findings check_configuration(const Patient& patient);
Findings check_store(const Patient& patient);
Findings check_keys(const Patient& patient);
Findings check_claude_code(const Patient& patient);
Findings check_codex(const Patient& patient);
Findings check_hooks(const Patient& patient);
Findings check_server(const Patient& patient);
Findings check_sandbox(const Patient& patient);
Findings check_git(const Patient& patient);
Findings check_terminal(const Patient& patient);

// The absolute path of a program in PATH; empty when there is none.
std::string program_in_path(const Seams& seams, std::string_view name);

}  // namespace sb::cli
