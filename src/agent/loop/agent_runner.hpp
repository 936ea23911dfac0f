// Runs agents: builds the worker that an assignment needs from the settings, and gives it what it works with.
//
// The loop calls it again for the children that a step starts, for gate evaluators and for spawn_agent. Thread-safe:
// work() may be called from several threads at a time.
#pragma once

#include <memory>

#include "agent/loop/worker.hpp"
#include "agent/programs/agent_host.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/seams.hpp"
#include "engine/session/session_home.hpp"
#include "net/http_client.hpp"

namespace sb::agent {

struct AgentRunnerParts {
  Seams seams;
  engine::SessionHome& home;
  const AgentSettings& settings;
  net::HttpClient& http;
  AgentHost* host = nullptr;  // null: `command` models cannot be used here
  // Wraps a provider in a recording or a replay; may be empty.
  std::function<std::unique_ptr<Model>(std::unique_ptr<Model>, const Assignment&, const ModelSettings&)> wrap_model =
      {};
  // The sources of a child agent's context bundle. May be empty.
  std::function<std::vector<ContextSource>(const Assignment& parent)> sources = {};
  // Values that must not appear in logs, prompts or notes, in addition to the keys of the settings' models: forge
  // tokens, ….
  std::vector<std::string> secrets = {};
  // Files that no agent may see, in addition to the key files of the settings' models.
  std::vector<std::string> secret_files = {};
};

class AgentRunner final : public Worker {
 public:
  explicit AgentRunner(AgentRunnerParts parts);
  ~AgentRunner() override;
  WorkResult work(const Assignment& assignment, const OnProgress& on_progress) override;
  // Every value that is kept from agents: the given ones and the keys of the settings' models.
  const std::vector<std::string>& secrets() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::agent
