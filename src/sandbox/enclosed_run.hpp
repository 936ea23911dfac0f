// Runs a command in the sandbox, with what it needs outside: the door, limits on memory and processes.
#pragma once

#include "base/process.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::sandbox {

// `command`: its words, environment, input and limits of time and output, as they are without a sandbox; `directory` is
// taken from `place`. Where there is no sandbox (mode none) the command runs as it is. What the settings allow
// (`read`, `network`), tool chains, and the replaced home are added to `place`; sockets, and what git ignores in the
// user's checkout, are taken out; where that cannot be found out the command is not run. A command that was ended by a
// limit says so at the end of its errors.
Result<ProcessResult> run_enclosed(const Seams& seams, const HomeDirectories& homes, const Sandbox& sandbox,
                                   Place place, Command command);

// A control group that bounds the processes moved into it, removed with this object; nothing where the system lets us
// make none (only version 2, delegated to this user). `root`: where the groups are mounted.
class ControlGroup {
 public:
  static std::optional<ControlGroup> make(Files& files, const Limits& limits,
                                          const std::string& root = "/sys/fs/cgroup",
                                          const std::string& own = "/proc/self/cgroup");
  ControlGroup(ControlGroup&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ControlGroup& operator=(ControlGroup&&) = delete;
  ~ControlGroup();
  std::string entrance() const { return path_ + "/cgroup.procs"; }  // a process that writes 0 there is in it

 private:
  explicit ControlGroup(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// How the limits are enforced here, for people.
std::string describe_limits(Files& files, const Sandbox& sandbox);

}  // namespace sb::sandbox
