// The forge that the settings name.
#pragma once

#include <memory>

#include "base/seams.hpp"
#include "net/http_client.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

// `repository`: the work copy. kInvalid for a kind that is none, or a GitHub repository that cannot be told.
Result<std::unique_ptr<Forge>> make_forge(const Seams& seams, net::HttpClient& http, const ForgeSettings& settings,
                                          const std::string& repository);

}  // namespace sb::pipeline
