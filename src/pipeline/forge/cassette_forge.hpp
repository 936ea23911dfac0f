// Forges with cassettes (agent/cassette/cassette.hpp): calls and answers are recorded with a run and replayed offline.
//
// Each call is an exchange of kind `forge`: {call, …arguments} and {ok: …} or {error: {code, message, remedy}}.
// Temporary errors (an outage, a rate limit) are not recorded. Secrets are removed from both, and neither contains a
// token. Calls before the first Forge::set_run are recorded with that run.
#pragma once

#include <functional>
#include <memory>

#include "agent/cassette/cassette.hpp"
#include "base/clock.hpp"
#include "pipeline/forge/forge.hpp"

namespace sb::pipeline {

using CassetteOf = std::function<Result<std::shared_ptr<agent::Cassette>>(const std::string& run)>;

// `clock` distinguishes exchanges with the same request; `secrets` are known values, in addition to texts that look
// like secrets.
std::unique_ptr<Forge> make_recording_forge(std::unique_ptr<Forge> forge, CassetteOf cassette_of, Clock& clock,
                                            std::vector<std::string> secrets = {});
// kConflict, with the difference, at the first call that was not recorded; Cassette::diverged_at() reports it too.
std::unique_ptr<Forge> make_replaying_forge(const ForgeKind& kind, CassetteOf cassette_of);

}  // namespace sb::pipeline
