// Which fields of a prompt were not shown to the person.
#pragma once

#include <string>
#include <vector>

#include "decision/prompt.hpp"
#include "decision/render/host.hpp"
#include "decision/shown_fields.hpp"

namespace sb::decision {

// `shown` is what the host's draft recorded. Names in the order of the declaration.
std::vector<std::string> fields_not_shown(const Prompt& prompt, const Host& host, const ShownFields& shown);

}  // namespace sb::decision
