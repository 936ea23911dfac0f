// Whether the open step of a session lets a file be changed or a command be run. Pure.
//
// A session that another one started works inside that one's step, so what either declares holds, and what is out of
// scope above is out of scope below. Globs are relative to the session's folder; those that allow are compared letter
// by letter, those that put something out of scope without regard to case, so that a file system that does not tell the
// cases apart errs to the strict side.
//
// | the step declares | Edit, Write | a command |
// |---|---|---|
// | `commands: read-only` | as `writes` says | only what is known to read |
// | `writes: none` | nothing | not what is known to change something; what is not known may run |
// | `writes: [globs]` | what they cover | not what is known to write elsewhere, nor what may change any file |
// | nothing | anything | anything |
// In all four, what is out of scope is refused as far as it is named. Files in the temporary folder may be written by
// commands, where any may be run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/open_step.hpp"
#include "guard/shell/command_effects.hpp"

namespace sb::guard {

// The session's own step, then those of the sessions around it, from the inside out.
using OpenStepChain = std::vector<OpenStep>;

// Absolute forms of one path: as written, and as the file system has it. A path is allowed when all its forms are.
struct PathForms {
  std::vector<std::string> paths;
  std::string blocked_reason;  // no step that declares anything allows it: "it is a link that leads nowhere"
};
using PathResolver = std::function<PathForms(const std::string& path)>;

bool has_interlock(const OpenStepChain& chain);

// Why not, as one text for the agent that ends with how to go on; nothing when it may.
std::optional<std::string> refuse_edit(const OpenStepChain& chain, const PathForms& places);
std::optional<std::string> refuse_command(const OpenStepChain& chain, std::string_view command_line,
                                          const std::string& temporary, const PathResolver& resolve);

}  // namespace sb::guard
