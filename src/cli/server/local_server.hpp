// Owner listens at a port of this machine, found out by asking for /healthz.
#pragma once

#include <string>

namespace sb::cli {

struct LocalServer {
  enum class Owner { kNone, kSignalbox, kOther };
  Owner who = Owner::kNone;
  std::string version = {};  // of kSignalbox
};

// Waits at most about two seconds.
LocalServer probe_port(int port);

// What an answer to GET /healthz says about who gave it. Pure.
LocalServer parse_health_response(const std::string& response);

}  // namespace sb::cli
