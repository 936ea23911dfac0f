// The text of the slot `identity`, the same for every agent. Pure.
#pragma once

#include <string>

namespace sb::agent {

std::string identity_text();

}  // namespace sb::agent
