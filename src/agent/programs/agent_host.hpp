// A place on loopback from which an agent program of its own is led: the tools of one session over MCP, and the way to
// its model. Made by whoever may use src/mcp; the leader is whoever started the program.
//
// The program is given one token that opens both and nothing else. What it sends to the model passes through here: the
// real key is put in on the way, and every byte of the exchange is handed to the leader.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/model/model.hpp"
#include "agent/settings/agent_settings.hpp"
#include "agent/tools/tool.hpp"

namespace sb::agent {

// One question to a model on behalf of the program, as it went over the wire.
struct ProxiedExchange {
  std::string request, reply;  // bytes
  std::string model = {};      // as the provider names it
  Usage usage = {};
  StopReason stop = StopReason::kOther;
  std::string mark = {};                   // ModelReply::mark
  std::optional<ModelError> failure = {};  // what came instead of a reply, or of the rest of one
  std::int64_t ms = 0;
};

// Whoever leads the program. Called on threads of the host's, several at once, until the place is gone.
class ProgramDriver {
 public:
  virtual ~ProgramDriver() = default;
  virtual void note_activity() = 0;
  // How long its model may be silent before the program is told that it cannot be reached.
  virtual std::int64_t idle_timeout_ms() = 0;

  virtual std::vector<ToolDeclaration> tools() = 0;  // the same for as long as the place lives
  virtual ToolResult call(const ToolCall& call, const ToolRun& run) = 0;
  // Before the program runs a tool of its own (those that change something, under Claude Code's names): why the open
  // step does not let it; empty when it may.
  virtual std::string tool_denial(const ToolCall& call) = 0;

  // Before a model is asked. Waits while the session is paused. Why it may not be asked, or nothing.
  virtual std::optional<ModelError> refusal(const std::function<bool()>& should_continue) = 0;
  // Where nothing is left to do: what the program is told in the model's place, so that it ends. Nobody is asked then.
  virtual std::optional<ModelReply> final_reply() = 0;
  // Of an upstream that is scripted: the reply itself.
  virtual ModelResult reply(ModelRequest request) = 0;
  // After it was asked, and before the end of the reply is passed on. An error: it could not be kept.
  virtual Status record_exchange(const ProxiedExchange& exchange) = 0;
};

struct ProgramEndpoint {
  virtual ~ProgramEndpoint() = default;
  std::string mcp_url, mcp_token;  // streamable HTTP; the token is also the key the proxy wants
  std::string hook_url;            // takes what Claude Code sends to hooks, with the same token
  std::string proxy_url;           // stands for the provider's address, without /v1; empty: none
};

class AgentHost {
 public:
  virtual ~AgentHost() = default;
  // Until the returned object dies; calls to the leader that run then are waited for. `upstream` null: no proxy.
  virtual Result<std::unique_ptr<ProgramEndpoint>> open(ProgramDriver& driver, const ModelSettings* upstream) = 0;
};

}  // namespace sb::agent
