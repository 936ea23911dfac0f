// What the agent reads about a question that takes several prompts: the next one to ask, as the exact input of its
// tool, or how it ended.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "decision/walk/walk.hpp"
#include "hook/events/event.hpp"
#include "inbox/home.hpp"

namespace sb::hook {

// `lead`, then the open question of the decision as a call for this host. While it is on hold: how it continues.
Result<std::string> ask_next(inbox::Home& home, const inbox::DecisionState& state,
                             const decision::Declaration& declaration, const decision::Host& host,
                             std::string_view lead);

// After an answer that moved the walk, or did not.
Result<std::string> words_after(inbox::Home& home, const inbox::Walked& walked,
                                const decision::Declaration& declaration, const inbox::PlannedPrompt& prompt);

// How a closed decision ended, for an agent that must act on it; empty for one that is open.
std::string ending_words(const inbox::DecisionState& state);

// The person wrote a message while a chain of this folder is on hold: if it is "continue", "reset" or the key of an
// option, and nothing else, the chain continues, and the next question is returned; if it is "abort" or "cancel", how
// it ended. Otherwise empty.
Result<std::string> continued_by(const HookEvent& event, const std::string& folder, const Seams& seams);

}  // namespace sb::hook
