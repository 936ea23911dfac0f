// The address of a repository's `origin`, read from its files: no git is started, because a hook has no time for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace sb {

// Of the repository whose work tree is at `directory`: `.git` may be a folder, or a file that leads to one (a linked
// work tree, a submodule). Nothing when there is no repository, no `origin`, or it cannot be read. Without a name or
// a password that stands in an http address.
std::optional<std::string> git_origin(const Files& files, const std::string& directory);

// The first `url` of `[remote "origin"]` in the text of a git configuration file.
std::optional<std::string> origin_in_config(std::string_view config);

// `owner-repo` of an address in any of git's forms; empty when it has no two parts.
std::string slug_of_origin(std::string_view url);

}  // namespace sb
