// For tests: hosts as they behave, looking only at what they were given and never at what we remember of it.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "decision/render/render.hpp"

namespace sb::decision {

// What the host gives back when a person picks the entries at these places, counted as in the prompt.
Value pick(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places);

// What a person reads for the entry at this place.
std::string seen_at(const Rendered& rendered, const Prompt& prompt, std::size_t place);

}  // namespace sb::decision
