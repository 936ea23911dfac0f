// Shared by the subcommands of `signalbox store`.
#pragma once

#include "cli/command.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::cli {

// Whether it is something that the session started with: its workflow, above all.
bool is_of_start(const engine::Damage& damage);
// What a user can do about damage that no event can restore.
std::string way_out_of(const std::string& session, const engine::Damage& damage);

Subcommand declare_store_repair(App& store);
Subcommand declare_store_verify(App& store);

}  // namespace sb::cli
