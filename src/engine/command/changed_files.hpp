// What changed in a git work tree since a session began, to compare with what it declares. Runs git, but nothing that
// the repository configures: no hooks, no filters, no monitor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::engine {

// Relative to `workspace`, only what is in it; without files that git ignores, and ours. Files that differ from
// `commit` but were not written since `since` were changed before. Nothing if git cannot tell.
std::optional<std::vector<std::string>> changed_files(const Seams& seams, const std::string& workspace,
                                                      const std::string& commit, TimestampMs since);

}  // namespace sb::engine
