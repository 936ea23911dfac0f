// The open question of a chain, as a Prompt and as text.
//
// Pure: the same declaration and state give the same prompt. Labels of declared options are shown as declared.
#pragma once

#include <string>

#include "decision/chain/state.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

// The open question; while the chain is on hold, the question that was held. Asserts that the chain has not ended.
Prompt chain_prompt(const ChainModel& model, const ChainState& state);

// As the profile shows it: a brief with letters, or a block with numbers.
std::string render_chain_prompt(const ChainModel& model, const ChainState& state, const Prompt& prompt);

// The declared option behind a prompt's option; nothing for the chain's own ones ("more", "back", buckets, ...).
std::optional<std::size_t> declared_index(const ChainModel& model, const Option& option);

// Option::role of the chain's own options.
inline constexpr std::string_view kOwnRole = "chain";

}  // namespace sb::decision
