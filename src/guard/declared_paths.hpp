// The paths that a hand-off declares as changed, compared with those that did change. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

// Of entries that are a path, a glob, or a sentence with paths in backticks.
std::vector<std::string> declared_globs(const std::vector<std::string>& entries);
bool any_covers(const std::vector<std::string>& globs, std::string_view path);
// Too broad to be a declaration: it declares nothing.
bool covers_everything(std::string_view glob);

struct DeclarationGap {
  std::vector<std::string> undeclared;  // changed paths
  std::vector<std::string> unchanged;   // entries

  bool is_empty() const { return undeclared.empty() && unchanged.empty(); }
  std::string text() const;  // `Changed but not declared: a, b. Declared but not changed: c.`
};
// `changed`: relative to `folder`; entries may also be absolute below it.
DeclarationGap gap_between(const std::vector<std::string>& entries, const std::vector<std::string>& changed,
                           std::string_view folder);

}  // namespace sb::guard
