// Shared by the subcommands of `signalbox store`.
#pragma once

#include "cli/command.hpp"

namespace sb::cli {

Subcommand declare_store_repair(App& store);
Subcommand declare_store_verify(App& store);

}  // namespace sb::cli
