// Execution silence: after a person's answer the agent's next text is the result or the next question, which the check
// at Stop enforces (at_stop.cpp). It lasts until their next message, and only matters where Stop is enabled.
#pragma once

#include <string_view>

#include "base/seams.hpp"
#include "decision/walk/walk.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

// The person answered a question of this profile: silence begins.
Status begin_silence(const HookEvent& event, std::string_view profile, const Seams& seams);

// An answer that ends the question or leads to the next one begins it; a hold, after which people discuss, ends it.
Status follow_turn(const HookEvent& event, const decision::WalkTurn& turn, std::string_view profile,
                   const Seams& seams);

}  // namespace sb::hook
