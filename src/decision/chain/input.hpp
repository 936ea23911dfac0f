// Classifies what a person typed at a chain's question: picked options, a command, an answer to another label, free
// text, or something that looks like an answer but is not one.
//
// Exact bytes only: `B` is an answer, `b`, `B.` and `option B` are asked again, and prose passes through unchanged. A
// reply may name the question it answers: `3.2: B`. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

struct PickedOptions {
  std::vector<std::size_t> indexes;  // into the prompt's options, ascending; empty: none of them, chosen explicitly
};
struct CancelWord {};
struct WrongLabel {
  std::string label;
};
struct ChainFreeText {};
struct NotAnAnswer {};
using ChainInput = std::variant<PickedOptions, CancelWord, WrongLabel, ChainFreeText, NotAnAnswer>;

ChainInput read_chain_input(std::string_view input, const Prompt& prompt, const Profile& profile);

}  // namespace sb::decision
