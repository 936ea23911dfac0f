// A Service on standard input and output: one client, one line a message.
//
// Nothing but protocol goes to the output. A line that is no message is answered with its error and is not fatal. Ends
// on end of input (after the calls that run have been answered, at most a moment), on a broken pipe, and on SIGINT,
// SIGTERM and SIGHUP.
#pragma once

#include "mcp/peer/peer.hpp"
#include "net/loop.hpp"

namespace sb::mcp {

// What a server is made of; see mcp/http/http_server.hpp as well.
struct ServerParts {
  ServerFacts facts;
  std::function<std::unique_ptr<Service>()> make_service;  // called on each worker's thread
  Seal::Key seal_key;
  RequestStates::FirstUse is_first_use;
  Clock& clock;
  Random& random;
};

// Until the client is gone. The exit code of the process.
int serve_stdio(ServerParts parts, int input, int output);

}  // namespace sb::mcp
