// Where an agent may read and write. Links are resolved first, also of what does not exist yet; then the longest of
// the places that cover the path decides: one that is given, or one that is hidden. `.git` is outside in any case.
//
// Says yes to what was there when it looked. What is opened afterwards is opened so that a link put there meanwhile is
// not followed: guarded_files.hpp.
//
// Immutable; may be used from several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb::agent {

struct FencedPath {
  std::string base;  // the given place it lies in: absolute, without links
  std::string rest;  // below it, without links, `.` and `..`; empty: the place itself
  std::string path() const { return rest.empty() ? base : base + "/" + rest; }
};

class Fence {
 public:
  struct Places {
    std::string root;                                   // absolute, without links
    std::vector<std::string> readable = {};             // besides
    bool is_writable = true;                            // the root
    std::optional<std::vector<std::string>> only = {};  // globs under root; `!` before one takes it out again
    std::vector<std::string> hidden = {};
  };
  explicit Fence(Places places);

  const std::string& root() const { return places_.root; }
  bool is_restricted() const { return places_.only.has_value(); }

  // As given by an agent: absolute, or relative to the root. kForbidden: outside; kInvalid: no path; kNotFound (of
  // reading): it is not there.
  Result<FencedPath> for_reading(std::string_view given) const;
  Result<FencedPath> for_writing(std::string_view given) const;
  // Of a path without links, met on a walk. Folders that may hold something are let in.
  bool shows(const std::string& path, bool is_directory) const;

 private:
  Result<FencedPath> locate(std::string_view given, bool must_exist) const;
  const std::string* given_place_of(const std::string& path) const;
  bool is_among_only(std::string_view rest) const;
  Places places_;
};

}  // namespace sb::agent
