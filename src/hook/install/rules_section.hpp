// Our section in a client's rules file (CLAUDE.md, AGENTS.md, …):
//
//   <!-- signalbox rules: begin DIGEST STATE (… `signalbox rules uninstall` removes this) -->
//   …
//   <!-- signalbox rules: end -->
//
// DIGEST: the first 12 hex digits of the SHA-256 of the lines between. STATE: what install did besides, so that
// uninstall restores the exact bytes: `after-N` (N line breaks were added before the section) or `new-N` (the file is
// new, and N folders above it).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hook/install/client_file.hpp"

namespace sb::hook {

// The text with the section appended, or with an older version of it replaced. kConflict, with the line, for a section
// that is incomplete, present twice or edited by hand. `folders`: how many are made for a new file. Pure.
Result<std::string> with_rules(const std::optional<std::string>& text, std::string_view rules, int folders);
struct WithoutRules {
  bool had_section = false;
  std::string text;
  bool removes_file = false;  // it was new, and nothing else is in it
  int folders = 0;            // to remove if they are empty
};
Result<WithoutRules> without_rules(std::string_view text);

// Atomic; the second install changes no byte.
Result<InstallResult> install_rules(const Seams& seams, const std::string& path, std::string_view rules);
Result<InstallResult> uninstall_rules(const Seams& seams, const std::string& path);

}  // namespace sb::hook
