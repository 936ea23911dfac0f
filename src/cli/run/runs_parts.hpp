// Shared by the subcommands of `signalbox runs`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "store/paging.hpp"

namespace sb::cli {

struct RunsOptions {
  std::string id, ticket, reason, directory, wait;
  store::PageRequest page = {};
  bool wants_json = false;
};

int export_run(const Context& context, const RunsOptions& options);

}  // namespace sb::cli
