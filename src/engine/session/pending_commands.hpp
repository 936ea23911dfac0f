// Finds what must be run before a submission can be checked: the step's command, and git where the step hands its
// changes over. Most workflows need neither; which sessions those are is remembered. Not thread-safe: its owner
// synchronizes access.
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
  std::string command;  // may be empty
  std::vector<workflow::Origin> origins;
  bool hands_over = false;        // and the session is not a run's, which compares the files when it delivers them
  bool was_gap_reported = false;  // an attempt on this node was refused for that
};

class PendingCommands {
 public:
  PendingCommands(store::Store& store, PinnedPrograms& programs) : store_(store), programs_(programs) {}

  // Nothing if the token's attempt is not open, waits for someone, or its step needs nothing run.
  Result<std::optional<PendingCommand>> find(const SessionToken& token);

 private:
  store::Store& store_;
  PinnedPrograms& programs_;
  std::set<std::string, std::less<>> without_commands_;  // sessions known to run no command
};

}  // namespace sb::engine
