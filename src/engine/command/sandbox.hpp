// The arguments in front of a command that run it in bubblewrap.
//
// Pure except for checking which paths exist. Missing paths need no hiding.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"

namespace sb::engine {

struct Sandbox {
  std::string program;       // bwrap, absolute; empty: no working one
  std::string missing;       // why not
  bool has_own_proc = true;  // some containers do not allow mounting one
  bool works() const { return !program.empty(); }
  std::string name() const;  // for the record: `bubblewrap`, `none: reason`
};

// Looks for bubblewrap in PATH and tests it.
Sandbox find_sandbox(const Seams& seams);

// Our PATH, HOME, LANG and TERM, nothing else.
std::map<std::string, std::string> clean_environment(const Environment& environment);

// What a command may not see: our own homes, keys, credentials, settings and histories, service sockets. Only existing
// paths, absolute, without links. `further`: files that the settings name as secrets.
std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      const std::vector<std::string>& further = {});

// What a command can access besides the read-only system. All paths absolute, without links.
struct SandboxSpec {
  std::string workspace;
  std::string directory = {};  // where it starts; empty: the workspace
  bool is_writable = true;     // the workspace
  bool has_network = false;
  std::vector<std::string> writable = {};  // besides the workspace, anywhere
  std::vector<std::string> readable = {};  // shown even inside /tmp or a hidden folder
  std::vector<std::string> sealed = {};    // read-only parts of the workspace
  std::vector<std::string> hidden = {};
};
// Everything up to the `--` before the command. The deeper path wins; for equal paths hiding wins.
std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const SandboxSpec& place);
std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const std::string& workspace,
                                           const std::vector<std::string>& hidden);

}  // namespace sb::engine
