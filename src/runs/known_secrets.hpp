// The secret values of a workspace: keys of models, the forge's token, passwords in git's configuration.
#pragma once

#include <string>
#include <vector>

#include "base/seams.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::runs {

// Those that can be read here and now. A variable that is not set in this shell, or settings that cannot be read, give
// none.
std::vector<std::string> known_secrets(const Seams& seams, const pipeline::RunSettings& settings,
                                       const std::string& workspace);
std::vector<std::string> known_secrets(const Seams& seams, const std::string& workspace);
// The names ($NAME, file:PATH) of the others.
std::vector<std::string> unread_secrets(const Seams& seams, const pipeline::RunSettings& settings);

}  // namespace sb::runs
