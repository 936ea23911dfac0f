// The words before a command that put it into bubblewrap.
//
// Pure but for looking at which paths exist. What is not there need not be hidden.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"

namespace sb::engine {

struct Sandbox {
  std::string program;       // bwrap, absolute; empty: there is none that works
  std::string missing;       // why not
  bool has_own_proc = true;  // some containers do not let us mount one
  bool works() const { return !program.empty(); }
  std::string name() const;  // for the record: `bubblewrap`, `none: reason`
};

// Looks for bubblewrap in PATH and tries it out.
Sandbox find_sandbox(const Seams& seams);

// PATH, HOME, LANG and TERM of ours, and nothing else.
std::map<std::string, std::string> clean_environment(const Environment& environment);

// What a command may not see: our own homes, keys, credentials, settings and histories, sockets of services. Only
// paths that exist, absolute, without links. `further`: files that the settings name as secrets.
std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      const std::vector<std::string>& further = {});

// What a command finds in it besides the system, read-only. All paths absolute, without links.
struct SandboxSpec {
  std::string workspace;
  std::string directory = {};  // where it starts; empty: the workspace
  bool is_writable = true;     // the workspace
  bool has_network = false;
  std::vector<std::string> writable = {};  // besides the workspace, wherever they lie
  std::vector<std::string> readable = {};  // shown although they lie where nothing is: in /tmp, below what is hidden
  std::vector<std::string> sealed = {};    // of the workspace, only to be read
  std::vector<std::string> hidden = {};
};
// Everything up to the `--` before the command. Whichever place lies deeper decides; of two that are the same, hiding.
std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const SandboxSpec& place);
std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const std::string& workspace,
                                           const std::vector<std::string>& hidden);

}  // namespace sb::engine
