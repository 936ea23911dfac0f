// What the tools of the work tree share. Only they include this.
//
// Immutable except for the record of seen files, which is thread-safe itself; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "agent/secrets/redact.hpp"
#include "agent/tools/fence.hpp"
#include "agent/tools/work_tools.hpp"

namespace sb::agent {

struct WorkToolParts {
  explicit WorkToolParts(WorkTreeAccess given);

  WorkTreeAccess place;
  Fence fence;
  Redactor redactor;

  std::string relative(const std::string& path) const;  // relative to the work tree if inside it
  std::string text(std::string_view bytes) const;       // UTF-8, secrets redacted
  // The paths that `only` excludes, to be hidden from a command; nothing when that cannot be expressed as paths.
  std::optional<std::vector<std::string>> excluded_paths(const std::string& tree) const;
  sandbox::Place reached() const;  // by a command; see reached_in()
  // Why the open steps do not allow it; empty if they do.
  std::string edit_denial(const FencedPath& at, const std::string& given) const;
  std::string command_denial(const std::string& command, const std::string& folder) const;

  guard::PathForms places_of(const std::string& path, const std::string& folder) const;
};
using SharedParts = std::shared_ptr<const WorkToolParts>;

// Why a text with a redaction in it cannot be used, where it would take the place of the secret; empty: it has none.
std::string redaction_denial(std::string_view text);

ToolResult tool_success(std::string text, Value facts = {});
ToolResult tool_error(std::string text);                      // an error the agent can fix
ToolResult tool_denied(std::string text);                     // denied: also logged
ToolResult from_error(const Error& error);                    // kForbidden becomes a denial
std::string text_of(const ToolCall& call, const char* name);  // a string argument; empty when absent
std::int64_t number_of(const ToolCall& call, const char* name, std::int64_t otherwise);
bool flag_of(const ToolCall& call, const char* name);
Value schema_of(const char* json);

std::unique_ptr<Tool> make_read(SharedParts parts);
std::unique_ptr<Tool> make_write(SharedParts parts);
std::unique_ptr<Tool> make_edit(SharedParts parts);
std::unique_ptr<Tool> make_glob(SharedParts parts);
std::unique_ptr<Tool> make_grep(SharedParts parts);
std::unique_ptr<Tool> make_bash(SharedParts parts);

}  // namespace sb::agent
