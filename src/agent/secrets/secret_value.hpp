// The value behind a secret's name in the settings, looked up at the moment it is sent.
#pragma once

#include <string>

#include "base/seams.hpp"

namespace sb::agent {

// `$NAME`: a variable; `file:PATH`: the first line of a file that its owner alone may read. Empty for an empty name.
// kNotFound, kForbidden and kInvalid name the name, never the value.
Result<std::string> secret_of(const std::string& name, const Seams& seams);
// PATH of `file:PATH`, to be kept from agents; empty for other names.
std::string secret_file(const std::string& name);

}  // namespace sb::agent
