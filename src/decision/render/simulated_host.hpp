// For tests: simulated hosts. They use only what they were sent, never what we stored.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "decision/render/render.hpp"

namespace sb::decision {

// The host's answer when a person picks the entries at these positions of the prompt.
Value pick(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places);

// What a person sees for the entry at this position.
std::string seen_at(const Rendered& rendered, const Prompt& prompt, std::size_t place);

}  // namespace sb::decision
