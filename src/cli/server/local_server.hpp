// Who listens at a port of this machine, found out by asking for /healthz.
#pragma once

#include <string>

namespace sb::cli {

struct LocalServer {
  enum class Who { kNobody, kSignalbox, kOther };
  Who who = Who::kNobody;
  std::string version = {};  // of kSignalbox
};

// Waits at most about two seconds.
LocalServer look_at_port(int port);

// What an answer to GET /healthz says about who gave it. Pure.
LocalServer who_answered(const std::string& response);

}  // namespace sb::cli
