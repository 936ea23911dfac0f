// What a session records about where it was started: the repository, and the paths of the documents its workflow refers
// to. Read from files; git is not run.
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "base/files.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::engine {

// The given folder; else the current one if it has its own workflows; else the git work tree around it. Absolute, links
// resolved. kNotFound if the given path is not a folder.
Result<std::string> find_workspace(const Files& files, const std::string& given);

struct GitState {
  std::string repository;  // the URL of `origin`, else the work tree's path; empty outside a repository
  std::string branch;      // empty if detached
  std::string head;        // 40 hex digits, or empty before the first commit
};

// Of the work tree that contains `directory` (absolute).
GitState git_state(const Files& files, const std::string& directory);

// [{id, path}]; path is null if the document does not exist or is outside its base: the workspace, or for `package` the
// folder of the workflow's file.
Value resolve_references(const Files& files, const workflow::Definition& definition, const std::string& workspace,
                         const std::string& package);

}  // namespace sb::engine
