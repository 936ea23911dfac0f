// What a session records about the place it is started in: the repository it is in, and where the documents are that
// its workflow refers to. Read from files; no git is started.
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "base/files.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::engine {

// The folder given, or else the current one when it has workflows of its own, or else the git work tree around it.
// Absolute, links resolved. kNotFound when what was given is no folder.
Result<std::string> find_workspace(const Files& files, const std::string& given);

struct GitState {
  std::string repository;  // the address of `origin`, else the work tree's path; empty outside a repository
  std::string branch;      // empty when detached
  std::string head;        // 40 hex digits, or empty before the first commit
};

// Of the work tree that `directory` (absolute) lies in.
GitState git_state(const Files& files, const std::string& directory);

// [{id, path}], path null where the document is not there or lies outside its base: the workspace, or for `package` the
// folder of the workflow's file.
Value resolve_references(const Files& files, const workflow::Definition& definition, const std::string& workspace,
                         const std::string& package);

}  // namespace sb::engine
