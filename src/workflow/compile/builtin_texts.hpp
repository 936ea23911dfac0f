// The built-in features and refs, by name.
//
// Read once, at the first call; safe from several threads afterwards.
#pragma once

#include <map>
#include <string>

#include "base/document/value.hpp"

namespace sb::workflow {

// {constraints, procedure, verify}: lists of strings, each of which may be missing.
const std::map<std::string, Value, std::less<>>& builtin_features();
const std::map<std::string, std::string, std::less<>>& builtin_refs();

}  // namespace sb::workflow
