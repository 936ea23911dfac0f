// A loopback server from which an external agent program is driven: the tools of one session over MCP, and access to
// its model. Implemented by code that may use src/mcp; the ProgramDriver is the code that started the program.
//
// The program gets one token that opens both and nothing else. Its requests to the model pass through here: the real
// key is added, and every byte of the exchange is passed to the driver.
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

// One request to a model on behalf of the program, as sent over the wire.
struct ProxiedExchange {
  std::string request, reply;  // bytes
  Value::Array results = {};   // of tools, in the request: all of the conversation; in the common form
  Value::Array content = {};   // the blocks of the reply, in the common form
  bool is_malformed = false;   // a part of the reply could not be read
  std::string model = {};      // as the provider names it
  Usage usage = {};
  StopReason stop = StopReason::kOther;
  std::string mark = {};                   // ModelReply::mark
  std::optional<ModelError> failure = {};  // what came instead of the reply or of its rest
  std::int64_t ms = 0;
  int attempt = 1;                             // at the same request: earlier replies were discarded
  std::optional<std::string> final_text = {};  // of a reply that ends a turn of the agent
};

// The code that drives the program. Called on threads of the host, several at a time, until the server is destroyed.
class ProgramDriver {
 public:
  virtual ~ProgramDriver() = default;
  virtual void note_activity() = 0;
  // How long its model may be silent before the program gets an error.
  virtual std::int64_t idle_timeout_ms() = 0;

  virtual std::vector<ToolDeclaration> tools() = 0;  // constant for the lifetime of the server
  virtual ToolResult call(const ToolCall& call, const ToolRun& run) = 0;
  // Before the program runs a tool of its own (those that change something, under Claude Code's names): why the open
  // step does not allow it; empty if it does.
  virtual std::string tool_denial(const ToolCall& call) = 0;

  // Before a request to the model. Waits while the session is paused. Why the request is not allowed, or nothing.
  virtual std::optional<ModelError> refusal(const std::function<bool()>& should_continue) = 0;
  // When nothing is left to do: the reply that the program gets instead of the model's, so that it ends. No request is
  // made.
  virtual std::optional<ModelReply> final_reply() = 0;
  // For a scripted upstream: the reply itself.
  virtual ModelResult reply(ModelRequest request) = 0;
  // After the request, before the end of the reply is passed on. True: the reply is discarded, and must be asked for
  // again (agent/loop/reply_check.hpp). An error: it could not be logged.
  virtual Result<bool> record_exchange(const ProxiedExchange& exchange) = 0;
};

struct ProgramEndpoint {
  virtual ~ProgramEndpoint() = default;
  int port = 0;                    // of this machine's loopback; all three are there
  std::string mcp_url, mcp_token;  // streamable HTTP; the token is also the key that the proxy expects
  std::string hook_url;            // receives Claude Code's hook events, with the same token
  std::string proxy_url;           // replaces the provider's address, without /v1; empty: none
};

class AgentHost {
 public:
  virtual ~AgentHost() = default;
  // Runs until the returned object is destroyed, which waits for running calls to the driver. `upstream` null: no
  // proxy.
  virtual Result<std::unique_ptr<ProgramEndpoint>> open(ProgramDriver& driver, const ModelSettings* upstream) = 0;
};

}  // namespace sb::agent
