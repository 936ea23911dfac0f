// Checks that every implementation makes before it touches storage: bad names, values over the limit.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace sb::store {

// What to do about damage; ends the sentence of every error about it.
inline constexpr std::string_view kRepairRemedy =
    "See what can be saved: signalbox store repair --dry-run. Then run signalbox store repair; it deletes nothing.";

// kInvalid or kLimit unless `name` is valid as store.hpp defines it. `what` names it in the message: "stream".
Status check_name(std::string_view what, std::string_view name);
Status check_value(std::string_view what, std::string_view bytes);
Status check_page(int limit);

// A text that sorts after every name with this prefix.
std::string prefix_end(std::string_view prefix);

}  // namespace sb::store
