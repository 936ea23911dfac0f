// From a work tree to a merged change, in steps that can be repeated. Each step first checks whether its effect exists
// already, then acts; the caller appends its event afterwards. A kill between the effect and its event is therefore
// harmless: the commit has the same hash (its times come from the run's log), the push finds the branch, the request is
// found by its mark, a merge is found merged.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {

enum class DeliveryStep {
  kHead,
  kScope,
  kChecks,
  kSecrets,
  kCommit,
  kPush,
  kRequest,
  kRequestChecks,
  kUpdate,
  kMerge,
  kConfirm,
  kClose
};
std::string_view to_string(DeliveryStep step);  // head, scope, checks, …

// The cause of a finding of `merge` that the `update` step fixes.
inline constexpr std::string_view kBaseMoved = "base_moved";

struct DeliveryFinding {  // a reason not to deliver; for the fixer, the reviewer and people
  std::string severity, summary, file, cause;
  Value to_value() const;
};

struct ProjectCheck {
  std::string name, run;
  std::int64_t time_ms = 600'000;
};

struct DeliverySpec {
  std::string run = {}, session = {}, goal = {};
  WorkTree tree = {};
  std::string repository = {};   // the user's checkout
  std::string check_place = {};  // the folder of the checkouts in which checks run
  int round = 0;                 // fix round; each round is one commit
  std::string parent = {};       // parent of the commit: the base, or the round before
  std::string base = {};         // of the whole change; empty: where the run started
  TimestampMs at = 0;            // the commit's time
  std::vector<std::string> files_changed = {}, out_of_scope = {}, protected_paths = {};
  std::vector<std::string> rule_paths = {};      // globs: what the settings give agents to read
  std::vector<std::string> internal_paths = {};  // of Signalbox, never delivered: .signalbox/current-pitch.md, …
  std::vector<std::string> retired_paths = {};   // of those: removed from the base where it has them
  std::vector<ProjectCheck> checks = {}, setup = {};
  bool checks_trusted = false;
  std::string title = {}, body = {};                // of the request
  std::string type = {}, scope = {}, subject = {};  // of the commit
  Identity identity = {};
  std::string remote = "origin";
  bool waits_for_checks = true;
  std::string request = {};  // its id, once known
  Ticket ticket = {};        // closed at the end
};

struct DeliveryStepResult {
  bool passed = true;
  std::vector<DeliveryFinding> findings = {};  // not passed: why
  Value facts = {};              // for the event: {commit}, {request, url}, {output, exit}, {collateral: […]}, …
  bool already_existed = false;  // the effect existed before
  std::int64_t retry_at_ms = 0;  // not passed and without findings: not ready; check again then
};

struct DeliveryParts {
  Seams seams;
  Forge& forge;
  std::vector<std::string> secrets = {};  // known values, in addition to the patterns
  // Runs a project's check in the sandbox, in the checkout made for it.
  std::function<Result<ProcessResult>(const ProjectCheck&, const std::string& directory)> run_check;
  std::function<bool()> should_continue = {};
};

// One step. `before`: the facts of the steps done in this round, under their names or all in one object. An error stops
// the run (is_retryable: parks it). What can be fixed in the change, or needs a decision, is a finding instead.
//
// `update` runs only when the forge refused a merge because the base has advanced (finding `base_moved`); checks, push,
// request and its checks are repeated after it. Its commit has the base as first parent and the reviewed commit as
// second, so nothing pushed is taken back, and one commit is still one commit.
//
// | step | checks | does | facts |
// |---|---|---|---|
// | head | the run's branch, at the parent or above it | folds in commits an agent made | head, [folded] |
// | scope | all changes against the parent | records a tree | tree, snapshot, files, collateral, unchanged, judges |
// | checks | | runs them in a checkout of the commit | checks: [{name, passed, exit, output, …}], checked |
// | secrets | lines the tree adds | | scanned |
// | commit | the branch has it | a commit of the tree, its times from the run | commit, parent, tree |
// | push | the remote has it | pushes, if the remote's branch is unchanged | commit |
// | request | branch and mark | opens or updates | request, url, at |
// | request_checks | | queries them; `retry_at_ms` while they run | state |
// | update | the branch has the base | merges the base into branch and work tree | commit, base, tree, snapshot |
// | merge | it is merged | merges, at this commit only | at |
// | confirm | it is merged | | merged_as, base |
// | close | it is closed | closes the ticket with a comment | |
Result<DeliveryStepResult> deliver(DeliveryStep step, const DeliverySpec& spec, const Value& before,
                                   DeliveryParts& parts);

// Removes the checkout in which the run's checks ran.
void remove_check_tree(const Seams& seams, const std::string& repository, const std::string& place,
                       const std::string& run);

// For DeliveryParts::run_check: in bubblewrap where that works (the checkout writable, the rest read-only or absent,
// no network, no variables except PATH, HOME, LANG, TERM), otherwise without a sandbox; `sandbox` gets its name.
using RunCheck = std::function<Result<ProcessResult>(const ProjectCheck&, const std::string& directory)>;
RunCheck make_check_runner(const Seams& seams, const HomeDirectories& homes, std::function<bool()> should_continue = {},
                           std::string* sandbox = nullptr, std::vector<std::string> secret_files = {});

// Pure parts.
struct ScopeReport {
  std::vector<DeliveryFinding> blocking;  // undeclared or out of scope or protected, each naming its file
  std::vector<std::string> collateral;    // changed but not declared
  std::vector<std::string> unchanged;     // declared but not changed
};
// Files of Signalbox, not part of the change: never delivered, never counted.
bool is_internal(const Change& change, const DeliverySpec& spec);
DeliveryFinding repository_finding(const std::string& path);
DeliveryFinding git_folder_finding(const std::string& path);
ScopeReport check_scope(const std::vector<Change>& changes, const DeliverySpec& spec);
// Text that is safe to store and show: UTF-8, control and invisible characters escaped, secrets redacted.
std::string visible_text(std::string_view text, const std::vector<std::string>& secrets);
// Added lines only; names file, line and kind, never the value.
std::vector<DeliveryFinding> scan_secrets(std::string_view diff, const std::vector<std::string>& known);

}  // namespace sb::pipeline
