// The input of a run: a ticket from any source, or an earlier run to be restarted.
#pragma once

#include <optional>
#include <string>

#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/run/coordinator.hpp"

namespace sb::runs {

// FILE, an address that the forge supports, or - for stdin. `source` receives where to read it again.
Result<pipeline::Ticket> load_ticket(const Seams& seams, pipeline::Forge& forge, const std::string& given,
                                     std::string* source = nullptr);

// A person chose to restart with the current ticket. Also for a run that ended that way long ago: what kept the new one
// from being opened may be fixed.
std::optional<pipeline::RunRequest> restart_of(const pipeline::RunState& state);

}  // namespace sb::runs
