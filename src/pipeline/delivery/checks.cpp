// Runs the project's own checks and restores the work tree afterwards.
#include <fmt/format.h>

#include <algorithm>

#include "agent/secrets/redact.hpp"
#include "agent/tools/plain_text.hpp"
#include "inbox/config.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"
#include "sandbox/enclosed_run.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::pipeline {
namespace steps {
namespace {

// A check may write reports, caches and lock files. If they stayed in the work tree, the next round would take them for
// changes of the agent. Files ignored by git stay.
Result<Value> restore(const Job& job, Git& git, const std::string& snapshot) {
  Value restored = Value::array();
  // Git cannot record a repository without a commit, and would not stash it.
  for (const std::string& path : SB_TRY(git.nested_repositories(snapshot))) {
    restored.push_back(shown(path));
    const Status removed = job.parts.seams.files.remove_tree(join_path(git.directory(), path));
    if (!removed) return cannot_remove(path, removed.error());
  }
  const std::string now = SB_TRY(git.snapshot(job.spec.parent));
  if (now == snapshot) return restored;
  const std::vector<ChangedFile> files = changed_files(SB_TRY(git.changes_between(snapshot, now)));
  for (const ChangedFile& file : files) restored.push_back(shown(file.path));
  SB_TRY(restore_files(job.parts.seams.files, git, snapshot, files));
  return restored;
}

Value result_of(const ProjectCheck& check, const ProcessResult& exit, const Job& job, std::int64_t duration_ms) {
  const std::string text = plain_text(exit.output + exit.errors, job.parts.secrets);
  return Value::object({{"name", one_line(check.name, 200)},
                        {"passed", exit.code == 0 && !exit.timed_out},
                        {"exit", exit.code},
                        {"timed_out", exit.timed_out},
                        {"took_ms", duration_ms},
                        {"output", agent::elide_middle(text, limits::kCheckOutputBytes)}});
}

DeliveryFinding finding_of(const ProjectCheck& check, const ProcessResult& exit, const Value& result) {
  const std::string name = one_line(check.name.empty() ? check.run : check.name, 200);
  if (exit.timed_out) {
    return {"major", fmt::format("the check {} did not finish within {} s and was stopped", name, check.time_ms / 1000),
            "", "check_timeout"};
  }
  const std::string output = result.string_at("output").value_or("");
  return {
      "major",
      fmt::format("the check {} failed with exit code {}:\n{}", name, exit.code, agent::elide_middle(output, 2'000)),
      "", "check_failed"};
}

}  // namespace

std::string plain_text(std::string_view text, const std::vector<std::string>& secrets) {
  std::string plain;
  const std::string all = agent::as_utf8(text);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find_first_of("\n\t", at), all.size());
    std::string_view part = std::string_view(all).substr(at, end - at);
    if (part.ends_with('\r')) part.remove_suffix(1);
    plain += shown(part);
    if (end < all.size()) plain += all[end];
    at = end + 1;
  }
  return agent::Redactor(secrets).clean(plain);
}

Result<DeliveryStepResult> checks(const Job& job) {
  DeliveryStepResult done{.facts = Value::object({{"checks", Value::array()}})};
  if (job.spec.checks.empty()) return done;
  if (!job.spec.checks_trusted) {
    return blocked({"major",
                    "the project's checks were not run: this folder is not trusted. Read them, then "
                    "run: signalbox trust",
                    "", "untrusted"});
  }
  Git git = SB_TRY(job.git());
  std::string snapshot = job.fact(DeliveryStep::kUpdate, "snapshot");
  if (snapshot.empty()) snapshot = job.fact(DeliveryStep::kScope, "snapshot");
  if (!SB_TRY(has_tree(job, git, snapshot))) return tree_lost();
  // Left there by checks that were killed together with us.
  Value restored = SB_TRY(restore(job, git, snapshot));
  Value results = Value::array();
  for (const ProjectCheck& check : job.spec.checks) {
    const TimestampMs began = job.parts.seams.clock.now_ms();
    const ProcessResult exit = SB_TRY(job.parts.run_check(check, job.spec.tree.path));
    if (exit.was_cancelled || (job.parts.should_continue && !job.parts.should_continue())) {
      return std::unexpected(Error{ErrorCode::kUnavailable, "stopped while a check ran", "", {}, true});
    }
    Value result = result_of(check, exit, job, job.parts.seams.clock.now_ms() - began);
    if (!result["passed"].as_bool()) done.findings.push_back(finding_of(check, exit, result));
    results.push_back(std::move(result));
  }
  Value after = SB_TRY(restore(job, git, snapshot));
  for (Value& path : after.items()) restored.push_back(std::move(path));
  done.passed = done.findings.empty();
  done.facts.set("checks", std::move(results));
  if (restored.size() > 0) done.facts.set("restored", std::move(restored));
  return done;
}

}  // namespace steps

RunCheck make_check_runner(const Seams& seams, const HomeDirectories& homes, std::function<bool()> should_continue,
                           std::string* sandbox_name, std::vector<std::string> secret_files) {
  auto sandbox = std::make_shared<std::optional<sandbox::Sandbox>>();
  return [=, seams = Seams(seams)](const ProjectCheck& check, const std::string& directory) -> Result<ProcessResult> {
    if (!*sandbox) *sandbox = inbox::find_users_sandbox(seams, homes);
    if (sandbox_name) *sandbox_name = (*sandbox)->name();
    if (check.run.find('\0') != std::string::npos)
      return fail(ErrorCode::kInvalid, "the check contains a NUL character");
    const std::string folder = SB_TRY(seams.files.canonical(directory));
    Command command{.argv = {"/bin/sh", "-c", check.run},
                    .environment = sandbox::clean_environment(seams.environment),
                    .timeout_ms = check.time_ms,
                    .max_output_bytes = limits::kCheckOutputBytes,
                    .merge_stderr = true,
                    .keep_tail = true,
                    .kill_descendants = true,
                    .should_continue = should_continue};
    sandbox::Place place{.workspace = folder,
                         .sealed = {join_path(folder, ".git")},
                         .hidden = sandbox::hidden_paths(seams.files, seams.environment, homes, secret_files)};
    return sandbox::run_enclosed(seams, homes, **sandbox, std::move(place), std::move(command));
  };
}

}  // namespace sb::pipeline
