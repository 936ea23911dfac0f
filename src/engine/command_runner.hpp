// Runs a step's verification command, when the user trusts where it came from.
//
// `/bin/sh -c COMMAND` in the workspace, under bubblewrap where that works: the file system read-only except the
// workspace and a private /tmp, our home hidden, no network, no variables but PATH, HOME, LANG and TERM. Where
// bubblewrap does not work the command runs without, and the record says so. Time and output are bounded; the whole
// process group is killed at the end.
#pragma once

#include <string>

#include "base/seams.hpp"
#include "engine/advance.hpp"
#include "inbox/operators.hpp"
#include "workflow/catalog.hpp"

namespace sb::engine {

class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  // Never fails: a command that may not run says so in `not_run`.
  virtual CommandRun run(const std::string& command, const std::string& workspace, const workflow::Origin& origin) = 0;
};

// Commands of bundled, user, named and managed workflows run; those of a project only while its folder is trusted
// (inbox/trust.hpp) and the workflow's file is still the one the session pinned.
class SandboxedCommands final : public CommandRunner {
 public:
  SandboxedCommands(const Seams& seams, const Homes& homes, const inbox::Operators& operators)
      : seams_(seams), homes_(homes), operators_(operators) {}
  CommandRun run(const std::string& command, const std::string& workspace, const workflow::Origin& origin) override;

 private:
  Seams seams_;
  Homes homes_;
  const inbox::Operators& operators_;
};

}  // namespace sb::engine
