// The fields that the body of a forEach loop uses of its items, and the items that lack them. Pure.
//
// Used is what the steps of the body read, those of loops inside too: `{{item.field}}` in titles, prompts, guidance,
// fragments, questions and what is handed to other workflows; the paths of `needs`, `optionsFrom`, `contextMapping`,
// and of the lists and counts of loops inside. What is ruled out for an item does not count: by a condition that does
// not hold for it or for the keys that are set, by one that reads a field which the item does not have (it is there for
// such items), by a list that is empty. A condition that is not certain yet rules nothing out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advance/advance.hpp"

namespace sb::engine {

// The fields that all loops over this list use of any item, whatever it is.
std::vector<std::string> item_fields_of(const Program& program, std::string_view key, const Value& view);

// Nothing if all items have what the loop's body uses. `view`: the context in which the loop's list is looked up; a
// list that is not set or not a list is not judged here.
std::optional<Blocker> lacking_items(const workflow::Step& loop, const Value& view);

// For each key that a submission sets: what the items of loops over it lack.
std::vector<Blocker> lacking_items_of(const Program& program, const Value& set, const Value& after);

}  // namespace sb::engine
