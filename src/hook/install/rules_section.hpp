// Our section in a client's file of rules (CLAUDE.md, AGENTS.md, …):
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
#include <span>
#include <string>
#include <string_view>

#include "hook/install/claude_settings.hpp"

namespace sb::hook {

// A client that reads such a file. One row per client.
struct RulesClient {
  std::string_view name;
  std::string_view home_variable;  // replaces `home`; empty: none
  std::string_view home;           // the folder of its files below $HOME
  std::string_view user_file;      // below that folder
  std::string_view project_file;   // below a project
};
std::span<const RulesClient> rules_clients();
const RulesClient* rules_client(std::string_view name);
Result<std::string> rules_path(const RulesClient& client, InstallScope scope, const std::string& project,
                               const Environment& environment);

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
