// A Service on standard input and output: one client, one message per line.
//
// Writes only protocol messages to the output. An invalid line gets an error response and is not fatal. Ends at the end
// of input (after running calls have been answered, within a short time), on a broken pipe, and on SIGINT, SIGTERM and
// SIGHUP.
#pragma once

#include "mcp/peer/peer.hpp"
#include "net/loop.hpp"

namespace sb::mcp {

// The parts of a server; see also mcp/http/http_server.hpp.
struct ServerParts {
  ServerFacts facts;
  std::function<std::unique_ptr<Service>()> make_service;  // called on each worker's thread
  Seal::Key seal_key;
  RequestStates::FirstUse is_first_use;
  Clock& clock;
  Random& random;
  std::int64_t hold_ms = limits::kHoldMs;
};

// Runs until the client is gone. Returns the exit code of the process. `caller` is asked at every call: who the client
// is may change while it runs.
int serve_stdio(ServerParts parts, int input, int output, std::function<Caller()> caller = {});

}  // namespace sb::mcp
