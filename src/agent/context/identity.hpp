// The text of the slot `identity`: the same for every agent, whatever it is told besides. Pure.
#pragma once

#include <string>

namespace sb::agent {

std::string identity_text();

}  // namespace sb::agent
