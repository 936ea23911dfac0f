// What a start needs from outside: the workflow compiled from a catalog, and facts about the workspace.
#pragma once

#include <string>

#include "base/files.hpp"
#include "engine/session/sessions.hpp"

namespace sb::engine {

struct StartOptions {
  std::string workflow_id = {}, goal = {};
  std::string workspace = {};  // absolute, links resolved
  Value context = {};          // object or null
  bool is_autonomous = false;
};

// NOT_FOUND with the nearest id; VALIDATION_ERROR for a workflow that does not load, with all faults in
// `details.faults`, and in `faults` if given.
SessionResult<StartRequest> prepare_start(const Files& files, const workflow::Catalog& catalog, StartOptions options,
                                          Faults* faults = nullptr);

}  // namespace sb::engine
