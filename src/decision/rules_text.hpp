// The rules for asking people, as agents read them: our own wording of the rules that the linter and the hooks enforce.
#pragma once

#include <string_view>

namespace sb::decision {

// Markdown for a client's file of rules (`signalbox rules install`).
std::string_view rules_section();
// Shorter: part of the MCP server's instructions, which clients cut at 2 KiB.
std::string_view rules_instructions();

}  // namespace sb::decision
