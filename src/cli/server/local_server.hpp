// Which program listens on a port of this machine, found by requesting /healthz.
#pragma once

#include <string>

namespace sb::cli {

struct LocalServer {
  enum class Owner { kNone, kSignalbox, kOther };
  Owner who = Owner::kNone;
  std::string version = {};  // for kSignalbox
};

// Waits at most about two seconds.
LocalServer probe_port(int port);

// Reads a response to GET /healthz. Pure.
LocalServer parse_health_response(const std::string& response);

}  // namespace sb::cli
