// docs/configuration.md, made from the schema of the configuration.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb {

// `user_only`: keys that a project's file cannot have.
std::string configuration_page(const Value& schema, const std::vector<std::string>& user_only);

}  // namespace sb
