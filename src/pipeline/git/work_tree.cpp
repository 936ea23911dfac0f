#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "agent/tools/guarded_files.hpp"
#include "base/text.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {
namespace {

constexpr std::string_view kReady = "signalbox-ready";  // in the work tree's git folder, once complete

std::vector<std::string> lines_of(std::string_view text, char end = '\n') {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(end), text.size());
    if (length > 0) lines.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

// Of commits that people made. Elsewhere an agent's `.lfsconfig` could name the server to fetch from.
std::map<std::string, std::string> with_lfs() {
  return {{"GIT_LFS_SKIP_SMUDGE", "0"}};
}

std::string was_ref(const std::string& branch) {
  return "refs/signalbox/was/" + branch;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == name.npos;
}

// Links are not followed: their targets are not ours.
Status remove_folder(Files& files, const std::string& path) {
  const Status removed = files.remove_tree(path);
  if (!removed) return cannot_remove(path, removed.error());
  return {};
}

// git reads the folders of all work trees of a repository, and fails while another process adds or removes one: its
// folder is there already, or still, but not whole. That takes milliseconds, so the step is tried again.
Status unless_disturbed(Clock& clock, const std::function<Status()>& step) {
  constexpr int kTries = 50, kWaitMs = 100;
  for (int tries = 1;; ++tries) {
    Status done = step();
    if (done || tries == kTries) return done;
    const std::string& message = done.error().message;
    if (!message.contains("failed to read") || !message.contains("/worktrees/")) return done;
    clock.sleep_ms(kWaitMs);
  }
}

// Creates one work tree, step by step.
class Maker {
 public:
  Maker(const Seams& seams, const WorkTreeSpec& spec, std::string root, std::string place)
      : seams_(seams),
        spec_(spec),
        git_(seams, std::move(root)),
        path_(join_path(place, spec.run)),
        branch_(spec.strategy == "read-only" ? "" : spec.prefix + spec.run),
        base_ref_(base_ref_of(spec.run)) {}

  Result<WorkTree> make();

 private:
  Result<std::string> base_commit();
  Result<std::string> find_base();
  Result<WorkTree> in_place(const std::string& commit);
  Result<std::string> git_folder();  // of the work tree; empty: not registered
  Status remove_partial_work_tree();
  Status register_tree(const std::string& commit);
  Status add(const std::string& commit);
  Status add_submodules();
  Result<bool> claim_branch(const std::string& commit);  // whether it exists
  Status forget_deleted(const std::string& folder);
  // `folder`: the git folder of the work tree.
  Result<WorkTree> made(const std::string& path, const std::string& commit, const std::string& folder) const {
    std::string real = SB_TRY(seams_.files.canonical(folder));
    return WorkTree{path, branch_, spec_.base, commit, std::move(real)};
  }

