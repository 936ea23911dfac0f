// The fresh HOME of an agent program, and the command line that starts the program in the sandbox with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/seams.hpp"
#include "engine/command/sandbox.hpp"

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
  // For a program with its own login: copies the one file that holds it. sandbox_argv shows the rest.
  Status copy_login(const Seams& seams) const;

 private:
  AgentHome(Files& files, std::string path) : files_(files), path_(std::move(path)) {}
  Files& files_;
  std::string path_;
};

struct ProgramSandbox {
  const engine::Sandbox& sandbox;
  std::string work_tree, home;
  std::string program;  // absolute; visible in the sandbox wherever it is
  bool is_writable = true;
  bool has_own_login = false;  // its login files are available in its home
  std::vector<std::string> secret_files = {};
};
// The arguments in front of the program's own; empty where there is no sandbox. The work tree is writable if allowed,
// its `.git` is not, and of all homes only the fresh one is visible. The program shares the machine's network: it must
// reach us, and loopback is not available by itself.
std::vector<std::string> sandbox_argv(const ProgramSandbox& fence, const Seams& seams, const HomeDirectories& homes);

}  // namespace sb::agent
