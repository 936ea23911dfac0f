// Adds, changes and removes one item of a list of named items in a YAML text; everything else stays:
//
//   mcpServers:
//     - name: signalbox
//       command: "/usr/bin/signalbox"
//       args: ["mcp"]
//
// Works on lines, so the list must be written as a block, one item below the other. Pure. Errors are kInvalid with the
// location.
#pragma once

#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace sb::hook {

// kInvalid for text that is not YAML with an object at its root and, if present, a list of that name.
Result<Document> read_yaml_list(const std::string& path, std::string_view text, std::string_view list);

// An item with the same `name` is changed, line by line.
Result<std::string> with_yaml_item(const std::string& path, std::string_view text, std::string_view list,
                                   const Value& item);
Result<std::string> without_yaml_item(const std::string& path, std::string_view text, std::string_view list,
                                      std::string_view name, bool remove_empty_list);

// As lines, the first with a dash.
std::string yaml_item(const Value& item, std::string_view indent, std::string_view newline);

}  // namespace sb::hook
