// The delivery steps that use the remote and its forge.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/delivery/outgoing_text.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline::steps {
namespace {

constexpr std::int64_t kLookAgainMs = 15'000;    // between queries of a forge's checks
constexpr std::int64_t kChecksStartMs = 60'000;  // time for a forge to notice a push
constexpr std::size_t kTitleBytes = 200;
constexpr std::size_t kSaidBytes = 4'000;   // of a forge's check, shown to a fixer
constexpr std::size_t kBodyBytes = 60'000;  // GitHub accepts 65536 characters
constexpr std::int64_t kConfirmEveryMs = 2'000;
constexpr std::int64_t kConfirmMs = 60'000;  // until an accepted merge must be visible

std::string title_of(const Job& job) {
  const DeliverySpec& spec = job.spec;
  const std::string title =
      one_line(visible_text(spec.title.empty() ? spec.goal : spec.title, job.parts.secrets), kTitleBytes);
  return title.empty() ? "Run " + spec.run : without_references(title, spec.ticket, job.parts.forge.kind());
}

std::string body_of(const Job& job) {
  std::string body =
      without_references(visible_text(job.spec.body, job.parts.secrets), job.spec.ticket, job.parts.forge.kind());
  if (body.size() > kBodyBytes) body = fmt::format("{}\n\n[cut]", utf8_prefix(body, kBodyBytes));
  while (body.ends_with('\n') || body.ends_with(' ')) body.pop_back();
  if (body.find(job.mark()) != std::string::npos) return body;
  return body + (body.empty() ? "" : "\n\n") + job.mark() + "\n";
}

Result<ChangeRequest> request_of(const Job& job) {
  std::string id = job.fact(DeliveryStep::kRequest, "request");
  if (id.empty()) id = job.spec.request;
  auto found = job.parts.forge.find({.branch = job.spec.tree.branch, .run = job.spec.run, .id = id});
  if (!found) return std::unexpected(std::move(found).error());
  if (!*found) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the change request of {} no longer exists", shown(job.spec.tree.branch)),
                "Check the forge");
  }
  return std::move(**found);
}

bool expects_checks(const Job& job) {
  const std::string_view folder = job.parts.forge.kind().checks_folder;
  if (folder.empty()) return false;
  return job.parts.seams.files.kind(join_path(job.spec.tree.path, folder)) == FileKind::kDirectory;
}

// Includes the check's own output, which is untrusted data.
std::string check_summary(const CheckReport& check, std::string_view how, const std::vector<std::string>& secrets) {
  std::string text = fmt::format("the forge's check {} {}", one_line(check.name, 200), how);
  const std::string said = one_line(visible_text(check.said, secrets), kSaidBytes);
  if (!said.empty()) text += ": " + said;
  if (!check.url.empty()) text += fmt::format(" ({})", one_line(check.url, 500));
  return text;
}

// The current state of the forge's checks of the request.
Result<DeliveryStepResult> poll_checks(const Job& job, const ChangeRequest& request) {
  const auto checks = job.parts.forge.checks(request);
  if (!checks) return std::unexpected(checks.error());
  const TimestampMs now = job.parts.seams.clock.now_ms();
  const std::int64_t began = job.number(DeliveryStep::kRequest, "at");
  const std::int64_t waited = began > 0 ? now - began : 0;
  using State = RequestChecks::State;
  const DeliveryStepResult not_yet{
      .passed = false, .facts = Value::object({{"state", "pending"}}), .retry_at_ms = now + kLookAgainMs};
  switch (checks->state) {
    case State::kPassed:
      return DeliveryStepResult{.facts = Value::object({{"state", "passed"}})};
    case State::kNone:
      if (expects_checks(job) && waited < kChecksStartMs) return not_yet;
      return DeliveryStepResult{.facts = Value::object({{"state", "none"}})};
    case State::kPending:
      if (waited < limits::kRequestChecksMs) return not_yet;
      return blocked({"major", fmt::format("the forge's checks did not finish within {} minutes", waited / 60'000), "",
                      "checks_pending"},
                     Value::object({{"state", "pending"}}));
    case State::kFailed:
    case State::kStopped:
      break;
  }
  // A cancelled check says nothing about the change: not a task for a fixer.
  const bool has_failed = checks->state == State::kFailed;
  const char* cause = has_failed ? "checks_failed" : "checks_stopped";
  DeliveryStepResult done{.passed = false, .facts = Value::object({{"state", has_failed ? "failed" : "stopped"}})};
  for (const CheckReport& check : has_failed ? checks->failed : checks->stopped) {
    done.findings.push_back(
        {"major", check_summary(check, has_failed ? "failed" : "was cancelled", job.parts.secrets), "", cause});
  }
  if (done.findings.empty()) done.findings.push_back({"major", "a check of the forge failed", "", cause});
  return done;
}

// Checks that had passed, or did not exist, may have failed by the time a person approved. Failed ones that a person
// accepted are not checked again.
Result<DeliveryStepResult> check_before_merging(const Job& job, const ChangeRequest& request) {
  const std::string before = job.fact(DeliveryStep::kRequestChecks, "state");
  if (before != "passed" && before != "none") return DeliveryStepResult{};
  return poll_checks(job, request);
}

}  // namespace

