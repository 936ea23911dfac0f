// Hosts agent programs from this process: each gets its own loopback listener with a port, a thread and a token, closed
// when the program ends. `/mcp` has the tools of its session only; `/model` forwards to its model.
//
// Every request needs the token, from this machine or through a page in its browser: otherwise another program could
// work on the session or spend the user's money.
//
// Threads: open() from any.
#pragma once

#include <memory>

#include "agent/programs/agent_host.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"

namespace sb::host {

// All three must outlive it and the hosts it opens.
std::unique_ptr<agent::AgentHost> make_agent_host(const Seams& seams, net::HttpClient& http);

}  // namespace sb::host
