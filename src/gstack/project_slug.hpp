// The name under which a project's files are stored. Writers and readers compute it with the same function.
//
// In this order: GSTACK_PROJECT_SLUG; the cached slug of this folder (`slug-cache/`, one file per folder, its path with
// `/` as `_`); `owner-repo` of the outermost repository around the folder that has an `origin`; the name of the
// outermost project root around it (one with .git, package.json and the like; else one with a README or LICENSE); the
// folder's own name. Only ASCII letters, digits, `.`, `_` and `-` are kept.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::gstack {

// `cache_root` is the folder that contains slug-cache/. The result is cached there; a failure to cache it is not an
// error. kInvalid when GSTACK_PROJECT_SLUG is not a valid name.
Result<std::string> project_slug(Files& files, const Environment& environment, const std::string& cache_root,
                                 const std::string& directory);

// Only the name of the folder: where earlier programs looked.
std::string basename_slug(const std::string& directory);

// Any text as one part of a path: other characters become `_`, and then, or when it is too long, a digest of the whole
// text makes it unique. Never empty, `.` or `..`.
std::string path_component(std::string_view text);

}  // namespace sb::gstack
