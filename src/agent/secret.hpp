// The value behind a secret's name in the settings, looked up at the moment it is sent.
#pragma once

#include <string>

#include "base/seams.hpp"

namespace sb::agent {

// `$NAME`: a variable; `file:PATH`: the first line of a file that its owner alone may read. Empty for an empty name.
// kNotFound, kForbidden and kInvalid name the name, never the value.
Result<std::string> secret_of(const std::string& name, const Seams& seams);

}  // namespace sb::agent
