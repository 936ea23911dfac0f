// Checks everything that can be known before hours of agents' work are spent: the repository, its remote, and the
// forge; each error says how to fix it.
#pragma once

#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

// Changes nothing. The forge's secret is sent only to its own host.
Status check_preflight(const Seams& seams, const RunSettings& settings, Forge& forge,
                       const RepositoryFacts& repository);

}  // namespace sb::pipeline
