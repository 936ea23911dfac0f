// What a run is asked to do: a ticket from wherever it is, or an earlier run to be started again.
#pragma once

#include <optional>
#include <string>

#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/run/coordinator.hpp"

namespace sb::runs {

// FILE, an address the forge knows, or - for the input. `source` gets where it can be read again.
Result<pipeline::Ticket> load_ticket(const Seams& seams, pipeline::Forge& forge, const std::string& given,
                                     std::string* source = nullptr);

// A person chose to begin again with the ticket as it is now. RunQuestion of a run that was ended so long ago, too:
// whatever kept the new one from being opened may be gone.
std::optional<pipeline::RunRequest> restart_of(const pipeline::RunState& state);

}  // namespace sb::runs
