// Decides which paths an agent may read and write. Links are resolved first, also for paths that do not exist yet; then
// the longest covering path (allowed or hidden) decides. `.git` is always outside.
//
// The verdict holds for the moment of the check. guarded_files.hpp opens files so that a link put there since then is
// not followed.
//
// Immutable; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb::agent {

struct FencedPath {
  std::string base;  // the allowed folder that contains it: absolute, without links
  std::string rest;  // path below base, without links, `.` and `..`; empty: base itself
  std::string path() const { return rest.empty() ? base : base + "/" + rest; }
};

class Fence {
 public:
  struct Places {
    std::string root;                                   // absolute, without links
    std::vector<std::string> readable = {};             // in addition
    bool is_writable = true;                            // applies to root
    std::optional<std::vector<std::string>> only = {};  // globs under root; `!` in front excludes
    std::vector<std::string> hidden = {};
  };
  explicit Fence(Places places);

  const std::string& root() const { return places_.root; }
  bool is_restricted() const { return places_.only.has_value(); }

  // `given`: absolute, or relative to the root. kForbidden: outside; kInvalid: not a path; kNotFound (when reading):
  // does not exist.
  Result<FencedPath> for_reading(std::string_view given) const;
  Result<FencedPath> for_writing(std::string_view given) const;
  // For a path without links, found by a walk. Folders that may contain allowed files are entered.
  bool shows(const std::string& path, bool is_directory) const;

 private:
  Result<FencedPath> locate(std::string_view given, bool must_exist) const;
  const std::string* given_place_of(const std::string& path) const;
  bool is_among_only(std::string_view rest) const;
  Places places_;
};

}  // namespace sb::agent
