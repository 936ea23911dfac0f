// In which folders of its work tree an agent program may write, as far as the sandbox can say so: it is set up once,
// for all steps that the program works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "engine/advance/step_program.hpp"
#include "guard/interlock.hpp"

namespace sb::agent {

// The folders below `root` in which the `writes` of the session's steps are, as far as the open steps of its parents
// allow them. Nothing: all of it, because a step declares no `writes`, or one directly in the root. Pure.
std::optional<std::vector<std::string>> writable_folders(const engine::Program& program,
                                                         const guard::OpenStepChain& parents, const std::string& root);
// Creates those that are missing. Does not follow links, which may lead out of the work tree.
Status make_folders(Files& files, const std::string& root, const std::vector<std::string>& folders);

}  // namespace sb::agent
