// Everybody who can work: makes the worker an assignment needs out of the settings, and hands it what it works with.
//
// The loop asks the staff in turn for the children a step starts, for the evaluators of gates and for spawn_agent.
// Threads: work() from any, several at once.
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
  // Puts cassettes, or a replay, around a provider; may be empty.
  std::function<std::unique_ptr<Model>(std::unique_ptr<Model>, const Assignment&)> wrap_model = {};
  // What an agent's child is told of its surroundings: the sources its bundle is made of. May be empty.
  std::function<std::vector<ContextSource>(const Assignment& parent)> sources = {};
  // Values that must be in no log, prompt or note, besides the keys of the settings' models: tokens of forges, ….
  std::vector<std::string> secrets = {};
  // Files that no agent sees, besides those with the keys of the settings' models.
  std::vector<std::string> secret_files = {};
};

class AgentRunner final : public Worker {
 public:
  explicit AgentRunner(AgentRunnerParts parts);
  ~AgentRunner() override;
  WorkResult work(const Assignment& assignment, const OnProgress& on_progress) override;
  // Every value that is kept from agents: those given, and the keys of the settings' models.
  const std::vector<std::string>& secrets() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::agent
