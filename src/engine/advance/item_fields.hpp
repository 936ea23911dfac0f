// The fields that the body of a forEach loop uses of its items, and the items that lack them. Pure.
//
// Used is what the steps of the body show whatever happens: `{{item.field}}` in titles, prompts, guidance, fragments
// and what is handed to other workflows. Steps and fragments with a condition, and loops inside that may have no
// iteration, do not count: their items may differ on purpose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advance/advance.hpp"

namespace sb::engine {

std::vector<std::string> item_fields(const workflow::LoopStep& loop);
// Of all loops over this list.
std::vector<std::string> item_fields_of(const Program& program, std::string_view key);

// Nothing if all items have what the loop's body uses. `view`: the context in which the loop's list is looked up; a
// list that is not set or not a list is not judged here.
std::optional<Blocker> lacking_items(const workflow::Step& loop, const Value& view);

// For each key that a submission sets: what the items of loops over it lack.
std::vector<Blocker> lacking_items_of(const Program& program, const Value& set, const Value& after);

}  // namespace sb::engine
