// The steps of delivery.hpp, each a function. Internal to this folder.
#pragma once

#include "pipeline/delivery/delivery.hpp"

namespace sb::pipeline::steps {

struct Job {
  const DeliverySpec& spec;
  const Value& before;
  DeliveryParts& parts;

  Result<Git> git() const { return git_of_work_tree(parts.seams, spec.tree); }
  // A fact of an earlier step: `before` has them under the step's name, or all in one object.
  std::string fact(DeliveryStep step, std::string_view name) const;
  std::int64_t number(DeliveryStep step, std::string_view name) const;
  std::string mark() const { return "Signalbox-Run: " + spec.run; }
};

Result<DeliveryStepResult> head(const Job& job);
Result<DeliveryStepResult> scope(const Job& job);
Result<DeliveryStepResult> checks(const Job& job);
Result<DeliveryStepResult> secrets(const Job& job);
Result<DeliveryStepResult> commit(const Job& job);
Result<DeliveryStepResult> push(const Job& job);
Result<DeliveryStepResult> request(const Job& job);
Result<DeliveryStepResult> request_checks(const Job& job);
Result<DeliveryStepResult> update(const Job& job);
Result<DeliveryStepResult> merge(const Job& job);
Result<DeliveryStepResult> confirm(const Job& job);
Result<DeliveryStepResult> close(const Job& job);

DeliveryStepResult blocked(DeliveryFinding finding, Value facts = {});
// The current work tree.
struct TreeSnapshot {
  std::string tree, snapshot;  // without and with internal files
  std::vector<Change> changes;
};
Result<TreeSnapshot> snapshot_tree(const Job& job, Git& git);
// Whether the tree that `scope` recorded still exists; if not, no later step may continue.
Result<bool> has_tree(const Job& job, Git& git, const std::string& tree);
DeliveryStepResult tree_lost();
// Links that the change makes point out of the repository or into `.git`, directly or through others.
Result<std::vector<DeliveryFinding>> link_findings(const Job& job, Git& git, const std::string& tree,
                                                   const std::vector<Change>& changes);
// Its times come from the run, so that making it again gives the same hash.
Result<std::string> make_commit(const Job& job, Git& git, const std::vector<std::string>& parents,
                                const std::string& tree, const std::string& subject);
// The commit of the round: what `commit` makes of the tree that `scope` recorded.
Result<std::string> commit_of_round(const Job& job, Git& git, const std::string& tree);
// The delivered commit: that of the round, or the update that followed it.
Result<std::string> commit_fact(const Job& job);
// The commit of the remote's ref; empty: it has none.
Result<std::string> remote_hash(Git& git, const std::string& remote, const std::string& ref, const GitSecret& secret);
// For reading from the remote of the settings. kNotFound: there is no such remote.
Result<GitSecret> fetch_secret(const Job& job, Git& git);
// A file in which the work tree differs from `tree`.
struct ChangedFile {
  std::string path;
  bool is_in_tree = false;
};
std::vector<ChangedFile> changed_files(const std::vector<Change>& since_tree);
// Writes them to the work tree as in `tree`.
Status restore_files(Files& files, Git& git, const std::string& tree, const std::vector<ChangedFile>& wanted);

// The checkout in which checks run: exactly a commit, and what `setup` made. Nothing of the agent's work tree is in it,
// so that a file which git ignores, and which is therefore not delivered, cannot make a check pass. It is kept between
// checks, and only what differs is written.
class CheckTree {
 public:
  // Creates it if it is missing; runs `setup` in it once, at the commit the run started from.
  static Result<CheckTree> open(const Job& job);
  const std::string& path() const { return tree_.path; }
  // Exactly this commit, with the files of `setup`; nothing of an earlier check stays.
  Status reset_to(const std::string& commit);
  // What `setup` made: files, and folders that had no tracked file.
  Result<std::vector<std::string>> made_names() const;

 private:
  CheckTree(const Job& job, WorkTree tree) : job_(job), tree_(std::move(tree)) {}
  static Result<WorkTree> make(const Job& job);
  Status set_up();
  Status run_setup();
  Status check_out(const std::string& commit);
  Status restore_tracked(const std::string& commit);
  Status renew_submodules();
  Status copy_made_files(const std::string& from, const std::string& to, const std::vector<std::string>& names);
  Result<std::vector<std::string>> untracked();
  std::string made_by_setup() const { return tree_.path + ".setup"; }

  const Job& job_;
  WorkTree tree_;
};

// One line without control characters, at most so many bytes.
std::string one_line(std::string_view text, std::size_t max_bytes);

}  // namespace sb::pipeline::steps
