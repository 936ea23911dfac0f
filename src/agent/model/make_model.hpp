// Makes the model that the settings name. Keys are looked up here, at the last moment, and go nowhere but into the
// header they are sent in.
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
  std::string run;  // whose rows of `script-used` count; the session's id where there is no run
  // One for all sessions of a run that are worked on in this process; absent: this session is alone.
  std::shared_ptr<UsedLines> used = {};
  RetryPolicy retries = {};
};

// Models behind HTTP ask again by themselves (retry.hpp). An error of a script stands for what is left after that.
// kInvalid: a `command` is no model of ours, and a script or a key that cannot be read.
Result<std::unique_ptr<Model>> make_model(const ModelSettings& settings, ProviderParts parts);

}  // namespace sb::agent
