// The text of a model's reply, from its bytes on the wire, streamed or whole. Pure.
#pragma once

#include <string>
#include <string_view>

#include "agent/programs/proxy_wire.hpp"

namespace sb::agent {

// All texts of the message, joined; not its thinking. Ignores what it does not understand.
std::string reply_text(Wire wire, std::string_view reply);

}  // namespace sb::agent
