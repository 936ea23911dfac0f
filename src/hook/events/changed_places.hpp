// Where a change that an agent asks for would really go: links resolved, and another work tree of the session's
// repository mapped onto the session's folder, so that its globs apply there too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/git_origin.hpp"
#include "base/seams.hpp"
#include "guard/interlock.hpp"

namespace sb::hook {

class ChangedPlaces {
 public:
  // Relative paths are below `folder`; `workspace` is the session's.
  ChangedPlaces(const Seams& seams, std::string folder, const std::string& workspace);

  guard::PathForms of(const std::string& path) const;
  // A folder of the repository as it is called in the session's work tree; any other as it is.
  std::string mapped(const std::string& place) const;
  // Where commands may write in every step that lets them run.
  std::string temporary() const;

 private:
  bool is_agents_own(const std::vector<std::string>& places) const;

  const Seams& seams_;
  std::string folder_, home_, claude_;
  std::optional<GitWorkTree> tree_;
};

// The folders whose sessions may apply to one who works in `folder`, the nearest first: it and those above it, and if
// it is in a linked work tree, then also the same folders of the main one.
std::vector<std::string> session_folders(const Files& files, const std::string& folder);

}  // namespace sb::hook
