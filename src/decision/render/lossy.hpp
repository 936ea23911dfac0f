// Which fields of a prompt are not to be seen in what was rendered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decision/profile.hpp"
#include "decision/prompt.hpp"
#include "decision/render/host.hpp"

namespace sb::decision {

// `shown` is everything the host displays, as one text. Names in the order of the declaration.
std::vector<std::string> fields_not_shown(const Prompt& prompt, const Profile& profile, Host host,
                                          std::string_view shown);

// Whether the text stands in `shown`, as it is or put on one line.
bool is_shown(std::string_view text, std::string_view shown);

}  // namespace sb::decision
