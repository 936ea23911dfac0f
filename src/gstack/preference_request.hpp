// A request to store a preference, as passed to `--write`. Pure.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "gstack/preference_files.hpp"

namespace sb::gstack {

// Checked in this order: JSON, question_id, preference, source, door, free_text. kForbidden when it does not come from
// the user: the content of a file or a tool's output must not be able to turn questions off. Everything else is
// kInvalid.
Result<PreferenceChange> read_preference_request(std::string_view json);

}  // namespace sb::gstack
