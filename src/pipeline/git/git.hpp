// Git, as far as runs need it: one command a call, never a configuration written, hooks of the repository not run,
// nothing asked on a terminal.
#pragma once

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
  bool is_link = false, is_repository = false;  // what it is now: a symbolic link; a repository inside this one
  bool was_repository = false;
};

// What opens a remote, and where it may be sent: to nobody else, whatever a remote's address redirects to.
struct GitSecret {
  std::string value = {};
  std::string origin = {};  // https://host:port
  bool empty() const { return value.empty() || origin.empty(); }
};
// Empty unless the address leads to the host the secret is for.
GitSecret secret_for(std::string_view url, const std::string& secret, const std::string& host);

// One command and what it is given besides its words.
struct GitCall {
  std::vector<std::string> words;                       // behind `git -C DIRECTORY`
  std::string input = {};                               // its standard input
  GitSecret secret = {};                                // for a remote; see Git::run
  std::map<std::string, std::string> environment = {};  // besides the clean one
  bool is_remote = false;                               // talks to another repository: may use the user's agents
  std::vector<int> accepted_codes = {0};                // exit codes that are no error
  std::size_t max_bytes = std::size_t{64} << 20;
  std::int64_t time_ms = 600'000;
};

class Git {
 public:
  // `git_dir`: where the repository is, when the folder's own `.git` is not to be believed.
  Git(const Seams& seams, std::string directory, std::string git_dir = {})
      : seams_(seams), directory_(std::move(directory)), git_dir_(std::move(git_dir)) {}
  const std::string& directory() const { return directory_; }

  // The words behind `git -C DIRECTORY`; kUnavailable with is_retryable when a remote cannot be reached, kConflict when
  // it rejects, kForbidden when it does not let us in, kIo when the disk is full. A secret is put into the environment
  // of this one command for a remote, never into words or files.
  Result<std::string> run(std::vector<std::string> words, const std::string& input = {});
  Result<ProcessResult> run(const GitCall& call);
  Result<std::string> commit_of(const std::string& name);                   // kNotFound
  Result<std::optional<std::string>> find_commit(const std::string& name);  // nothing: there is none
  Result<bool> has_object(const std::string& name);
  // Removes what a killed command left, of a ref that only the run's one driver changes.
  Status unlock(const std::string& ref);
  Result<bool> is_ancestor(const std::string& old, const std::string& young);  // or the same
  // Everything in the work tree that is not ignored, as a tree object. Made in an index of our own: what somebody put
  // into the work tree's, or hid there, does not count. `from`: the commit it is compared with, for speed and for the
  // submodules: those count by the commit they are at.
  Result<std::string> snapshot(const std::string& from);
  // Repositories in the work tree that neither `from` has nor git ignores.
  Result<std::vector<std::string>> nested_repositories(const std::string& from);
  // Submodules of `from` whose `.git` is not what `git submodule update` makes.
  Result<std::vector<std::string>> tampered_submodules(const std::string& from);
  // Of those paths, the files that a commit has, links and folders not among them. In place of one over
  // `max_bytes` stand blanks, one more than that.
  Result<std::map<std::string, std::string>> texts_at(const std::string& commit, const std::vector<std::string>& paths,
                                                      std::size_t max_bytes);
  Result<std::vector<Change>> changes_between(const std::string& from, const std::string& tree);
  Result<std::vector<Change>> changes(const std::string& from);  // work tree and index against a commit, untracked too
  // The same as text, but for those files; kLimit when it is larger.
  Result<std::string> diff(const std::string& from, std::size_t max_bytes, const std::vector<Change>& without = {});

 private:
  struct Submodule {
    std::string path, commit;
    bool is_there = false;     // a `.git` is in it
    std::string git_dir = {};  // empty: that is not what git made
  };
  Result<std::string> git_dir();
  Result<std::string> own_module(const std::string& folder);
  Result<std::vector<Submodule>> submodules(const std::string& from);
  Status pin_submodules(const std::string& from, const std::map<std::string, std::string>& index);
  // The index of our own, holding `from`, as an environment.
  Result<std::map<std::string, std::string>> own_index(const std::string& from);

  Seams seams_;
  std::string directory_, git_dir_;
  std::optional<bool> has_ssh_command_ = {};  // in the user's configuration
};

// The repository a work tree is of, at its own folder: the URLs of remotes may be relative to that.
Result<Git> repository_of(const Seams& seams, Git& work_tree);

// A path or an output of git for people and for JSON: bytes that are no text as `\xNN`.
std::string shown(std::string_view bytes);
// The error of Files about a path of a work tree, with the path as `shown`.
std::unexpected<Error> cannot_remove(std::string_view path, const Error& error);
// Of `https://name@host:port/…`, without the port; empty for paths and other protocols.
std::string host_of_url(std::string_view url);

// What the user's and the repository's git settings hold that opens something: passwords and tokens in addresses, and
// headers that are sent along. An agent may ask git for all of them.
std::vector<std::string> secrets_in_configuration(const Seams& seams, const std::string& directory);

// How a repository is found before a run starts: everything that would go wrong later, told now.
struct RepositoryFacts {
  std::string root, branch, head;  // branch empty: detached
  bool is_dirty = false, has_submodules = false, is_bare = false;
  std::vector<std::string> remotes;
};
Result<RepositoryFacts> inspect_repository(const Seams& seams, const std::string& directory);
// Strategy none: kConflict unless the checkout stands where the base does, because commits between them are somebody's
// own and would go out with the run's.
Status check_in_place(const std::string& head, const std::string& base, const std::string& commit);

// The run's own work tree, made under `place`; asking again gives the same one, also when the first try was killed half
// way. A branch that exists and is not this run's is kConflict. Never removes anything that is not delivered.
//
// Which commit it was made from stands in the ref `refs/signalbox/base/RUN`, written before anything else: so a second
// try stands on the same commit, and a branch of that name without the ref is somebody else's. Where a checkout that is
// worked in was before stands in `refs/signalbox/was/BRANCH`.
struct WorkTree {
  std::string path, branch, base, base_commit;  // branch empty: read-only, detached
  std::string git_dir = {};                     // where git keeps it, as it was when it was made
};
struct WorkTreeSpec {
  std::string repository, place, run;
  std::string strategy = "worktree";  // none, worktree, read-only
  std::string base = "main", remote = "origin", prefix = "signalbox/";
  std::string secret = {}, secret_host = {};  // for fetching, from that host only
};
Result<WorkTree> make_work_tree(const Seams& seams, const WorkTreeSpec& spec);
// The Git of a run's work tree, led by the record and never by what lies there. kConflict when its `.git` is not what
// it was: whoever may write there must not choose what we run, and people use git there too.
Result<Git> git_of_work_tree(const Seams& seams, const WorkTree& tree);
// Removes what writes of a killed process left beside their files. Only while nobody works there.
void remove_interrupted_writes(const Seams& seams, const WorkTree& tree);
// kConflict, and nothing is removed, while it holds anything that is not in `delivered`: the commit that was pushed
// (not what a squash made of it); empty: nothing was. `.signalbox/*.md`, the notes of phases, do not count. A checkout
// that was worked in (strategy none) is put back to the branch it was on before.
Status remove_work_tree(const Seams& seams, const std::string& repository, const WorkTree& tree,
                        const std::string& delivered);

}  // namespace sb::pipeline
