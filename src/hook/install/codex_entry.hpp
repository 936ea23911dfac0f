// The TOML side of client_entry.hpp: Codex's servers, edited by line. Errors as there. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "hook/install/client_entry.hpp"

namespace sb::hook {

inline constexpr const char* kCodexToolTimeout = "tool_timeout_sec";

// All of mcp_servers as one value.
Result<Value> codex_servers(const std::string& path, std::string_view text);

Result<std::string> with_codex_entry(const std::string& path, std::string_view text, const std::string& name,
                                     const ServerEntry& entry);
Result<std::string> without_codex_entry(const std::string& path, std::string_view text, const std::string& name);

// A new table with the entry.
std::string codex_table(const std::string& name, const ServerEntry& entry, std::string_view newline);

}  // namespace sb::hook
