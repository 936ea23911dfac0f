// Git, as far as runs need it: one command a call, never a configuration written, hooks of the repository not run,
// nothing asked on a terminal.
#pragma once

#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::pipeline {

struct Identity {
  std::string name = "Signalbox", email = "signalbox@localhost";
};

struct Change {
  char status = 'M';  // A, M, D, R, T, U
  std::string path, old_path = {};
};

class Git {
 public:
  Git(const Seams& seams, std::string directory) : seams_(seams), directory_(std::move(directory)) {}
  const std::string& directory() const { return directory_; }

  // The words behind `git -C DIRECTORY`; kUnavailable with retry_helps when a remote cannot be reached, kConflict when
  // it rejects, kIo when the disk is full. `secret`: put into the environment of this one command for a remote, never
  // into words or files.
  Result<std::string> run(std::vector<std::string> words, const std::string& input = {},
                          const std::string& secret = {});
  Result<std::string> commit_of(const std::string& name);        // kNotFound
  Result<std::vector<Change>> changes(const std::string& from);  // work tree and index against a commit, untracked too
  Result<std::string> diff(const std::string& from, std::size_t max_bytes);

 private:
  Seams seams_;
  std::string directory_;
};

// How a repository is found before a run starts: everything that would go wrong later, told now.
struct RepositoryFacts {
  std::string root, branch, head;  // branch empty: detached
  bool is_dirty = false, has_submodules = false, is_bare = false;
  std::vector<std::string> remotes;
};
Result<RepositoryFacts> look_at_repository(const Seams& seams, const std::string& directory);

// The run's own work tree, made under `place`; asking again gives the same one. A branch that exists and is not this
// run's is kConflict. Never removes anything that is not delivered.
struct WorkTree {
  std::string path, branch, base, base_commit;
};
struct WorkTreeWish {
  std::string repository, place, run;
  std::string strategy = "worktree";  // none, worktree, read-only
  std::string base = "main", remote = "origin", prefix = "signalbox/";
};
Result<WorkTree> make_work_tree(const Seams& seams, const WorkTreeWish& wish);
// kConflict, and nothing is removed, while it holds anything that is not in `delivered` (a commit).
Status remove_work_tree(const Seams& seams, const std::string& repository, const WorkTree& tree,
                        const std::string& delivered);

}  // namespace sb::pipeline
