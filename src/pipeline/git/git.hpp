// The git operations that runs need: one command per call, no configuration is written, hooks of the repository are not
// run, no prompts on a terminal. Filters that the user has configured (`filter.NAME.clean`, `smudge`, `process`) are
// not run either: a file of an agent could name them in `.gitattributes`, and they would run on what it wrote, outside
// of its sandbox. Only those of git-lfs are, if they are what `git lfs install` writes; they fetch nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::pipeline {

struct Identity {
  std::string name = "Signalbox", email = "signalbox@localhost";
};

struct Change {
  char status = 'M';  // A, M, D, R, T
  std::string path, old_path = {};
  bool is_link = false, is_repository = false;  // current kind: a symbolic link; a nested repository
  bool was_repository = false;
};

// The credential for a remote, and the only host it may be sent to, whatever a remote's address redirects to.
struct GitSecret {
  std::string value = {};
  std::string origin = {};  // https://host:port
  bool empty() const { return value.empty() || origin.empty(); }
};
// Empty unless the address points to the host of the secret.
GitSecret secret_for(std::string_view url, const std::string& secret, const std::string& host);

// One command and its inputs.
struct GitCall {
  std::vector<std::string> words;                       // after `git -C DIRECTORY`
  std::string input = {};                               // its standard input
  GitSecret secret = {};                                // for a remote; see Git::run
  std::map<std::string, std::string> environment = {};  // in addition to the clean environment
  bool is_remote = false;                               // accesses another repository: may use the user's key agents
  std::vector<int> accepted_codes = {0};                // exit codes that are not errors
  std::vector<std::string> settings = {};               // NAME=VALUE, of git's configuration
  // Given, its output goes here as it arrives, and is not kept.
  std::function<void(std::string_view)> on_output = {};
  std::size_t max_bytes = std::size_t{64} << 20;
  std::int64_t time_ms = 600'000;
};

class Git {
 public:
  // `git_dir`: the repository, when the folder's own `.git` is not trusted.
  Git(const Seams& seams, std::string directory, std::string git_dir = {})
      : seams_(seams), directory_(std::move(directory)), git_dir_(std::move(git_dir)) {}
  const std::string& directory() const { return directory_; }

  // The arguments after `git -C DIRECTORY`; kUnavailable with is_retryable when a remote is unreachable, kConflict when
  // it rejects, kForbidden when it denies access, kIo when the disk is full. A secret is put into the environment of
  // this one remote command, never into arguments or files.
  Result<std::string> run(std::vector<std::string> words, const std::string& input = {});
  Result<ProcessResult> run(const GitCall& call);
  Result<std::string> commit_of(const std::string& name);                   // kNotFound
  Result<std::optional<std::string>> find_commit(const std::string& name);  // nothing: does not exist
  Result<bool> has_object(const std::string& name);
  Result<std::string> remote_url(const std::string& remote);  // for fetching; empty: there is no such remote
  // Removes the lock that a killed command left on a ref that only the run's driver changes.
  Status unlock(const std::string& ref);
  Result<bool> is_ancestor(const std::string& old, const std::string& young);  // or equal
  // Everything in the work tree that is not ignored, as a tree object. Built in our own index: entries added to or
  // hidden in the work tree's index do not count. `from`: the commit to compare with, for speed and for submodules,
  // which count by the commit they are at.
  Result<std::string> snapshot(const std::string& from);
  // Nested repositories of the work tree that are neither in `from` nor ignored by git.
  Result<std::vector<std::string>> nested_repositories(const std::string& from);
  // Files that git would not record, because their path names a git folder.
  Result<std::vector<std::string>> refused_names(const std::string& from);
  // Submodules of `from` whose `.git` was not made by `git submodule update`.
  Result<std::vector<std::string>> tampered_submodules(const std::string& from);
  // A filter of the user that we do not run although tracked files need it; empty: none.
  Result<std::string> needed_filter();
  // Those of the paths that are files in a commit, without links and folders. A file over `max_bytes` is replaced by
  // blanks, one more than that.
  Result<std::map<std::string, std::string>> texts_at(const std::string& commit, const std::vector<std::string>& paths,
                                                      std::size_t max_bytes);
  Result<std::vector<Change>> changes_between(const std::string& from, const std::string& tree);
  Result<std::vector<Change>> changes(const std::string& from);  // work tree and index against a commit, untracked too
  // The same as text, except for those files; kLimit when it is larger.
  Result<std::string> diff(const std::string& from, std::size_t max_bytes, const std::vector<Change>& without = {});

