// Forges on cassettes (agent/cassette.hpp): what was asked and answered is kept with a run, and played again offline.
//
// Each call is an exchange of kind `forge`: {call, …arguments} and {ok: …} or {error: {code, message, remedy}}. Answers
// that asking again might change (an outage, a rate limit) are not kept. No token is part of either.
#pragma once

#include <memory>

#include "agent/cassette.hpp"
#include "base/clock.hpp"
#include "pipeline/forge.hpp"

namespace sb::pipeline {

// `clock` tells exchanges apart that ask the same.
std::unique_ptr<Forge> make_recording_forge(std::unique_ptr<Forge> forge, std::shared_ptr<agent::Cassette> cassette,
                                            Clock& clock);
// kConflict, with the difference, at the first call that was not recorded.
std::unique_ptr<Forge> make_replaying_forge(std::string name, bool is_hosted,
                                            std::shared_ptr<agent::Cassette> cassette);

}  // namespace sb::pipeline
