// A work tree that was deleted is made again: its commits from the run's branch, the change that was being delivered
// from the snapshot that delivery keeps. What only the deleted folder had is lost; the phase that made it is done
// again.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

bool may_write(Phase phase) {
  return phase != Phase::kReview && phase != Phase::kAudit;
}

bool is_of_change(Phase phase) {
  return phase == Phase::kCoding || phase == Phase::kFix;
}

// The newest event whose result does not depend on the folder: a commit, or the snapshot if it still exists.
std::int64_t kept_up_to(const RunState& state, bool has_snapshot) {
  std::int64_t seq = 0;
  for (const RunState::DeliveryRecord& made : state.deliveries) {
    const bool is_commit =
        made.done.passed && (made.step == DeliveryStep::kCommit || made.step == DeliveryStep::kUpdate);
    const bool is_snapshot = made.step == DeliveryStep::kScope && has_snapshot;
    if (is_commit || is_snapshot) seq = std::max(seq, made.seq);
  }
  return seq;
}

// Phases whose work is gone: coding and fixing that is not kept, and whatever was still writing.
std::vector<const PhaseRecord*> lost_phases(const RunState& state, std::int64_t kept) {
  std::vector<const PhaseRecord*> lost;
  for (const PhaseRecord& record : state.phases) {
    const bool is_newest = state.newest(record.phase, record.round) == &record;
    const bool is_needed = is_of_change(record.phase) || !record.is_over;
    const bool is_kept = record.is_over && record.ended_seq < kept;
    if (is_newest && may_write(record.phase) && is_needed && !is_kept && !record.is_lost) lost.push_back(&record);
  }
  return lost;
}

// Deleted, or empty: then the folder is removed, so that git makes it again.
Result<bool> is_lost(Files& files, const std::string& path) {
  switch (files.kind(path)) {
    case FileKind::kMissing:
      return true;
    case FileKind::kDirectory:
      if (!SB_TRY(files.list(path)).empty()) return false;
      SB_TRY(files.remove_directory(path));
      return true;
    default:
      return fail(ErrorCode::kConflict, fmt::format("the run's work tree {} is no longer a folder", shown(path)),
                  "Move away what is there, then resume: the work tree is made again");
  }
}

std::string prefix_of(const WorkTree& tree, const std::string& run) {
  return tree.branch.ends_with(run) ? tree.branch.substr(0, tree.branch.size() - run.size()) : tree.branch;
}

}  // namespace

// The branch was deleted with it; its last commit may still exist.
Status RunDriver::restore_branch() {
  Git git(parts_.seams, state_.repository);
  const std::string base = base_ref_of(run_);
  if (!state_.tree.base_commit.empty() && !SB_TRY(git.find_commit(base))) {
    SB_TRY(git.run({"update-ref", base, state_.tree.base_commit, ""}));
  }
  const std::string ref = "refs/heads/" + state_.tree.branch;
  if (state_.tree.branch.empty() || SB_TRY(git.find_commit(ref))) return {};
  std::string tip;
  for (const RunState::DeliveryRecord& made : state_.deliveries) {
    const bool is_commit = made.step == DeliveryStep::kCommit || made.step == DeliveryStep::kUpdate;
    if (is_commit && made.done.passed) tip = made.done.facts.string_at("commit").value_or(tip);
  }
  if (tip.empty()) return {};
  if (!SB_TRY(git.has_object(tip + "^{commit}"))) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the work tree {} and its branch {} were deleted, and the commit {} no longer exists here",
                            shown(state_.tree.path), shown(state_.tree.branch), tip),
                fmt::format("Fetch it (git fetch REMOTE {}), or stop the run: signalbox runs stop {}", tip, run_));
  }
  SB_TRY(git.run({"update-ref", ref, tip, ""}));
  return {};
}

Status RunDriver::restore_work_tree() {
  const WorkTree& was = state_.tree;
  const bool is_own = !was.path.empty() && was.path != state_.repository;
  if (!state_.outcome.empty() || state_.stop_requested || !is_own || !SB_TRY(is_lost(parts_.seams.files, was.path)))
    return {};
  SB_TRY(restore_branch());
  const WorkTree tree = SB_TRY(make_work_tree(parts_.seams, {.repository = state_.repository,
                                                             .place = parent_path(was.path),
                                                             .run = run_,
                                                             .strategy = was.branch.empty() ? "read-only" : "worktree",
                                                             .base = was.base,
                                                             .remote = parts_.settings.forge.remote,
                                                             .prefix = prefix_of(was, run_)}));
  Git git = SB_TRY(git_of_work_tree(parts_.seams, tree));
  const auto snapshot = git.run({.words = {"rev-parse", "--verify", "--quiet", "refs/signalbox/snapshot/" + run_},
                                 .accepted_codes = {0, 1, 128}});
  const bool has_snapshot = snapshot && snapshot->code == 0;
  if (has_snapshot) {
    SB_TRY(git.run({"restore", "--quiet", "--source=refs/signalbox/snapshot/" + run_, "--worktree", "--", "."}));
  }
  SB_TRY(copy_pitch(tree));
  Value lost = Value::array();
  for (const PhaseRecord* record : lost_phases(state_, kept_up_to(state_, has_snapshot))) {
    if (!record->is_over) {
      SB_TRY(parts_.home.sessions().stop(record->session, "its work tree was deleted", "run " + run_));
    }
    lost.push_back(
        Value::object({{"phase", to_string(record->phase)}, {"round", record->round}, {"attempt", record->attempt}}));
  }
  if (lost.size() > 0) SB_TRY(discard_questions());
  return append("tree_restored", Value::object({{"path", tree.path},
                                                {"branch", tree.branch},
                                                {"base", tree.base},
                                                {"commit", tree.base_commit},
                                                {"git_dir", tree.git_dir},
                                                {"at", SB_TRY(git.commit_of("HEAD"))},
                                                {"lost", std::move(lost)}}));
}

}  // namespace sb::pipeline
