// What a command of an agent can reach: bubblewrap, found and tested, and the arguments that put a command into it.
//
// Inside there are the system's programs (read-only), the workspace, an empty home with the user's tool chains, and
// nothing else of the machine: no other files, processes, sockets or networks, /proc read-only, /sys absent, limits on
// memory, processes and files. As root the command runs under another user id that is root's outside; see
// docs/trust.md for what that means.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"
#include "sandbox/settings.hpp"

namespace sb::sandbox {

struct Sandbox {
  std::string program = {};  // bwrap, absolute; empty: no working one
  std::string missing = {};  // why not
  bool has_own_proc = true;  // some containers do not allow mounting one
  bool is_root = false;      // this process is root's
  std::string inside = {};   // our own program, which starts commands there
  Settings settings = {};
  std::vector<std::string> private_files = {};  // of the system, and sockets next to tool chains

  bool works() const { return !program.empty(); }
  std::string missing_reason() const { return works() ? std::string() : missing; }
  // Runs may go on without it only if the user said so.
  bool is_refused() const { return !works() && settings.mode == Mode::kRequired; }
  // Our own program, as a command in it can start it.
  std::string own_program() const;
  std::string name() const;  // for the record: `bubblewrap`, `none: reason`
};

// Looks for bubblewrap in PATH and tests it; with mode none, does not look.
Sandbox find_sandbox(const Seams& seams, const Settings& settings = {});
inline constexpr std::string_view kRootWarning =
    "running as root: an agent that gets out of its sandbox is root on this machine";
// Of a run that may not start: what is missing and what to do.
Error refusal(const Sandbox& sandbox);

// Our PATH, HOME, LANG and TERM, nothing else.
std::map<std::string, std::string> clean_environment(const Environment& environment);

// What a command can access besides the read-only system. All paths absolute, without links.
struct Place {
  std::string workspace;
  std::string directory = {};              // where it starts; empty: the workspace
  bool is_writable = true;                 // the workspace
  std::vector<std::string> writable = {};  // besides the workspace, anywhere
  std::vector<std::string> readable = {};  // shown wherever they are
  std::vector<std::string> sealed = {};    // read-only parts of the workspace
  std::vector<std::string> hidden = {};
  struct Copy {
    std::string from, to;
    bool is_writable = false;
  };
  std::vector<Copy> elsewhere = {};       // shown under another path
  std::vector<int> host_ports = {};       // of this machine's loopback, reachable at the same port
  std::vector<std::string> servers = {};  // host:port, reachable through the proxy, besides those of the settings
  std::string home = {};                  // the user's, replaced by an empty one; see users_home()
  std::string door = {};                  // the socket of sandbox/door.hpp; empty: no network
};
int proxy_port(const Place& place);  // of the loopback inside
// Everything before the command. The deeper path wins; for equal paths hiding wins.
std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const Place& place);

}  // namespace sb::sandbox
