// Makes the model that the settings name. Keys are looked up here, at the last moment, and are used only in the header
// that sends them.
#pragma once

#include <memory>
#include <string>

#include "agent/model/model.hpp"
#include "agent/model/retry.hpp"
#include "agent/model/scripted.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"
#include "store/store.hpp"

namespace sb::agent {

struct ProviderParts {
  Seams seams;
  net::HttpClient& http;
  store::Store& store;
  std::string run;  // whose rows of `script-used` count; without a run, the session's id
  // Shared by all sessions of a run in this process; absent: this session is the only one.
  std::shared_ptr<UsedLines> used = {};
  RetryPolicy retries = {};
};

// Models behind HTTP retry by themselves (retry.hpp). An error in a script means the error after all retries. kInvalid:
// a `command`, which is a program and not a model; a script or key that cannot be read.
Result<std::unique_ptr<Model>> make_model(const ModelSettings& settings, ProviderParts parts);

}  // namespace sb::agent