 private:
  struct Submodule {
    std::string path, commit;
    bool is_there = false;     // it contains a `.git`
    std::string git_dir = {};  // empty: not made by git
  };
  Result<std::string> git_dir();
  Result<std::map<std::string, std::string>> without_filters();
  Result<std::string> own_module(const std::string& folder);
  Result<std::vector<Submodule>> submodules(const std::string& from);
  Status pin_submodules(const std::string& from, const std::map<std::string, std::string>& index);
  // Our own index, filled with `from`, as an environment.
  Result<std::map<std::string, std::string>> own_index(const std::string& from);

  Seams seams_;
  std::string directory_, git_dir_;
  std::optional<bool> has_ssh_command_ = {};  // in the user's configuration
  std::optional<std::map<std::string, std::string>> without_filters_ = {};
};

// The main repository of a work tree: remote URLs may be relative to its folder.
Result<Git> repository_of(const Seams& seams, Git& work_tree);

// Whether a name is git's own folder on some system: `.GIT`, `git~1`, `.git ` and the like. Git refuses most of them.
bool is_like_git_folder(std::string_view name);
bool names_git_folder(std::string_view path);  // any of its parts

// A path or git output for people and for JSON: invalid bytes as `\xNN`.
std::string shown(std::string_view bytes);
// An error of Files about a path of a work tree, with the path as `shown`.
std::unexpected<Error> cannot_remove(std::string_view path, const Error& error);
// The host of `https://name@host:port/…`, without the port; empty for paths and other protocols.
std::string host_of_url(std::string_view url);

// The secrets in the user's and the repository's git settings: passwords and tokens in addresses, and headers sent with
// requests. An agent could ask git for all of them.
std::vector<std::string> secrets_in_configuration(const Seams& seams, const std::string& directory);

// Checks a repository before a run starts: reports everything that would fail later.
struct RepositoryFacts {
  std::string root, branch, head;  // branch empty: detached
  bool is_dirty = false, has_submodules = false, is_bare = false;
  std::vector<std::string> remotes;
};
Result<RepositoryFacts> inspect_repository(const Seams& seams, const std::string& directory);
// Strategy none: kConflict unless the checkout is at the base, because commits in between are the user's own and would
// be delivered with the run's.
Status check_in_place(const std::string& head, const std::string& base, const std::string& commit);

// Creates the run's own work tree under `place`; a repeated call returns the same one, also when the first was killed
// half way. A branch that exists and is not this run's is kConflict. Never removes anything that is not delivered. If
// its folder was deleted, it is created again: at the end of its branch.
//
// The start commit is stored in the ref `refs/signalbox/base/RUN`, written before anything else: a second attempt
// starts from the same commit, and a branch of that name without the ref is not ours. The earlier position of a
// checkout that is worked in is stored in `refs/signalbox/was/BRANCH`.
std::string base_ref_of(std::string_view run);
struct WorkTree {
  std::string path, branch, base, base_commit;  // branch empty: read-only, detached
  std::string git_dir = {};                     // its git folder, as created
};
struct WorkTreeSpec {
  std::string repository, place, run;
  std::string strategy = "worktree";  // none, worktree, read-only
  std::string base = "main", remote = "origin", prefix = "signalbox/";
  std::string secret = {}, secret_host = {};  // for fetching, only from that host
  std::string commit = {};                    // where it starts; empty: at the base
};
Result<WorkTree> make_work_tree(const Seams& seams, const WorkTreeSpec& spec);
// The Git of a run's work tree, located by the log and never by the files there. kConflict when its `.git` has changed:
// anyone who may write there must not choose what we run, and people use git there too.
Result<Git> git_of_work_tree(const Seams& seams, const WorkTree& tree);
// Removes temporary files that a killed process left. Only while no one else works there.
void remove_interrupted_writes(const Seams& seams, const WorkTree& tree);
// kConflict, and nothing is removed, while it contains anything that is not in `delivered`: the pushed commit (not its
// squashed merge); empty: nothing was delivered. `.signalbox/*.md`, the notes of phases, do not count. A checkout that
// was worked in (strategy none) returns to the branch it was on before.
Status remove_work_tree(const Seams& seams, const std::string& repository, const WorkTree& tree,
                        const std::string& delivered);

}  // namespace sb::pipeline
