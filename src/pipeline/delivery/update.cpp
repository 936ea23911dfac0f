// Updates the run's branch and its work tree to a base that has advanced.
//
// The merge is made in the object store and its files are written to the work tree one by one, so that a kill at any
// point is repaired by repeating it. Changes that exist only in the work tree are not overwritten.
#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "pipeline/delivery/steps.hpp"

namespace sb::pipeline::steps {
namespace {

constexpr std::string_view kUpdating = "signalbox-updating";  // in the work tree's git folder: the target commit
constexpr std::size_t kListedConflicts = 20;

std::set<std::string, std::less<>> paths_of(const std::vector<Change>& changes) {
  std::set<std::string, std::less<>> paths;
  for (const Change& change : changes) {
    paths.insert(change.path);
    if (!change.old_path.empty()) paths.insert(change.old_path);
  }
  return paths;
}

std::string listed(const std::vector<std::string>& files) {
  std::string text;
  for (std::size_t i = 0; i < files.size() && i < kListedConflicts; ++i) text += (i > 0 ? ", " : "") + shown(files[i]);
  if (files.size() > kListedConflicts) text += fmt::format(" and {} more", files.size() - kListedConflicts);
  return text;
}

struct Merged {
  std::string tree;
  std::vector<std::string> conflicts;
};

// Merge programs of the user's configuration are not run on what an agent wrote: a file that needs one is a conflict.
Result<std::vector<std::string>> without_drivers(Git& git) {
  const ProcessResult named = SB_TRY(git.run(
      {.words = {"config", "-z", "--name-only", "--get-regexp", "^merge\\..*\\.driver$"}, .accepted_codes = {0, 1}}));
  std::vector<std::string> words = {"-c", "merge.directoryRenames=false"};
  for (std::size_t at = 0; at < named.output.size();) {
    const std::size_t end = std::min(named.output.find('\0', at), named.output.size());
    words.insert(words.end(), {"-c", named.output.substr(at, end - at) + "=false"});
    at = end + 1;
  }
  return words;
}

Result<Merged> merge_trees(Git& git, const std::string& base, const std::string& commit) {
  GitCall call{.words = SB_TRY(without_drivers(git)), .accepted_codes = {0, 1, 129}};
  call.words.insert(call.words.end(),
                    {"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, commit});
  const ProcessResult exit = SB_TRY(git.run(call));
  if (exit.code == 129) {
    return fail(ErrorCode::kUnsupported, "this git cannot merge without a checkout", "Install git 2.38 or newer");
  }
  Merged merged;
  for (std::size_t at = 0; at < exit.output.size();) {
    const std::size_t end = std::min(exit.output.find('\0', at), exit.output.size());
    const std::string piece = exit.output.substr(at, end - at);
    at = end + 1;
    if (merged.tree.empty()) {
      merged.tree = piece;
    } else if (!piece.empty()) {
      merged.conflicts.push_back(piece);
    }
  }
  if (merged.tree.empty()) return fail(ErrorCode::kInternal, "git merge-tree returned no tree");
  if (exit.code == 1 && merged.conflicts.empty()) merged.conflicts.emplace_back("(not named by git)");
  return merged;
}

Result<std::string> base_there(const Job& job, Git& repository) {
  const std::string& remote = job.spec.remote;
  const std::string ref = "refs/heads/" + job.spec.tree.base;
  const GitSecret secret = SB_TRY(fetch_secret(job, repository));
  std::string base = SB_TRY(remote_hash(repository, remote, ref, secret));
  if (base.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("the remote no longer has the branch {}", shown(job.spec.tree.base)));
  }
  if (SB_TRY(repository.has_object(base))) return base;
  // No ref is written: other runs may fetch at the same time.
  SB_TRY(repository.run(
      GitCall{.words = {"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", remote, ref},
              .secret = secret,
              .is_remote = true}));
  if (SB_TRY(repository.has_object(base))) return base;
  return std::unexpected(Error{ErrorCode::kUnavailable, fmt::format("{} changed during the fetch", ref), {}, {}, true});
}

class Updating {
 public:
  Updating(const Job& job, Git git, std::string commit)
      : job_(job), git_(std::move(git)), commit_(std::move(commit)), ref_("refs/heads/" + job.spec.tree.branch) {}

  Result<DeliveryStepResult> go();

 private:
  DeliveryStepResult refused(std::string summary, std::string cause,
                             const std::vector<std::string>& conflicts = {}) const;
  Value asked_about() const;
  Result<std::string> merge_commit(const std::string& tree) {
    return make_commit(job_, git_, {base_, commit_}, tree,
                       fmt::format("Merge {} into {}", job_.spec.tree.branch, job_.spec.tree.base));
  }
  Result<bool> was_made_before(const std::string& tip);
  Result<bool> was_started();
  Result<std::string> mark();
  Result<DeliveryStepResult> adopt_manual_merge(const std::string& tip);
  Result<std::vector<std::string>> submodules_of(const std::string& tree);
  Result<std::vector<std::string>> update_work_tree(const std::string& to);
  Status follow(const std::string& to);
  Result<DeliveryStepResult> done(const std::string& hash, bool already_existed);

  const Job& job_;
  Git git_;
  std::string commit_, ref_;
  std::string base_ = {};
};

DeliveryStepResult Updating::refused(std::string summary, std::string cause,
                                     const std::vector<std::string>& conflicts) const {
  DeliveryStepResult done =
      blocked({"critical", std::move(summary), conflicts.empty() ? "" : shown(conflicts.front()), cause},
              Value::object({{"commit", commit_}, {"base", base_}}));
  Value files = conflicts.empty() ? asked_about() : Value::array();
  for (const std::string& file : conflicts) files.push_back(shown(file));
  if (files.size() > 0) done.facts.set("conflicts", std::move(files));
  return done;
}

// The files of a conflict that a person was asked about.
Value Updating::asked_about() const {
  const Value& files = job_.before["update"]["conflicts"];
  return files.is_array() ? files : Value::array();
}

// Made by us, and killed before it was logged: making it again gives the same commit.
Result<bool> Updating::was_made_before(const std::string& tip) {
  const std::string line = without_trailing_newlines(SB_TRY(git_.run({"rev-list", "--parents", "--max-count=1", tip})));
  const std::size_t first = line.find(' '), second = line.rfind(' ');
  if (first == std::string::npos || first == second || line.substr(second + 1) != commit_) return false;
  base_ = line.substr(first + 1, second - first - 1);
  if (base_.find(' ') != std::string::npos) return false;
  const Merged merged = SB_TRY(merge_trees(git_, base_, commit_));
  return merged.conflicts.empty() && SB_TRY(merge_commit(merged.tree)) == tip;
}

// Killed while writing the work tree: that is finished first, whatever the base is by now.
Result<bool> Updating::was_started() {
  const auto begun = job_.parts.seams.files.read(SB_TRY(mark()), 4096);
  if (!begun || !SB_TRY(git_.find_commit(*begun))) return false;
  return was_made_before(*begun);
}

Result<std::string> Updating::mark() {
  return join_path(without_trailing_newlines(SB_TRY(git_.run({"rev-parse", "--absolute-git-dir"}))), kUpdating);
}

Result<DeliveryStepResult> Updating::done(const std::string& hash, bool already_existed) {
  const std::string snapshot = SB_TRY(git_.snapshot(hash));
  return DeliveryStepResult{
      .facts = Value::object({{"commit", hash}, {"parent", commit_}, {"base", base_}, {"snapshot", snapshot}}),
      .already_existed = already_existed};
}

// Asked about a conflict, a person merged in the work tree and chose to retry. Newer commits of the base come next.
Result<DeliveryStepResult> Updating::adopt_manual_merge(const std::string& tip) {
  if (!SB_TRY(git_.is_ancestor(commit_, tip))) {
    return refused(fmt::format("the run's branch is at {}, which does not have {}", tip, commit_), "wrong_head");
  }
  std::vector<std::string> left;
  for (const Change& change : SB_TRY(git_.changes(tip))) {
    if (!is_internal(change, job_.spec)) left.push_back(change.path);
  }
  if (!left.empty()) {
    return refused("the work tree has uncommitted changes: " + listed(left), "work_tree_changed");
  }
  base_ = without_trailing_newlines(SB_TRY(git_.run({"merge-base", base_, tip})));
  return done(tip, false);
}

// Those that the merge changes. Git is never run inside nested repositories of a work tree, so a person must update
// them.
Result<std::vector<std::string>> Updating::submodules_of(const std::string& tree) {
  std::vector<std::string> paths;
  for (const Change& change : SB_TRY(git_.changes_between(commit_, tree))) {
    if (change.is_repository || change.was_repository) paths.push_back(change.path);
  }
  return paths;
}

// What blocks the update there; nothing: it has what the merge changes.
Result<std::vector<std::string>> Updating::update_work_tree(const std::string& to) {
  const std::string mark_path = SB_TRY(mark());
  Files& files = job_.parts.seams.files;
  const std::vector<Change> changes = SB_TRY(git_.changes_between(commit_, to));
  const auto of_merge = paths_of(changes);
  const std::string now = SB_TRY(git_.snapshot(commit_));
  std::vector<ChangedFile> wanted;
  for (ChangedFile& file : changed_files(SB_TRY(git_.changes_between(to, now)))) {
    if (of_merge.contains(file.path)) wanted.push_back(std::move(file));
  }
  // Begun before: what matches neither version is half written.
  const auto begun = files.read(mark_path, 4096);
  if (!begun || *begun != to) {
    const auto of_tree = paths_of(SB_TRY(git_.changes_between(commit_, now)));
    std::vector<std::string> in_the_way;
    for (const ChangedFile& file : wanted) {
      bool is_free = !of_tree.contains(file.path);
      for (std::size_t at = file.path.find('/'); at != std::string::npos; at = file.path.find('/', at + 1)) {
        is_free = is_free && !of_tree.contains(std::string_view(file.path).substr(0, at));
      }
      const auto below = of_tree.lower_bound(file.path + "/");
      is_free = is_free && (below == of_tree.end() || !below->starts_with(file.path + "/"));
      if (!is_free) in_the_way.push_back(file.path);
    }
    if (!in_the_way.empty()) return in_the_way;
    SB_TRY(files.write_atomic(mark_path, to));
  }
  SB_TRY(restore_files(files, git_, to, wanted));
  SB_TRY(follow(to));
  SB_TRY(files.remove(mark_path));
  return std::vector<std::string>();
}

// The branch, and the index that agents and people see.
Status Updating::follow(const std::string& to) {
  const std::string tip = SB_TRY(git_.commit_of(ref_));
  if (tip != to) {
    SB_TRY(git_.unlock(ref_));
    SB_TRY(git_.run({"update-ref", "-m", "signalbox: update", ref_, to, tip}));
  }
  (void)git_.run({"reset", "--quiet", "--mixed"});
  return {};
}

Result<DeliveryStepResult> Updating::go() {
  const std::string tip = SB_TRY(git_.commit_of(ref_));
  const bool already_existed = tip != commit_ && SB_TRY(was_made_before(tip));
  if (!already_existed && !(tip == commit_ && SB_TRY(was_started()))) {
    Git repository = SB_TRY(repository_of(job_.parts.seams, git_));
    base_ = SB_TRY(base_there(job_, repository));
  }
  const bool was_asked = asked_about().size() > 0;
  if (tip != commit_ && !already_existed) {
    if (was_asked) return adopt_manual_merge(tip);
    return refused(fmt::format("the run's branch is at {}, not at {}", tip, commit_), "wrong_head");
  }
  if (SB_TRY(git_.is_ancestor(base_, commit_))) return done(commit_, true);
  std::string known = job_.fact(DeliveryStep::kUpdate, "base");
  if (known.empty() || was_asked) known = job_.spec.tree.base_commit;
  const std::string name = shown(job_.spec.tree.base);
  if (!SB_TRY(git_.is_ancestor(known, base_))) {
    return refused(fmt::format("{} was rewritten: it no longer contains {}", name, known), "base_rewritten");
  }
  const Merged merged = SB_TRY(merge_trees(git_, base_, commit_));
  if (!merged.conflicts.empty()) {
    return refused(fmt::format("{} has advanced and conflicts with this run in {}. Merge {} in {} and try again, or "
                               "leave the request open",
                               name, listed(merged.conflicts), base_, job_.spec.tree.path),
                   "conflict", merged.conflicts);
  }
  if (const auto modules = SB_TRY(submodules_of(merged.tree)); !modules.empty()) {
    return refused(fmt::format("{} has advanced and changes submodules: {}. Merge {} in {} and try again, or leave the "
                               "request open",
                               name, listed(modules), base_, job_.spec.tree.path),
                   "conflict", modules);
  }
  const std::string hash = SB_TRY(merge_commit(merged.tree));
  const auto in_the_way = SB_TRY(update_work_tree(hash));
  if (!in_the_way.empty()) {
    return refused("the work tree has uncommitted changes in files that the merge changes: " + listed(in_the_way),
                   "work_tree_changed");
  }
  return done(hash, already_existed);
}

}  // namespace

std::vector<ChangedFile> changed_files(const std::vector<Change>& since_tree) {
  std::vector<ChangedFile> files;
  for (const Change& change : since_tree) {
    if (!change.old_path.empty()) files.push_back({change.old_path, true});
    files.push_back({change.path, change.status != 'A' && change.status != 'R'});
  }
  return files;
}

Status restore_files(Files& files, Git& git, const std::string& tree, const std::vector<ChangedFile>& wanted) {
  std::string restored;
  for (const ChangedFile& file : wanted) {
    if (file.is_in_tree) {
      restored += file.path + '\0';
      continue;
    }
    const std::string path = join_path(git.directory(), file.path);
    const FileStatus there = files.status(path);
    const bool is_folder = there.kind == FileKind::kDirectory && !there.is_link;
    const Status removed = is_folder ? files.remove_directory(path) : files.remove(path);
    if (!removed && removed.error().code != ErrorCode::kNotFound) return cannot_remove(file.path, removed.error());
    // Remove folders that are empty now, up to the first that is not.
    for (std::string folder = parent_path(path); folder != git.directory(); folder = parent_path(folder)) {
      if (!files.remove_directory(folder)) break;
    }
  }
  if (restored.empty()) return {};
  // With our own index, whose lock a killed command may leave behind safely.
  const std::string folder = without_trailing_newlines(SB_TRY(git.run({"rev-parse", "--absolute-git-dir"})));
  SB_TRY(git.run(GitCall{.words = {"restore", "--quiet", "--source=" + tree, "--worktree", "--pathspec-from-file=-",
                                   "--pathspec-file-nul"},
                         .input = std::move(restored),
                         .environment = {{"GIT_INDEX_FILE", join_path(folder, "signalbox-index")}}}));
  return {};
}

Result<DeliveryStepResult> update(const Job& job) {
  std::string commit = SB_TRY(commit_fact(job));
  return Updating(job, SB_TRY(job.git()), std::move(commit)).go();
}

}  // namespace sb::pipeline::steps