  Seams seams_;
  const WorkTreeSpec& spec_;
  Git git_;
  std::string path_, branch_, base_ref_;
  bool has_begun_ = false;  // by an earlier call: its branch may have commits of the run
};

Result<std::string> Maker::find_base() {
  const std::string tracking = fmt::format("refs/remotes/{}/{}", spec_.remote, spec_.base);
  const auto remotes = lines_of(SB_TRY(git_.run({"remote"})));
  Status fetched;
  const std::string url = without_trailing_newlines(git_.run({"remote", "get-url", spec_.remote}).value_or(""));
  if (std::ranges::find(remotes, spec_.remote) != remotes.end()) {
    const auto exit = git_.run(GitCall{.words = {"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", spec_.remote,
                                                 fmt::format("+refs/heads/{}:{}", spec_.base, tracking)},
                                       .secret = secret_for(url, spec_.secret, spec_.secret_host),
                                       .is_remote = true});
    const bool is_in_the_way =
        !exit && (exit.error().code == ErrorCode::kIo || exit.error().code == ErrorCode::kInvalid);
    if (is_in_the_way) return std::unexpected(exit.error());
    if (!exit) fetched = std::unexpected(exit.error());
    // A branch that the remote no longer has must not be used as a base.
    if (exit || exit.error().code != ErrorCode::kNotFound) {
      if (auto commit = SB_TRY(git_.find_commit(tracking))) return std::move(*commit);
    }
  }
  if (auto commit = SB_TRY(git_.find_commit("refs/heads/" + spec_.base))) return std::move(*commit);
  return fail(ErrorCode::kNotFound,
              fmt::format("no branch {} to start from{}{}", shown(spec_.base), fetched ? "" : ": ",
                          fetched ? "" : fetched.error().message),
              "Set the target branch in signalbox.yaml: base: NAME");
}

Result<std::string> Maker::base_commit() {
  if (auto known = SB_TRY(git_.find_commit(base_ref_))) {
    has_begun_ = true;
    return std::move(*known);
  }
  const std::string commit = spec_.commit.empty() ? SB_TRY(find_base()) : spec_.commit;
  if (spec_.strategy == "none") SB_TRY(check_in_place(SB_TRY(git_.commit_of("HEAD")), spec_.base, commit));
  if (!branch_.empty() && SB_TRY(git_.find_commit("refs/heads/" + branch_))) {
    return fail(ErrorCode::kConflict,
                fmt::format("the branch {} already exists and does not belong to this run", shown(branch_)),
                "Rename or remove it, or choose another prefix in signalbox.yaml: branch: {prefix: …}");
  }
  // Git does not allow a branch below another one's name.
  for (std::size_t at = branch_.find('/'); at != std::string::npos; at = branch_.find('/', at + 1)) {
    const std::string above = branch_.substr(0, at);
    if (!SB_TRY(git_.find_commit("refs/heads/" + above))) continue;
    return fail(ErrorCode::kConflict,
                fmt::format("the branch {} exists, so git cannot create {}", shown(above), shown(branch_)),
                "Rename it, or choose another prefix in signalbox.yaml: branch: {prefix: …}");
  }
  SB_TRY(git_.unlock(base_ref_));
  SB_TRY(git_.run({"update-ref", base_ref_, commit, ""}));
  return commit;
}

Result<bool> Maker::claim_branch(const std::string& commit) {
  if (branch_.empty()) return false;
  const auto tip = SB_TRY(git_.find_commit("refs/heads/" + branch_));
  if (!tip) return false;
  if (*tip == commit || (has_begun_ && SB_TRY(git_.is_ancestor(commit, *tip)))) return true;
  return fail(ErrorCode::kConflict,
              fmt::format("the branch {} is at {}, which is not the start of this run", shown(branch_), *tip),
              "Rename or remove it, then resume");
}

Result<std::string> Maker::git_folder() {
  const std::string common =
      without_trailing_newlines(SB_TRY(git_.run({"rev-parse", "--path-format=absolute", "--git-common-dir"})));
  const std::string folders = join_path(common, "worktrees");
  if (seams_.files.kind(folders) != FileKind::kDirectory) return std::string();
  for (const std::string& name : SB_TRY(seams_.files.list(folders))) {
    if (!name.starts_with(spec_.run)) continue;
    const std::string folder = join_path(folders, name);
    const auto leads_to = seams_.files.read(join_path(folder, "gitdir"), 64 << 10);
    if (leads_to && without_trailing_newlines(*leads_to) == join_path(path_, ".git")) return folder;
    // Killed before it was written, or before anything was: git would never use this folder again.
    const auto lock = seams_.files.read(join_path(folder, "locked"), 4096);
    const auto inside = seams_.files.list(folder);
    const bool is_begun =
        lock ? without_trailing_newlines(*lock) == "initializing" || lock->empty() : inside && inside->empty();
    const bool is_written = leads_to && leads_to->ends_with('\n');
    if (!is_written && name == spec_.run && is_begun) SB_TRY(remove_folder(seams_.files, folder));
  }
  return std::string();
}

// Its folder is gone, so git's own entry for it is all that is left. A folder with something in it is never replaced.
Status Maker::forget_deleted(const std::string& folder) {
  const auto left = seams_.files.list(path_);
  if (left && !left->empty()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is no longer a work tree: its .git is missing", shown(path_)),
                "Restore it: git worktree repair. Or move it away; a new one is then made");
  }
  SB_TRY(remove_folder(seams_.files, path_));
  return remove_folder(seams_.files, folder);
}

// Only called while kReady is missing: this work tree was never handed out.
Status Maker::remove_partial_work_tree() {
  const std::string folder = SB_TRY(git_folder());
  if (folder.empty() && seams_.files.kind(path_) != FileKind::kMissing) {
    const auto entries = seams_.files.list(path_);
    if (!entries || !entries->empty()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} already exists and is not a work tree of Signalbox", shown(path_)), "Move it away");
    }
  }
  if (!folder.empty()) {
    SB_TRY(remove_folder(seams_.files, path_));
    SB_TRY(remove_folder(seams_.files, folder));
  }
  return {};
}

