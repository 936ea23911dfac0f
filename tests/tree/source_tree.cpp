#include "tree/source_tree.hpp"

#include <fstream>
#include <iterator>
#include <set>

namespace sb::tree {

namespace fs = std::filesystem;

SourceTree read_tree(const fs::path& root) {
  const std::set<std::string> skipped = {".git", ".cache", "build", "node_modules"};
  SourceTree tree;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    if (skipped.contains(entry->path().filename().string())) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file()) continue;
    std::ifstream file(entry->path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.find('\0') == std::string::npos)
      tree[fs::relative(entry->path(), root).generic_string()] = std::move(text);
  }
  return tree;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

bool is_cpp(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".hpp");
}

}  // namespace sb::tree
