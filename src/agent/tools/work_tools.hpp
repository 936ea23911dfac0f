// The tools that act on the work tree: Bash, Read, Write, Edit, Glob, Grep.
//
// Fence: links are resolved before a path is checked, also for files that do not exist yet. Reading is limited to
// `readable`, writing to `writable`. `.git`, Signalbox's own homes and the user's keys are always outside. An existing
// file is written only after it was read, and only if it has not changed since. The open step's interlock
// (guard/interlock.hpp) applies to Write, Edit and Bash. Bash runs in bubblewrap where that works
// (sandbox/sandbox.hpp): no network, no variables except PATH, HOME, LANG, TERM, the work tree writable,
// everything else read-only or absent. Where bubblewrap does not work, `WorkTreeAccess::sandbox` is unset accordingly
// and restricted roles get no Bash.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "agent/tools/tool.hpp"
#include "base/seams.hpp"
#include "guard/interlock.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::agent {

// The files that an agent has seen, with the hash of their content then. Rebuilt from the logged facts after a restart.
// Thread-safe.
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
  std::vector<std::string> readable;  // in addition; absolute
  bool is_writable = true;
  // For restricted roles: globs under root that may be read; `!` in front excludes. Then nothing may be written.
  std::optional<std::vector<std::string>> only;
  // If set, commands may write only in these folders, as far as they exist; absolute. For agent programs.
  std::optional<std::vector<std::string>> writable_folders = {};
  sandbox::Sandbox sandbox = {};
  HomeDirectories homes = {};
  std::vector<std::string> hidden = {};   // sandbox::hidden_paths
  std::vector<std::string> secrets = {};  // values redacted from every result
  // The currently open steps of the session and of its parents.
  std::function<Result<guard::OpenStepChain>()> steps;
  SeenFiles* seen = nullptr;

  bool allows_writing() const { return is_writable && !only && (!writable_folders || !writable_folders->empty()); }
};

// What a restricted role may read: everything except what earlier phases left in the work tree.
std::vector<std::string> restricted_paths();

// For a call of another program's own tool (guard/file_tools.hpp): why the open steps do not allow it; empty if they
// do.
std::string interlock_denial(const WorkTreeAccess& place, const ToolCall& call);

// What a command in the work tree reaches: git's folders too, wherever they are, but only to read. A restricted role
// sees only the change: neither git, which has the commits, branches and notes of earlier work, nor what `only`
// excludes.
sandbox::Place reached_in(const WorkTreeAccess& place);

// `allowed`: names; empty: all of them. A restricted role does not get tools that it may not use.
Tools make_work_tools(WorkTreeAccess place, const std::vector<std::string>& allowed = {});

}  // namespace sb::agent
