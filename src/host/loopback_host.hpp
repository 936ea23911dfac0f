// Leads agent programs from this process: for each one a listener on loopback with a port, a thread and a token of its
// own, gone with the program. `/mcp` has the tools of its session and of no other; `/model` is the way to its model.
//
// Nobody gets in without the token, from this machine or through a page in its browser: whoever could would work the
// session, or spend the user's money.
//
// Threads: open() from any.
#pragma once

#include <memory>

#include "agent/programs/agent_host.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"

namespace sb::host {

// All three outlive it and its places.
std::unique_ptr<agent::AgentHost> make_agent_host(const Seams& seams, net::HttpClient& http);

}  // namespace sb::host
