// What a repository's files say of its `origin` and its work trees: starting git would be too slow for a hook.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"

namespace sb {

// For the repository whose work tree is at `directory`. `.git` may be a folder, or a file that points to one (linked
// work tree, submodule). Nothing if there is no repository, no `origin`, or it cannot be read. A user name or password
// in an http URL is removed.
std::optional<std::string> git_origin(const Files& files, const std::string& directory);

// The first `url` of `[remote "origin"]` in the text of a git configuration file.
std::optional<std::string> origin_in_config(std::string_view config);

// `owner-repo` for a URL in any form that git accepts; empty if it does not have two parts.
std::string slug_of_origin(std::string_view url);

// The git folders outside a linked work tree that git needs in it: its own one and the repository's. Empty for others.
std::vector<std::string> git_folders(const Files& files, const std::string& root);

// The work tree that a path is in. Work trees of one repository have the same `repository` (its git folder). A link to
// a repository counts only if the repository links back to it. Nothing outside of repositories.
struct GitWorkTree {
  std::string root, repository;
};
std::optional<GitWorkTree> git_work_tree(const Files& files, const std::string& path);
// Its main work tree; nothing for a bare repository.
std::optional<std::string> main_work_tree(const GitWorkTree& tree);

}  // namespace sb
