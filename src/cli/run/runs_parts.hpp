// Shared by the subcommands of `signalbox runs`.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace sb::cli {

struct RunsOptions {
  std::string id, ticket, reason, directory, wait;
  int limit = 30;
  bool wants_json = false;
};

int export_run(const Context& context, const RunsOptions& options);

}  // namespace sb::cli
