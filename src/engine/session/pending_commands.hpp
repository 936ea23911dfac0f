// Finds the command that must run before a submission can be checked. Most workflows run none; which sessions those are
// is remembered. Not thread-safe: its owner synchronizes access.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/state/token.hpp"
#include "engine/transaction/pinned_programs.hpp"
#include "store/store.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {

struct PendingCommand {
  Summary session;
  std::string command;
  std::vector<workflow::Origin> origins;
};

class PendingCommands {
 public:
  PendingCommands(store::Store& store, PinnedPrograms& programs) : store_(store), programs_(programs) {}

  // Nothing if the token's attempt is not open, waits for someone, or its step has no command.
  Result<std::optional<PendingCommand>> find(const SessionToken& token);

 private:
  store::Store& store_;
  PinnedPrograms& programs_;
  std::set<std::string, std::less<>> without_commands_;  // sessions known to run no command
};

}  // namespace sb::engine
