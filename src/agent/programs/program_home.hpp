// The fresh HOME of an agent program, and the words that put the program into the sandbox with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/seams.hpp"
#include "engine/command/sandbox.hpp"

namespace sb::agent {

// A new folder of mode 0700 where no other agent sees it, gone with this object; the seams outlive it. One that a
// killed process left behind for the same session is removed first.
class AgentHome {
 public:
  static Result<AgentHome> make(const Seams& seams, const HomeDirectories& homes, const std::string& session);
  ~AgentHome();
  AgentHome(AgentHome&& other) noexcept : files_(other.files_), path_(std::exchange(other.path_, {})) {}
  AgentHome& operator=(AgentHome&&) = delete;

  const std::string& path() const { return path_; }
  // Below it; kInvalid for a name that leads elsewhere.
  Status write(const Seams& seams, const std::map<std::string, std::string>& files) const;
  // Of a program that uses its own login: what it keeps of it in one file. The rest sandbox_argv shows.
  Status copy_login(const Seams& seams) const;

 private:
  AgentHome(Files& files, std::string path) : files_(files), path_(std::move(path)) {}
  Files& files_;
  std::string path_;
};

struct ProgramSandbox {
  const engine::Sandbox& sandbox;
  std::string work_tree, home;
  std::string program;  // absolute; seen in the sandbox wherever it lies
  bool is_writable = true;
  bool has_own_login = false;  // what it keeps of it in the user's home is in its own
  std::vector<std::string> secret_files = {};
};
// Everything before the program's own words; empty where there is no sandbox. The work tree is as writable as it may
// be, its `.git` is not, of homes there is only the fresh one. The network is the machine's: the program must reach us,
// and loopback cannot be had alone.
std::vector<std::string> sandbox_argv(const ProgramSandbox& fence, const Seams& seams, const HomeDirectories& homes);

}  // namespace sb::agent
