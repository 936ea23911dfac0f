// Forges on cassettes (agent/cassette/cassette.hpp): what was asked and answered is kept with a run, and played again
// offline.
//
// Each call is an exchange of kind `forge`: {call, …arguments} and {ok: …} or {error: {code, message, remedy}}. Answers
// that asking again might change (an outage, a rate limit) are not kept. Secrets are taken out of both, and no token is
// part of either. What is asked before anybody says for which run (Forge::set_run) is kept with the first one.
#pragma once

#include <functional>
#include <memory>

#include "agent/cassette/cassette.hpp"
#include "base/clock.hpp"
#include "pipeline/forge/forge.hpp"

namespace sb::pipeline {

using CassetteOf = std::function<Result<std::shared_ptr<agent::Cassette>>(const std::string& run)>;

// `clock` tells exchanges apart that ask the same; `secrets` are values that are known, besides what looks like one.
std::unique_ptr<Forge> make_recording_forge(std::unique_ptr<Forge> forge, CassetteOf cassette_of, Clock& clock,
                                            std::vector<std::string> secrets = {});
// kConflict, with the difference, at the first call that was not recorded; Cassette::diverged_at() says so, too.
std::unique_ptr<Forge> make_replaying_forge(const ForgeKind& kind, CassetteOf cassette_of);

}  // namespace sb::pipeline
