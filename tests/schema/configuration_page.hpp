// docs/configuration.md, made from the schema of the configuration.
#pragma once

#include <string>

#include "base/document/value.hpp"

namespace sb {

std::string configuration_page(const Value& schema);

}  // namespace sb
