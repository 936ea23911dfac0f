// Whether the open step of a session allows a file change or a command. Pure.
//
// A child session works inside its parent's step, so the declarations of both apply, and what is out of scope for the
// parent is out of scope for the child. Globs are relative to the session's folder; allowing globs are case-sensitive,
// out-of-scope globs are case-insensitive, so that a case-insensitive file system errs on the strict side.
//
// | the step declares | Edit, Write | a command |
// |---|---|---|
// | `commands: read-only` | as `writes` says | only commands known to be read-only |
// | `writes: none` | nothing | not commands known to change something; unknown ones may run |
// | `writes: [globs]` | what they cover | not commands known to write elsewhere or that may change any file |
// | nothing | anything | anything |
// In all four cases, whatever is out of scope is refused as far as the command names it. Commands that may run may
// write files in the temporary folder. A call that does not say what it changes is refused wherever paths are checked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/file_tools.hpp"
#include "guard/open_step.hpp"
#include "guard/shell/command_effects.hpp"

namespace sb::guard {

// The session's own step, then those of its parent sessions, from the inside out.
using OpenStepChain = std::vector<OpenStep>;

// Absolute forms of one path: as written, and resolved by the file system. A path is allowed when all its forms are.
struct PathForms {
  std::vector<std::string> paths;
  std::string blocked_reason;  // no step with declarations allows it: "it is a dangling link"
  bool is_agents_own = false;  // a plan or memory file that the agent's host keeps for it: allowed in every step
};
using PathResolver = std::function<PathForms(const std::string& path)>;

bool has_interlock(const OpenStepChain& chain);

// The reason for a refusal, as one text for the agent that ends with how to continue; nothing when allowed.
std::optional<std::string> refuse_edit(const OpenStepChain& chain, const PathForms& places);
std::optional<std::string> refuse_command(const OpenStepChain& chain, std::string_view command_line,
                                          const std::string& temporary, const PathResolver& resolve);
// The same for a call of a tool of an agent host.
std::optional<std::string> refuse_change(const OpenStepChain& chain, const ToolChange& change,
                                         const std::string& temporary, const PathResolver& resolve);

}  // namespace sb::guard