Status Maker::register_tree(const std::string& commit) {
  SB_TRY(remove_partial_work_tree());
  std::vector<std::string> words = {"worktree", "add", "--quiet"};
  if (branch_.empty()) {
    words.insert(words.end(), {"--detach", path_, commit});
  } else if (SB_TRY(claim_branch(commit))) {
    words.insert(words.end(), {path_, branch_});
  } else {
    words.insert(words.end(), {"--no-track", "-b", branch_, path_, commit});
  }
  SB_TRY(git_.run(GitCall{.words = std::move(words), .environment = with_lfs()}));
  return {};
}

Status Maker::add(const std::string& commit) {
  const bool has_branch = SB_TRY(claim_branch(commit));
  Status done = unless_disturbed(seams_.clock, [&] { return register_tree(commit); });
  if (done) done = add_submodules();
  if (done) {
    const std::string folder = SB_TRY(git_folder());
    done = seams_.files.write_atomic(join_path(folder, kReady), commit + "\n");
  }
  if (done) return {};
  // Unregister it; a failure of the cleanup must not hide the original error.
  const Status cleared = remove_partial_work_tree();
  if (cleared && !has_branch && !branch_.empty()) {
    (void)git_.run({"update-ref", "-d", "refs/heads/" + branch_, commit});
  }
  if (cleared && !has_begun_) (void)git_.run({"update-ref", "-d", base_ref_, commit});
  Error error = done.error();
  error.message = fmt::format("cannot create the work tree {}: {}", shown(path_), error.message);
  return std::unexpected(std::move(error));
}

Status Maker::add_submodules() {
  if (seams_.files.kind(join_path(path_, ".gitmodules")) == FileKind::kMissing) return {};
  Git tree(seams_, path_);
  const auto exit =
      tree.run(GitCall{.words = {"submodule", "--quiet", "update", "--init", "--recursive"}, .is_remote = true});
  if (exit) return {};
  Error error = exit.error();
  error.message = "cannot fetch its submodules: " + error.message;
  error.remedy = "Make sure that `git submodule update --init --recursive` works in a fresh clone";
  return std::unexpected(std::move(error));
}

Result<WorkTree> Maker::in_place(const std::string& commit) {
  const RepositoryFacts facts = SB_TRY(inspect_repository(seams_, git_.directory()));
  const std::string folder = without_trailing_newlines(SB_TRY(git_.run({"rev-parse", "--absolute-git-dir"})));
  if (facts.branch == branch_) return made(git_.directory(), commit, folder);
  if (facts.is_dirty) {
    (void)git_.run({"update-ref", "-d", base_ref_, commit});
    return fail(ErrorCode::kConflict, fmt::format("{} has uncommitted changes", shown(facts.root)),
                "Commit or stash them, or use a separate work tree: branch: {strategy: worktree}");
  }
  if (const std::string filter = SB_TRY(git_.needed_filter()); !filter.empty()) {
    (void)git_.run({"update-ref", "-d", base_ref_, commit});
    return fail(ErrorCode::kConflict,
                fmt::format("{} has files that the git filter {} rewrites, and runs do not run filters",
                            shown(facts.root), shown(filter)),
                "Use a separate work tree: branch: {strategy: worktree}");
  }
  // Where it returns when the run is over.
  const std::string was = was_ref(branch_);
  if (facts.branch.empty()) {
    SB_TRY(git_.run({"update-ref", "--no-deref", was, facts.head}));
  } else {
    SB_TRY(git_.run({"symbolic-ref", was, "refs/heads/" + facts.branch}));
  }
  if (SB_TRY(claim_branch(commit))) {
    SB_TRY(git_.run(GitCall{.words = {"checkout", "--quiet", branch_, "--"}, .environment = with_lfs()}));
  } else {
    SB_TRY(git_.run(GitCall{.words = {"checkout", "--quiet", "--no-track", "-b", branch_, commit, "--"},
                            .environment = with_lfs()}));
  }
  return made(git_.directory(), commit, folder);
}

