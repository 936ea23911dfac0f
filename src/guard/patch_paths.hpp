// The files that a patch in the format of `apply_patch` changes, from its headers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

// The paths of `*** Add File:`, `*** Update File:`, `*** Delete File:` and `*** Move to:`, as written, each once.
// Nothing if there is no header, one without a path, an unknown one, or too many: what the patch changes is then
// unknown.
std::optional<std::vector<std::string>> paths_of_patch(std::string_view patch);

}  // namespace sb::guard