Result<std::string> remote_hash(Git& git, const std::string& remote, const std::string& ref, const GitSecret& secret) {
  const std::string text =
      SB_TRY(git.run(GitCall{.words = {"ls-remote", "--quiet", remote, ref}, .secret = secret, .is_remote = true}))
          .output;
  const std::string end = "\t" + ref + "\n";
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (const std::size_t tab = rest.find('\t'); rest.substr(tab).starts_with(end))
      return std::string(rest.substr(0, tab));
  }
  return std::string();
}

Result<std::string> commit_fact(const Job& job) {
  std::string commit = job.fact(DeliveryStep::kUpdate, "commit");
  if (commit.empty()) commit = job.fact(DeliveryStep::kCommit, "commit");
  if (commit.empty()) commit = job.fact(DeliveryStep::kPush, "commit");
  if (commit.empty()) return fail(ErrorCode::kInternal, "the earlier facts do not name the commit to deliver");
  return commit;
}

Result<GitSecret> fetch_secret(const Job& job, Git& git) {
  const std::string url = SB_TRY(git.remote_url(job.spec.remote));
  if (url.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("the repository has no remote {}", shown(job.spec.remote)),
                fmt::format("Add one and resume: git remote add {} URL", job.spec.remote));
  }
  const Forge& forge = job.parts.forge;
  return secret_for(url, forge.push_secret(), forge.push_host());
}

Result<DeliveryStepResult> push(const Job& job) {
  Git tree = SB_TRY(job.git());
  Git git = SB_TRY(repository_of(job.parts.seams, tree));
  const std::string commit = SB_TRY(commit_fact(job));
  const std::string& remote = job.spec.remote;
  const GitSecret looking = SB_TRY(fetch_secret(job, git));
  const std::string url = without_trailing_newlines(SB_TRY(git.run({"remote", "get-url", "--push", remote})));
  const Forge& forge = job.parts.forge;
  const std::string ref = "refs/heads/" + job.spec.tree.branch;
  const std::string there = SB_TRY(remote_hash(git, remote, ref, looking));
  DeliveryStepResult done{.facts = Value::object({{"commit", commit}, {"branch", job.spec.tree.branch}})};
  if (there == commit) {
    done.already_existed = true;
    return done;
  }
  const bool is_known = there.empty() || SB_TRY(git.has_object(there));
  if (!is_known || (!there.empty() && !SB_TRY(git.is_ancestor(there, commit)))) {
    return blocked({"critical",
                    fmt::format("another push changed {}: it is at {}, not where this run left it",
                                shown(job.spec.tree.branch), there),
                    "", "branch_moved"});
  }
  const auto pushed =
      git.run(GitCall{.words = {"push", "--quiet", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags",
                                fmt::format("--force-with-lease={}:{}", ref, there), remote, commit + ":" + ref},
                      .secret = secret_for(url, forge.push_secret(), forge.push_host()),
                      .is_remote = true});
  if (!pushed && pushed.error().code == ErrorCode::kConflict) {
    // An earlier push of a killed process may have succeeded first.
    done.already_existed = SB_TRY(remote_hash(git, remote, ref, looking)) == commit;
    if (done.already_existed) return done;
    return blocked({"major", "the remote rejected the branch: " + pushed.error().message, "", "push_rejected"});
  }
  if (!pushed) return std::unexpected(pushed.error());
  return done;
}

