// The steps of delivery.hpp, each a function. Internal to this folder.
#pragma once

#include "pipeline/delivery/delivery.hpp"

namespace sb::pipeline::steps {

struct Job {
  const DeliverySpec& spec;
  const Value& before;
  DeliveryParts& parts;

  Result<Git> git() const { return git_of_work_tree(parts.seams, spec.tree); }
  // A fact of a step before: `before` holds them under the step's name, or all in one.
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
// The work tree as it is now.
struct TreeSnapshot {
  std::string tree, snapshot;  // without and with what is internal
  std::vector<Change> changes;
};
Result<TreeSnapshot> snapshot_tree(const Job& job, Git& git);
// Whether a tree that `scope` fixed is there; if not, no step after it may go on.
Result<bool> has_tree(const Job& job, Git& git, const std::string& tree);
DeliveryStepResult tree_lost();
// Links that lead out of the repository or into `.git`, by themselves or through others, because of the change.
Result<std::vector<DeliveryFinding>> link_findings(const Job& job, Git& git, const std::string& tree,
                                                   const std::vector<Change>& changes);
// Its times are of the run, so making it again gives the same hash.
Result<std::string> make_commit(const Job& job, Git& git, const std::vector<std::string>& parents,
                                const std::string& tree, const std::string& subject);
// What is delivered: the commit of the round, or what brought it up to date.
Result<std::string> commit_fact(const Job& job);
// Where the remote's ref is; empty: it has none.
Result<std::string> remote_hash(Git& git, const std::string& remote, const std::string& ref, const GitSecret& secret);
// For reading from the wish's remote. kNotFound: there is no such remote.
Result<GitSecret> fetch_secret(const Job& job, Git& git);
// A file in which the work tree is not as `tree` has it.
struct ChangedFile {
  std::string path;
  bool is_in_tree = false;
};
std::vector<ChangedFile> changed_files(const std::vector<Change>& since_tree);
// Puts them into the work tree as `tree` has them.
Status restore_files(Files& files, Git& git, const std::string& tree, const std::vector<ChangedFile>& wanted);
// One line without control characters, at most so many bytes.
std::string one_line(std::string_view text, std::size_t max_bytes);
// Text that may be kept and shown: UTF-8, without control sequences, secrets taken out.
std::string plain_text(std::string_view text, const std::vector<std::string>& secrets);

}  // namespace sb::pipeline::steps
