// The tools that touch the work tree: Bash, Read, Write, Edit, Glob, Grep.
//
// Fence: links are resolved before a path is looked at, also for files that do not exist yet. Reading is limited to
// `readable`, writing to `writable`. `.git`, Signalbox's own homes and the user's keys are outside whatever the lists
// say. An existing file is written only after it was read and while it is as it was read. The open step's interlock
// (guard/interlock.hpp) holds for Write, Edit and Bash. Bash runs in bubblewrap where that works
// (engine/command/sandbox.hpp): no network, no variables but PATH, HOME, LANG, TERM, the work tree writable, the rest
// read-only or absent; where it does not, `WorkTreeAccess::sandbox` says so and restricted roles get no Bash.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "agent/tools/tool.hpp"
#include "base/seams.hpp"
#include "engine/command/sandbox.hpp"
#include "guard/interlock.hpp"

namespace sb::agent {

// Which files an agent has seen, and how they were then. Rebuilt from the log's facts after a restart. Thread-safe.
class SeenFiles {
 public:
  void record(const std::string& path, const std::string& hash);  // hash of the content
  std::optional<std::string> hash_of(const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> seen_;
};

struct WorkTreeAccess {
  Seams seams;
  std::string root;                   // the work tree: absolute, links resolved
  std::vector<std::string> readable;  // besides; absolute
  bool is_writable = true;
  // Of restricted roles: globs under root that may be read; `!` before one takes it out again. Then nothing is written.
  std::optional<std::vector<std::string>> only;
  bool has_network = false;
  engine::Sandbox sandbox = {};
  std::vector<std::string> hidden = {};   // engine::hidden_paths
  std::vector<std::string> secrets = {};  // values taken out of everything that comes back
  // The open steps of the session and of those around it, as they are now.
  std::function<Result<guard::OpenStepChain>()> steps;
  SeenFiles* seen = nullptr;
};

// What a restricted role may read: everything but what earlier phases left in the work tree.
std::vector<std::string> restricted_paths();

// Of a tool that is not ours, called as Claude Code calls its Bash, Write, Edit, MultiEdit and NotebookEdit: why the
// open steps do not allow it; empty when they do.
std::string interlock_denial(const WorkTreeAccess& place, const ToolCall& call);

// `allowed`: names; empty: all of them. A restricted role is not given what it may not use.
Tools make_work_tools(WorkTreeAccess place, const std::vector<std::string>& allowed = {});

}  // namespace sb::agent
