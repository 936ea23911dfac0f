// Runs the project's own checks on exactly what will be committed.
#include <fmt/format.h>

#include <algorithm>

#include "agent/secrets/redact.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/git_origin.hpp"
#include "inbox/config.hpp"
#include "inbox/hidden_paths.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"
#include "sandbox/enclosed_run.hpp"

namespace sb::pipeline {

std::string visible_text(std::string_view text, const std::vector<std::string>& secrets) {
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

namespace steps {
namespace {

Value result_of(const ProjectCheck& check, const ProcessResult& exit, const Job& job, std::int64_t duration_ms) {
  const std::string text = visible_text(exit.output + exit.errors, job.parts.secrets);
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

// The commit of the round as it will be made, or the one that contains the moved base; empty: its tree is lost.
Result<std::string> commit_to_check(const Job& job) {
  const std::string updated = job.fact(DeliveryStep::kUpdate, "commit");
  if (!job.fact(DeliveryStep::kUpdate, "snapshot").empty() && !updated.empty()) return updated;
  Git git = SB_TRY(job.git());
  const std::string tree = job.fact(DeliveryStep::kScope, "tree");
  if (!SB_TRY(has_tree(job, git, tree))) return std::string();
  return commit_of_round(job, git, tree);
}

}  // namespace

Result<DeliveryStepResult> checks(const Job& job) {
  DeliveryStepResult done{.facts = Value::object({{"checks", Value::array()}})};
  if (job.spec.checks.empty()) return done;
  if (!job.spec.checks_trusted) {
    return blocked({"major",
                    "the project's checks were not run: this folder is not trusted. Read them, then "
                    "run: signalbox trust",
                    "", "untrusted"});
  }
  const std::string commit = SB_TRY(commit_to_check(job));
  if (commit.empty()) return tree_lost();
  CheckTree tree = SB_TRY(CheckTree::open(job));
  Value results = Value::array();
  for (const ProjectCheck& check : job.spec.checks) {
    // Each starts from nothing: what the program under test wrote while one ran cannot help the next.
    SB_TRY(tree.reset_to(commit));
    const TimestampMs began = job.parts.seams.clock.now_ms();
    const ProcessResult exit = SB_TRY(job.parts.run_check(check, tree.path()));
    if (exit.was_cancelled || (job.parts.should_continue && !job.parts.should_continue())) {
      return std::unexpected(Error{ErrorCode::kUnavailable, "stopped while a check ran", "", {}, true});
    }
    Value result = result_of(check, exit, job, job.parts.seams.clock.now_ms() - began);
    if (!result["passed"].as_bool()) done.findings.push_back(finding_of(check, exit, result));
    results.push_back(std::move(result));
  }
  done.passed = done.findings.empty();
  done.facts.set("checks", std::move(results));
  done.facts.set("checked", commit);
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
                         .readable = git_folders(seams.files, folder),
                         .sealed = {join_path(folder, ".git")},
                         .hidden = inbox::hidden_paths(seams.files, seams.environment, homes, secret_files)};
    return sandbox::run_enclosed(seams, homes, **sandbox, std::move(place), std::move(command));
  };
}

}  // namespace sb::pipeline
