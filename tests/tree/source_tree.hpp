// The text files of the repository, for the tests that check the tree's own rules.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sb::tree {

using SourceTree = std::map<std::string, std::string>;  // path from the root, with slashes, to content

// One line per fault: `src/base/x.cpp:12: what is wrong`.
using Violations = std::vector<std::string>;

// Everything except git's and the build's folders, and files that are not text.
SourceTree read_tree(const std::filesystem::path& root);

std::vector<std::string_view> lines_of(std::string_view text);
bool is_cpp(std::string_view path);

}  // namespace sb::tree
