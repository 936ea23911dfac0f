// The layers of src/: ARCHITECTURE.md says which folder may use which, and every #include is checked against it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tree/source_tree.hpp"

namespace sb::tree {

struct Folder {
  std::set<std::string> may_use;  // transitively
  bool is_pure = false;           // its description starts with "pure"
  bool is_planned = false;        // its row is under a "Planned" heading
};

using Layers = std::map<std::string, Folder>;

// Reads the rows "| `src/NAME` | holds | may use |". An invalid row is a violation.
Layers parse_layers(std::string_view architecture, Violations& violations);

// Finds forbidden includes, folders that are missing in the document or in the tree, pure folders that do I/O, Asio or
// Beast in a header or in more than eight files, CLI11 outside its facade, <filesystem> past the Files seam, and code
// for tests that the program includes.
Violations check_layers(const SourceTree& tree);

}  // namespace sb::tree
