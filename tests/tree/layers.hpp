// The layers of src/: ARCHITECTURE.md says which folder may use which, and every #include is held to it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tree/source_tree.hpp"

namespace sb::tree {

struct Folder {
  std::set<std::string> may_use;  // with what those may use
  bool is_pure = false;           // its description starts with "pure"
  bool is_planned = false;        // stands under a heading that says so
};

using Layers = std::map<std::string, Folder>;

// Reads the rows "| `src/NAME` | holds | may use |". A row that cannot be read is a violation.
Layers parse_layers(std::string_view architecture, Violations& violations);

// Includes across a forbidden border, folders the document does not know (or knows but are not there), pure folders
// that reach outside, and Asio or Beast in a header or in more than eight files.
Violations check_layers(const SourceTree& tree);

}  // namespace sb::tree
