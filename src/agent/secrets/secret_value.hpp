// Resolves a secret's name in the settings to its value, at the moment it is sent.
#pragma once

#include <string>

#include "base/seams.hpp"

namespace sb::agent {

// `$NAME`: a variable; `file:PATH`: the first line of a file that only its owner may read. Empty for an empty name.
// kNotFound, kForbidden and kInvalid mention the name, never the value.
Result<std::string> secret_of(const std::string& name, const Seams& seams);
// PATH of `file:PATH`, to be hidden from agents; empty for other names.
std::string secret_file(const std::string& name);

}  // namespace sb::agent
