// What the subcommands of `signalbox runs` share.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace sb::cli {

struct RunsOptions {
  std::string id, ticket, reason, directory;
  std::string wait = "0s";
  int limit = 30;
  bool wants_json = false;
};

int export_run(const Context& context, const RunsOptions& options);

}  // namespace sb::cli