Result<WorkTree> Maker::make() {
  if (!branch_.empty()) {
    const auto named = git_.run({"check-ref-format", "refs/heads/" + branch_});
    if (!named) return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid branch name", shown(branch_)));
  }
  const std::string commit = SB_TRY(base_commit());
  if (spec_.strategy == "none") return in_place(commit);
  const std::string folder = SB_TRY(git_folder());
  const bool is_whole = !folder.empty() && seams_.files.kind(join_path(folder, kReady)) == FileKind::kFile;
  if (is_whole && seams_.files.kind(join_path(path_, ".git")) == FileKind::kFile) {
    return made(path_, commit, folder);
  }
  if (is_whole) SB_TRY(forget_deleted(folder));
  if (!branch_.empty()) SB_TRY(git_.unlock("refs/heads/" + branch_));
  SB_TRY(add(commit));
  return made(path_, commit, SB_TRY(git_folder()));
}

Result<std::string> place_for(const Seams& seams, const WorkTreeSpec& spec, const std::string& root) {
  SB_TRY(seams.files.make_directories(spec.place, 0700));
  std::string place = SB_TRY(seams.files.canonical(spec.place));
  if ((root + "/").starts_with(place + "/")) {
    return fail(ErrorCode::kInvalid, fmt::format("{} contains the repository itself", shown(place)),
                "Keep work trees in a separate folder");
  }
  return place;
}

// What is in the work tree but not in `delivered`.
Result<std::string> undelivered(Git& git, const WorkTree& tree, const std::string& delivered) {
  const std::string against = delivered.empty() ? tree.base_commit : delivered;
  const std::string head = SB_TRY(git.commit_of("HEAD"));
  if (!SB_TRY(git.is_ancestor(head, against))) return fmt::format("the commit {}", head);
  for (const Change& change : SB_TRY(git.changes(against))) {
    const bool is_ours = change.path.starts_with(".signalbox/") || change.path.starts_with(".workrail/");
    const bool is_note = is_ours && change.path.ends_with(".md");
    if (!is_note) return "changes in " + shown(change.path);
  }
  return std::string();
}

Status drop_branch(Git& git, const WorkTree& tree, const std::string& delivered) {
  const auto tip = SB_TRY(git.find_commit("refs/heads/" + tree.branch));
  const std::string against = delivered.empty() ? tree.base_commit : delivered;
  if (tip && SB_TRY(git.is_ancestor(*tip, against))) {
    SB_TRY(git.run({"update-ref", "-d", "refs/heads/" + tree.branch, *tip}));
  }
  return {};
}

// Worked in place: the user's own folder returns to its earlier branch, unless it contains anything that is not
// delivered.
Status go_back(Git& git, const WorkTree& tree, const std::string& delivered) {
  const std::string was = was_ref(tree.branch);
  const auto stays = [&](std::string_view why) {
    return fail(ErrorCode::kConflict, fmt::format("it stays on the branch {}: {}", shown(tree.branch), why),
                "Switch back yourself: git checkout BRANCH");
  };
  const ProcessResult on = SB_TRY(git.run({.words = {"symbolic-ref", "--quiet", "HEAD"}, .accepted_codes = {0, 1}}));
  if (without_trailing_newlines(on.output) == "refs/heads/" + tree.branch) {
    const std::string kept = SB_TRY(undelivered(git, tree, delivered));
    if (!kept.empty()) return stays("it contains " + kept + ", which is not delivered");
    const ProcessResult named =
        SB_TRY(git.run({.words = {"symbolic-ref", "--quiet", was}, .accepted_codes = {0, 1, 128}}));
    const std::string branch = without_trailing_newlines(named.output);
    const auto commit = SB_TRY(git.find_commit(was));
    if (!commit) return stays("its earlier position is unknown");
    std::vector<std::string> words = {"checkout", "--quiet", "--detach", *commit, "--"};
    if (branch.starts_with("refs/heads/")) words = {"checkout", "--quiet", branch.substr(11), "--"};
    SB_TRY(git.run(GitCall{.words = std::move(words), .environment = with_lfs()}));
  }
  SB_TRY(drop_branch(git, tree, delivered));
  SB_TRY(git.run({.words = {"symbolic-ref", "--delete", "--quiet", was}, .accepted_codes = {0, 1, 128}}));
  SB_TRY(git.run({"update-ref", "--no-deref", "-d", was}));
  return {};
}

}  // namespace

std::string base_ref_of(std::string_view run) {
  return fmt::format("refs/signalbox/base/{}", run);
}