Result<DeliveryStepResult> request(const Job& job) {
  const std::string commit = SB_TRY(commit_fact(job));
  const DeliverySpec& spec = job.spec;
  const ChangeRequestSpec asked{.run = spec.run,
                                .branch = spec.tree.branch,
                                .base = spec.tree.base,
                                .commit = commit,
                                .title = title_of(job),
                                .body = body_of(job),
                                .id = spec.request};
  auto opened = job.parts.forge.open_or_update(asked);
  if (!opened && opened.error().code == ErrorCode::kConflict) {
    // The branch may have been removed since it was pushed.
    const DeliveryStepResult pushed = SB_TRY(push(job));
    if (!pushed.passed) return pushed;
    if (!pushed.already_existed) opened = job.parts.forge.open_or_update(asked);
  }
  if (!opened && opened.error().code == ErrorCode::kConflict) {
    return blocked(
        {"major", "the forge rejected the change request: " + opened.error().message, "", "request_refused"});
  }
  if (!opened) return std::unexpected(opened.error());
  return DeliveryStepResult{
      .facts = Value::object(
          {{"request", opened->id}, {"url", opened->url}, {"commit", commit}, {"at", job.parts.seams.clock.now_ms()}}),
      .already_existed = opened->already_existed};
}

Result<DeliveryStepResult> request_checks(const Job& job) {
  if (!job.spec.waits_for_checks) return DeliveryStepResult{.facts = Value::object({{"state", "not waited for"}})};
  const ChangeRequest request = SB_TRY(request_of(job));
  // Merged by someone before the checks finished.
  if (request.state == ChangeRequest::State::kMerged)
    return DeliveryStepResult{.facts = Value::object({{"state", "merged"}})};
  return poll_checks(job, request);
}

Result<DeliveryStepResult> merge(const Job& job) {
  const std::string commit = SB_TRY(commit_fact(job));
  const ChangeRequest request = SB_TRY(request_of(job));
  DeliveryStepResult done{.facts = Value::object({{"commit", commit}, {"at", job.parts.seams.clock.now_ms()}})};
  if (request.state == ChangeRequest::State::kMerged) {
    done.already_existed = true;
    return done;
  }
  if (request.state == ChangeRequest::State::kClosed) {
    return blocked({"critical", "the change request was closed without merging", "", "request_closed"});
  }
  if (DeliveryStepResult seen = SB_TRY(check_before_merging(job, request)); !seen.passed) return seen;
  const Status merged = job.parts.forge.merge(request, commit, title_of(job));
  if (!merged && merged.error().code == ErrorCode::kConflict) {
    // Refused because it is merged already: the first request was carried out, but its response was lost.
    const ChangeRequest now = SB_TRY(request_of(job));
    if (now.state == ChangeRequest::State::kMerged && now.commit == commit) return done;
    if (now.state == ChangeRequest::State::kOpen && SB_TRY(job.parts.forge.needs_update(now))) {
      return blocked({"major", fmt::format("{} has advanced since the run started", shown(job.spec.tree.base)), "",
                      std::string(kBaseMoved)});
    }
    return blocked({"critical", "the forge refused to merge: " + merged.error().message, "", "merge_refused"});
  }
  if (!merged) return std::unexpected(merged.error());
  return done;
}

Result<DeliveryStepResult> confirm(const Job& job) {
  const std::string commit = SB_TRY(commit_fact(job));
  const ChangeRequest request = SB_TRY(request_of(job));
  if (request.state == ChangeRequest::State::kMerged && request.commit == commit) {
    return DeliveryStepResult{.facts = Value::object({{"commit", commit},
                                                      {"request", request.id},
                                                      {"url", request.url},
                                                      {"merged_as", request.merged_as},
                                                      {"base", request.merged_base}})};
  }
  if (request.state == ChangeRequest::State::kMerged) {
    return blocked({"critical", fmt::format("the request was merged at {}, not at {}", request.commit, commit), "",
                    "merged_other"});
  }
  const TimestampMs now = job.parts.seams.clock.now_ms();
  const std::int64_t asked = job.number(DeliveryStep::kMerge, "at");
  if (request.state == ChangeRequest::State::kOpen && asked > 0 && now - asked < kConfirmMs) {
    return DeliveryStepResult{
        .passed = false, .facts = Value::object({{"state", "open"}}), .retry_at_ms = now + kConfirmEveryMs};
  }
  return blocked({"critical", "the forge accepted the merge, but the request is not merged", "", "not_merged"});
}

Result<DeliveryStepResult> close(const Job& job) {
  if (job.spec.ticket.id.empty()) return DeliveryStepResult{.facts = Value::object({{"ticket", ""}})};
  const ChangeRequest request = SB_TRY(request_of(job));
  const std::string word = fmt::format("Done by {}{}.\n\n{}\n", request.url,
                                       request.merged_as.empty() ? "" : ", merged as " + request.merged_as, job.mark());
  const Status closed = job.parts.forge.close_ticket(job.spec.ticket, word);
  if (!closed) return std::unexpected(closed.error());
  return DeliveryStepResult{.facts = Value::object({{"ticket", job.spec.ticket.id}})};
}

}  // namespace sb::pipeline::steps
