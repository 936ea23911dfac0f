// The fresh HOME of an agent program, and what the program reaches in the sandbox.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/seams.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::agent {

// A new folder of mode 0700 that no other agent sees, removed with this object; the seams must outlive it. A folder
// that a killed process left for the same session is removed first.
class AgentHome {
 public:
  static Result<AgentHome> make(const Seams& seams, const HomeDirectories& homes, const std::string& session);
  ~AgentHome();
  AgentHome(AgentHome&& other) noexcept : files_(other.files_), path_(std::exchange(other.path_, {})) {}
  AgentHome& operator=(AgentHome&&) = delete;

  const std::string& path() const { return path_; }
  // Relative to the home; kInvalid for a name that points elsewhere.
  Status write(const Seams& seams, const std::map<std::string, std::string>& files) const;
  // For a program with its own login: copies the one file that holds it. place_of() shows the rest.
  Status copy_login(const Seams& seams) const;

 private:
  AgentHome(Files& files, std::string path) : files_(files), path_(std::move(path)) {}
  Files& files_;
  std::string path_;
};

struct ProgramPlace {
  sandbox::Place work_tree;  // what any command of the agent reaches: reached_in()
  std::string home;
  std::string program;                          // absolute; visible in the sandbox wherever it is
  bool has_own_login = false;                   // its login files are available in its home
  std::vector<std::string> login_servers = {};  // host:port of its provider, for its own login
  std::vector<int> host_ports = {};             // where we listen for it
};
// What the program reaches: the work tree; of all homes only the fresh one; of the network only where we listen for it
// and, with its own login, its provider.
sandbox::Place place_of(ProgramPlace program, const Seams& seams);

}  // namespace sb::agent