Result<RepositoryFacts> inspect_repository(const Seams& seams, const std::string& directory) {
  if (seams.files.kind(directory) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a folder", shown(directory)));
  }
  Git git(seams, directory);
  RepositoryFacts facts;
  facts.is_bare = without_trailing_newlines(SB_TRY(git.run({"rev-parse", "--is-bare-repository"}))) == "true";
  facts.root = without_trailing_newlines(SB_TRY(
      git.run({"rev-parse", "--path-format=absolute", facts.is_bare ? "--absolute-git-dir" : "--show-toplevel"})));
  if (facts.root.empty()) facts.root = SB_TRY(seams.files.canonical(directory));
  const ProcessResult branch =
      SB_TRY(git.run({.words = {"symbolic-ref", "--quiet", "--short", "HEAD"}, .accepted_codes = {0, 1}}));
  facts.branch = without_trailing_newlines(branch.output);
  facts.head = SB_TRY(git.find_commit("HEAD")).value_or("");
  facts.remotes = lines_of(SB_TRY(git.run({"remote"})));
  if (facts.is_bare) return facts;
  facts.is_dirty = !SB_TRY(git.run({.words = {"status", "--porcelain", "-z", "--ignore-submodules=dirty"},
                                    .environment = {{"GIT_OPTIONAL_LOCKS", "0"}}}))
                        .output.empty();
  facts.has_submodules = seams.files.kind(join_path(facts.root, ".gitmodules")) == FileKind::kFile;
  return facts;
}

Status check_in_place(const std::string& head, const std::string& base, const std::string& commit) {
  if (head == commit) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("the checkout is at {}, but the target {} is at {}: strategy none works in the checkout",
                          head.substr(0, 12), shown(base), commit.substr(0, 12)),
              fmt::format("Update {0} and push your own commits (git checkout {0} && git pull), or use a "
                          "separate work tree: branch: {{strategy: worktree}}",
                          shown(base)));
}

Result<WorkTree> make_work_tree(const Seams& seams, const WorkTreeSpec& spec) {
  if (!is_plain_name(spec.run)) return fail(ErrorCode::kInvalid, "the run's id is not a valid folder name");
  if (spec.strategy != "worktree" && spec.strategy != "read-only" && spec.strategy != "none") {
    return fail(ErrorCode::kInvalid, fmt::format("unknown branch strategy {}", shown(spec.strategy)),
                "Use one of none, worktree, read-only");
  }
  const RepositoryFacts facts = SB_TRY(inspect_repository(seams, spec.repository));
  if (facts.is_bare) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is a bare repository", shown(facts.root)),
                "Use a clone with a checkout");
  }
  if (facts.head.empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has no commit yet", shown(facts.root)), "Create a first commit");
  }
  const std::string place = spec.strategy == "none" ? "" : SB_TRY(place_for(seams, spec, facts.root));
  return Maker(seams, spec, facts.root, place).make();
}

// Delivery reports one that cannot be read.
void remove_interrupted_writes(const Seams& seams, const WorkTree& tree) {
  auto git = git_of_work_tree(seams, tree);
  if (!git) return;
  const auto there = git->run(GitCall{.words = {"ls-files", "--others", "-z", "--", ":(glob)**/.signalbox-write.*"},
                                      .environment = {{"GIT_LITERAL_PATHSPECS", "0"}}});
  if (!there) return;
  for (const std::string& name : lines_of(there->output, '\0')) {
    if (agent::is_interrupted_write(base_name(name))) (void)seams.files.remove(join_path(tree.path, name));
  }
}

Status remove_work_tree(const Seams& seams, const std::string& repository, const WorkTree& tree,
                        const std::string& delivered) {
  Git git(seams, repository);
  const std::string run = base_name(tree.path);
  const auto root = seams.files.canonical(repository);
  if (root && *root == tree.path) return go_back(git, tree, delivered);
  if (seams.files.kind(tree.path) != FileKind::kMissing) {
    Git inside = SB_TRY(git_of_work_tree(seams, tree));
    const std::string kept = SB_TRY(undelivered(inside, tree, delivered));
    if (!kept.empty()) {
      return fail(ErrorCode::kConflict, fmt::format("{} contains undelivered work: {}", shown(tree.path), kept),
                  "It was kept; save what you need, then remove it: git worktree remove --force");
    }
    SB_TRY(unless_disturbed(seams.clock, [&]() -> Status {
      SB_TRY(git.run({"worktree", "remove", "--force", tree.path}));
      return {};
    }));
  }
  if (!tree.branch.empty()) SB_TRY(drop_branch(git, tree, delivered));
  for (const char* name : {"base", "tree", "snapshot"}) {
    SB_TRY(git.run({"update-ref", "-d", fmt::format("refs/signalbox/{}/{}", name, run)}));
  }
  return {};
}

}  // namespace sb::pipeline
