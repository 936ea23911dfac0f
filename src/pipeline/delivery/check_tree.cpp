// The checkout in which the project's checks run.
#include <fmt/format.h>

#include <algorithm>

#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/text.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::pipeline {
namespace {

// In its git folder: the hash of the commands that were run, then the names of what they made, each ended by NUL.
constexpr std::string_view kSetUp = "signalbox-setup";
constexpr std::size_t kPathsAtOnce = 200;  // as arguments of one command
constexpr std::size_t kNamesBytes = std::size_t{64} << 20;

// A check may have changed a file and set its times back; nothing but the bytes may decide whether it is written again.
const std::vector<std::string> kTrustNoTimes = {"core.trustctime=true", "core.checkStat=default",
                                                "core.ignoreStat=false", "core.untrackedCache=false"};

std::string name_of(const std::string& run) {
  return run + "-checks";
}

std::vector<std::string> names_in(std::string_view listed) {
  std::vector<std::string> names;
  while (!listed.empty()) {
    std::string_view name = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(name.size() + 1, listed.size()));
    if (name.ends_with('/')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::string hash_of(const std::vector<ProjectCheck>& commands) {
  std::string all;
  for (const ProjectCheck& command : commands) all += command.run + '\0';
  return sha256_hex(all);
}

// With everything that belongs to it, whatever a check made of it.
void remove_tree(const Seams& seams, const std::string& repository, const std::string& path) {
  Git git(seams, repository);
  (void)git.run({"worktree", "remove", "--force", "--force", path});
  if (seams.files.kind(path) == FileKind::kMissing) return;
  // Folders that may not be written, such as Go's module cache.
  (void)seams.process.run(
      {.argv = {"chmod", "-R", "u+rwX", "--", path}, .environment = sandbox::clean_environment(seams.environment)});
  (void)seams.files.remove_tree(path);
  (void)git.run({"worktree", "prune"});
}

}  // namespace

namespace steps {

Result<WorkTree> CheckTree::make(const Job& job) {
  const DeliverySpec& spec = job.spec;
  return make_work_tree(job.parts.seams, {.repository = spec.repository,
                                          .place = spec.check_place,
                                          .run = name_of(spec.run),
                                          .strategy = "read-only",
                                          .base = spec.tree.base,
                                          .remote = spec.remote,
                                          .commit = spec.tree.base_commit});
}

Result<CheckTree> CheckTree::open(const Job& job) {
  auto made = make(job);
  const bool is_sound = made && git_of_work_tree(job.parts.seams, *made).has_value();
  if (!is_sound) {  // it holds nothing that cannot be made again
    remove_tree(job.parts.seams, job.spec.repository, join_path(job.spec.check_place, name_of(job.spec.run)));
    made = make(job);
  }
  if (!made) return std::unexpected(std::move(made).error());
  CheckTree tree(job, std::move(*made));
  SB_TRY(tree.set_up());
  return tree;
}

Status CheckTree::check_out(const std::string& commit) {
  Git git = SB_TRY(git_of_work_tree(job_.parts.seams, tree_));
  SB_TRY(job_.parts.seams.files.remove(join_path(tree_.git_dir, "index.lock")));  // left by a killed command
  SB_TRY(git.run(GitCall{.words = {"clean", "-ffdxq"}, .settings = kTrustNoTimes}));
  SB_TRY(git.run(
      GitCall{.words = {"checkout", "--quiet", "--force", "--detach", commit, "--"}, .settings = kTrustNoTimes}));
  return renew_submodules();
}

// Their files may have been changed by a check, and git does not look into them. Only those of the start commit are
// fetched, from where they were then: a change must not choose what is contacted.
Status CheckTree::renew_submodules() {
  Files& files = job_.parts.seams.files;
  if (files.kind(join_path(tree_.path, ".gitmodules")) == FileKind::kMissing) return {};
  Git git = SB_TRY(git_of_work_tree(job_.parts.seams, tree_));
  const ProcessResult listed = SB_TRY(git.run(GitCall{.words = {"ls-files", "-s", "-z"}, .max_bytes = kNamesBytes}));
  for (const std::string& entry : names_in(listed.output)) {  // MODE HASH STAGE\tPATH
    if (!entry.starts_with("160000 ")) continue;
    SB_TRY(files.remove_tree(join_path(tree_.path, entry.substr(entry.find('\t') + 1))));
  }
  Git plain(job_.parts.seams, tree_.path);
  SB_TRY(plain.run(GitCall{.words = {"submodule", "--quiet", "update", "--recursive"}, .is_remote = true}));
  return {};
}

Result<std::vector<std::string>> CheckTree::untracked() {
  Git git = SB_TRY(git_of_work_tree(job_.parts.seams, tree_));
  const ProcessResult listed = SB_TRY(git.run(GitCall{
      .words = {"ls-files", "--others", "--directory", "--no-empty-directory", "-z"}, .max_bytes = kNamesBytes}));
  return names_in(listed.output);
}

Status CheckTree::copy_made_files(const std::string& from, const std::string& to,
                                  const std::vector<std::string>& names) {
  for (std::size_t at = 0; at < names.size(); at += kPathsAtOnce) {
    std::vector<std::string> words = {"cp", "-a", "--parents", "--"};
    const std::size_t end = std::min(names.size(), at + kPathsAtOnce);
    words.insert(words.end(), names.begin() + static_cast<std::ptrdiff_t>(at),
                 names.begin() + static_cast<std::ptrdiff_t>(end));
    words.push_back(to);
    const ProcessResult exit =
        SB_TRY(job_.parts.seams.process.run({.argv = words,
                                             .directory = from,
                                             .environment = sandbox::clean_environment(job_.parts.seams.environment),
                                             .timeout_ms = 600'000}));
    if (exit.code != 0)
      return fail(ErrorCode::kIo, fmt::format("cannot copy what `setup` made: {}", first_line(exit.errors)));
  }
  return {};
}

// At the start commit, before anything of an agent is there; what it makes is put back for every check.
Status CheckTree::set_up() {
  Files& files = job_.parts.seams.files;
  const std::string mark = join_path(tree_.git_dir, kSetUp);
  std::string wanted = hash_of(job_.spec.setup) + '\0';
  if (job_.spec.setup.empty() || files.read(mark, kNamesBytes).value_or("").starts_with(wanted)) return {};
  SB_TRY(files.remove_tree(made_by_setup()));
  SB_TRY(check_out(job_.spec.tree.base_commit));
  SB_TRY(run_setup());
  SB_TRY(files.make_directories(made_by_setup(), 0700));
  const std::vector<std::string> made = SB_TRY(untracked());
  SB_TRY(copy_made_files(tree_.path, made_by_setup(), made));
  for (const std::string& name : made) wanted += name + '\0';
  return files.write_atomic(mark, wanted);
}

Result<std::vector<std::string>> CheckTree::made_names() const {
  if (job_.spec.setup.empty()) return std::vector<std::string>();
  const std::string mark = SB_TRY(job_.parts.seams.files.read(join_path(tree_.git_dir, kSetUp), kNamesBytes));
  return names_in(std::string_view(mark).substr(std::min(mark.find('\0'), mark.size() - 1) + 1));
}

Status CheckTree::run_setup() {
  for (const ProjectCheck& command : job_.spec.setup) {
    const ProcessResult exit = SB_TRY(job_.parts.run_check(command, tree_.path));
    if (exit.was_cancelled) {
      return std::unexpected(Error{ErrorCode::kUnavailable, "stopped while `setup` ran", "", {}, true});
    }
    if (exit.code == 0 && !exit.timed_out) continue;
    const std::string output = visible_text(exit.output + exit.errors, job_.parts.secrets);
    return fail(ErrorCode::kInvalid,
                fmt::format("setup: {} {}:\n{}", one_line(command.name, 200),
                            exit.timed_out ? "did not finish" : fmt::format("failed with exit code {}", exit.code),
                            agent::elide_middle(output, 2'000)),
                "Fix the command in `setup`, then resume the run");
  }
  return {};
}

Status CheckTree::reset_to(const std::string& commit) {
  if (const Status done = check_out(commit); !done) {  // a check left something that git cannot remove
    remove_tree(job_.parts.seams, job_.spec.repository, tree_.path);
    tree_ = SB_TRY(make(job_));
    SB_TRY(set_up());
    SB_TRY(check_out(commit));
  }
  if (job_.spec.setup.empty()) return {};
  Files& files = job_.parts.seams.files;
  std::vector<std::string> names;
  for (std::string& name : SB_TRY(files.list(made_by_setup()))) {
    const FileStatus there = files.status(join_path(tree_.path, name));
    // What the change itself has under that name counts.
    const bool is_taken = there.is_link || (there.kind != FileKind::kMissing && there.kind != FileKind::kDirectory);
    if (!is_taken) names.push_back(std::move(name));
  }
  SB_TRY(copy_made_files(made_by_setup(), tree_.path, names));
  return restore_tracked(commit);
}

Status CheckTree::restore_tracked(const std::string& commit) {
  Git git = SB_TRY(git_of_work_tree(job_.parts.seams, tree_));
  SB_TRY(git.run(
      GitCall{.words = {"checkout", "--quiet", "--force", "--detach", commit, "--"}, .settings = kTrustNoTimes}));
  return {};
}

}  // namespace steps

void remove_check_tree(const Seams& seams, const std::string& repository, const std::string& place,
                       const std::string& run) {
  const std::string path = join_path(place, name_of(run));
  const std::string base_ref = "refs/signalbox/base/" + name_of(run);
  const auto begun = Git(seams, repository).find_commit(base_ref);
  const bool was_made = begun && begun->has_value();
  if (!was_made && seams.files.kind(path) == FileKind::kMissing) return;
  remove_tree(seams, repository, path);
  (void)seams.files.remove_tree(path + ".setup");
  (void)Git(seams, repository).run({"update-ref", "-d", base_ref});
}

}  // namespace sb::pipeline
