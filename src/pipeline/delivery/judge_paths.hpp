// Paths and globs of files that judge. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/text/path_glob.hpp"

namespace sb::pipeline {

inline std::vector<std::string_view> blank_separated(std::string_view list) {
  auto parts = split(list, ' ');
  std::erase(parts, std::string_view());
  return parts;
}

inline bool judge_glob_covers(std::string_view glob, std::string_view path) {
  return glob_covers(glob, path, GlobCase::kIgnored);
}

// Empty for a file in the root.
inline std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

// A path of the repository that the word may mean, read from a file in that folder; empty: it leaves the repository.
inline std::string path_named(std::string_view word, std::string_view folder) {
  while (word.starts_with('/')) word.remove_prefix(1);  // what is left of `$DIR/lint.sh`
  std::string path = lexically_normal(folder.empty() ? std::string(word) : join_path(folder, word));
  return path.empty() || path == "." || path.starts_with("..") ? std::string() : path;
}

}  // namespace sb::pipeline
