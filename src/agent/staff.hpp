// Everybody who can work: makes the worker an assignment needs out of the settings, and hands it what it works with.
//
// The loop asks the staff in turn for the children a step starts, for the evaluators of gates and for spawn_agent.
// Threads: work() from any, several at once.
#pragma once

#include <memory>

#include "agent/settings.hpp"
#include "agent/worker.hpp"
#include "base/seams.hpp"
#include "engine/session_desk.hpp"
#include "net/http_client.hpp"

namespace sb::agent {

// A server on loopback that leads an agent program: MCP for one session, and the way to the model. Made by whoever may
// use src/mcp.
struct LedPlace {
  std::string mcp_url, mcp_token;  // streamable HTTP; the token lets in to this session only
  std::string proxy_url;           // stands for the provider's address; empty: none
};
class AgentHost {
 public:
  virtual ~AgentHost() = default;
  struct Guest {
    std::string run, session, workflow, role;
    const ModelSettings* upstream = nullptr;  // null: no proxy
  };
  // Until the returned object dies.
  virtual Result<std::shared_ptr<LedPlace>> open(const Guest& guest, Worker& children) = 0;
};

struct StaffParts {
  Seams seams;
  engine::SessionDesk& desk;
  const AgentSettings& settings;
  net::HttpClient& http;
  AgentHost* host = nullptr;  // null: `command` models cannot be used here
  // Puts cassettes, or a replay, around a provider; may be empty.
  std::function<std::unique_ptr<Model>(std::unique_ptr<Model>, const Assignment&)> around = {};
  // What an agent's child is told of its surroundings: the sources its bundle is made of. May be empty.
  std::function<std::vector<Source>(const Assignment& parent)> sources = {};
};

class Staff final : public Worker {
 public:
  explicit Staff(StaffParts parts);
  ~Staff() override;
  Ended work(const Assignment& assignment, const OnProgress& on_progress) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::agent
