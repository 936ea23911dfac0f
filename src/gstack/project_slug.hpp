// The name under which a project's files are kept. There is one way to work it out, for whoever writes and whoever
// reads.
//
// In this order: GSTACK_PROJECT_SLUG; what was found before for this folder (`slug-cache/`, one file a folder, its path
// with `/` as `_`); `owner-repo` of the outermost repository around the folder that has an `origin`; the name of the
// outermost project root around it (one with .git, package.json and the like; else one with a README or LICENSE); the
// folder's own name. Only letters, digits, `.`, `_` and `-` of ASCII are kept.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::gstack {

// `cache_root` is the folder that holds slug-cache/. What was found is kept there; that it cannot be is no error.
// kInvalid when GSTACK_PROJECT_SLUG is no name.
Result<std::string> project_slug(Files& files, const Environment& environment, const std::string& cache_root,
                                 const std::string& directory);

// The name of the folder alone: where earlier programs looked.
std::string basename_slug(const std::string& directory);

// Any text as one part of a path: other characters become `_`, and then, or when it is too long, a digest of the whole
// keeps it apart from its likes. Never empty, `.` or `..`.
std::string path_component(std::string_view text);

}  // namespace sb::gstack
