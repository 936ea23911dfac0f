// A request to store a preference, as `--write` is given it. Pure.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "gstack/preference_files.hpp"

namespace sb::gstack {

// Checked in this order: JSON, question_id, preference, source, door, free_text. kForbidden when it does not come from
// the user: what stands in a file or a tool's output must not be able to switch questions off. All else is kInvalid.
Result<PreferenceChange> read_preference_request(std::string_view json);

}  // namespace sb::gstack
