// Work trees on real repositories: created once however often requested, repaired after a kill, never lost with work.
#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Runs commands after passing them to a callback.
class Watched final : public Process {
 public:
  using Look = std::function<void(Command&)>;
  Watched(Process& inner, Look look) : inner_(inner), look_(std::move(look)) {}
  Result<ProcessResult> run(const Command& command) override {
    Command changed = command;
    look_(changed);
    return inner_.run(changed);
  }

 private:
  Process& inner_;
  Look look_;
};

bool has_word(const Command& command, std::string_view word) {
  return std::ranges::find(command.argv, word) != command.argv.end();
}

struct Trees : testing::Test {
  GitFixture place;

  Seams seams_with(Process& process) {
    return {place.files, place.clock, place.random, process, place.environment, place.streams};
  }
  Error refused(const WorkTreeSpec& spec) {
    const auto made = make_work_tree(place.seams, spec);
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  }
  // No trace of a run: no folder, no branch, no ref.
  void expect_no_trace(const std::string& run = "run1") {
    EXPECT_FALSE(std::filesystem::exists(place.directory + "/trees/" + run));
    EXPECT_EQ(place.sh("git -C repo for-each-ref --format='%(refname)' refs/signalbox refs/heads/signalbox"), "");
    EXPECT_EQ(place.sh("git -C repo worktree list | wc -l"), "1");
    EXPECT_THAT(place.sh("ls repo/.git/worktrees 2>/dev/null || true"), IsEmpty());
  }
};

TEST_F(Trees, AreTheSameWhenRequestedAgain) {
  const WorkTree first = place.tree();
  EXPECT_EQ(first.branch, "signalbox/run1");
  EXPECT_EQ(first.base_commit, place.in_remote("main"));
  // Meanwhile the base advances and the agent has worked.
  place.sh("git clone -q remote.git other && cd other && echo x > x && git add x && " + GitFixture::commit("x") +
           " && git push -q");
  place.put("trees/run1/src/price.txt", "120\n");
  const WorkTree second = place.tree();
  EXPECT_EQ(second.path, first.path);
  EXPECT_EQ(second.base_commit, first.base_commit);
  EXPECT_EQ(place.read("trees/run1/src/price.txt"), "120\n");
  // A new run starts from the current base, even if it was not fetched.
  EXPECT_EQ(place.tree("run2").base_commit, place.in_remote("main"));
}

// What `git worktree add` leaves when it is killed, from its first trace to its last.
TEST_F(Trees, HalfCreatedOnesAreCompleted) {
  const std::string ready = place.directory + "/repo/.git/worktrees/run1/signalbox-ready";
  const std::string base = "git -C repo update-ref refs/signalbox/base/run1 main";
  const std::string registered =
      base + " && mkdir -p repo/.git/worktrees/run1 && printf initializing > repo/.git/worktrees/run1/locked";
  const std::string states[] = {
      base,
      base + " && git -C repo branch signalbox/run1 main",
      registered,
      registered +
          " && git -C repo branch signalbox/run1 main && mkdir -p trees/run1/src && echo \"$PWD/trees/run1/.git\" > "
          "repo/.git/worktrees/run1/gitdir && echo half > trees/run1/src/price.txt",
      registered +
          " && rm -r repo/.git/worktrees && git -C repo worktree add -q --lock -b signalbox/run1 ../trees/run1 main "
          "&& rm trees/run1/src/price.txt",
  };
  for (const std::string& state : states) {
    SCOPED_TRACE(state);
    place.sh(state);
    const WorkTree tree = place.tree();
    EXPECT_TRUE(std::filesystem::exists(ready));
    EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), "");
    EXPECT_EQ(place.sh("git -C trees/run1 symbolic-ref HEAD"), "refs/heads/signalbox/run1");
    EXPECT_EQ(place.read("trees/run1/src/price.txt"), "100\n");
    EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, ""));
    expect_no_trace();
  }
}

// A real kill, after longer and longer delays.
TEST_F(Trees, SurviveAKillDuringCreation) {
  place.sh("cd repo && for i in $(seq 300); do head -c 20000 /dev/urandom > f$i; done && git add -A && " +
           GitFixture::commit("many") + " && git push -q origin main");
  const std::string whole = place.in_remote("main^{tree}");
  for (int ms = 2; ms < 60; ms = ms * 3 / 2 + 1) {
    Watched killing(place.process, [&](Command& command) {
      if (has_word(command, "worktree") && has_word(command, "add")) command.timeout_ms = ms;
    });
    (void)make_work_tree(seams_with(killing), place.tree_spec());
    const WorkTree tree = place.tree();
    EXPECT_EQ(Git(place.seams, tree.path).snapshot("HEAD"), whole) << ms;
    EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, ""));
    expect_no_trace();
  }
}

// git reads the folder of another work tree that is not written yet, and gives up; it may have made the branch.
TEST_F(Trees, AreMadeWhileAnotherProcessMakesOne) {
  int tries = 0;
  Watched disturbed(place.process, [&](Command& command) {
    if (!has_word(command, "worktree") || !has_word(command, "add") || ++tries > 2) return;
    command.argv = {"sh", "-c",
                    "git -C " + place.repo() +
                        " branch signalbox/run1 main; echo 'fatal: failed to read .git/worktrees/x/commondir: Success' "
                        ">&2; exit 128"};
  });
  const auto made = make_work_tree(seams_with(disturbed), place.tree_spec());
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(tries, 3);
  EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), *made, ""));
  expect_no_trace();
}

TEST_F(Trees, LeaveAForeignBranchAlone) {
  place.sh("git -C repo branch signalbox/run1 main");
  const Error error = refused(place.tree_spec());
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(error.message, HasSubstr("signalbox/run1"));
  EXPECT_EQ(place.sh("git -C repo for-each-ref --format='%(refname)' refs/signalbox"), "");
  EXPECT_EQ(place.sh("git -C repo branch --list 'signalbox/*'"), "  signalbox/run1");
}

TEST_F(Trees, RejectABranchNameThatIsAFolderOfBranches) {
  place.sh("git -C repo branch signalbox main");
  const Error error = refused(place.tree_spec());
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(error.remedy, HasSubstr("prefix"));
}

TEST_F(Trees, LeaveAForeignFolderAlone) {
  place.put("trees/run1/mine.txt", "keep\n");
  EXPECT_EQ(refused(place.tree_spec()).code, ErrorCode::kConflict);
  EXPECT_EQ(place.read("trees/run1/mine.txt"), "keep\n");
}

TEST_F(Trees, AFullDiskLeavesNothingRegistered) {
  place.sh("cd repo && head -c 100000 /dev/urandom > big && git add -A && " + GitFixture::commit("big") +
           " && git push -q origin main");
  Watched full(place.process, [](Command& command) {
    if (!has_word(command, "worktree")) return;
    const std::vector<std::string> limit = {"sh", "-c", "ulimit -f 8; exec \"$@\"", "sh"};
    command.argv.insert(command.argv.begin(), limit.begin(), limit.end());
  });
  const auto made = make_work_tree(seams_with(full), place.tree_spec());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kIo) << describe(made.error());
  EXPECT_THAT(describe(made.error()), AllOf(HasSubstr("cannot create the work tree"), HasSubstr("Free disk space")));
  expect_no_trace();
  place.tree();
}

TEST_F(Trees, HandleASmallFileSystemThatFills) {
  place.sh("cd repo && head -c 400000 /dev/urandom > big && git add -A && " + GitFixture::commit("big") +
           " && git push -q origin main");
  place.sh("mkdir trees && mount -t tmpfs -o size=128k none trees 2>/dev/null; true");
  if (place.sh("stat -f -c %T trees") != "tmpfs") GTEST_SKIP() << "no file system can be mounted here";
  const auto made = make_work_tree(place.seams, place.tree_spec());
  const std::string left = place.sh("ls -A trees");
  place.sh("umount trees");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kIo) << describe(made.error());
  EXPECT_EQ(left, "");
  expect_no_trace();
}

TEST_F(Trees, StartFromTheBestAvailableBase) {
  // The remote is unreachable: the last fetched state.
  place.sh(
      "cd repo && git remote set-url origin http://127.0.0.1:1/x.git && echo local >> README.md && git add -A && " +
      GitFixture::commit("local"));
  const WorkTree tracking = place.tree("run1");
  EXPECT_EQ(tracking.base_commit, place.sh("git -C repo rev-parse origin/main"));
  // There is no remote: the branch itself.
  place.sh("git -C repo remote remove origin");
  EXPECT_EQ(place.tree("run2").base_commit, place.sh("git -C repo rev-parse main"));
  WorkTreeSpec spec = place.tree_spec("run3");
  spec.base = "trunk";
  const Error error = refused(spec);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(describe(error), AllOf(HasSubstr("trunk"), HasSubstr("signalbox.yaml")));
}

TEST_F(Trees, RejectABranchTheRemoteDoesNotHave) {
  WorkTreeSpec spec = place.tree_spec();
  spec.base = "trunk";
  EXPECT_EQ(refused(spec).code, ErrorCode::kNotFound);
  expect_no_trace();
}

TEST_F(Trees, DirtyAndDetachedRepositoriesAreReportedAndLeftUnchanged) {
  place.sh("cd repo && git checkout -q --detach && echo dirty >> README.md && touch new");
  const auto facts = inspect_repository(place.seams, place.repo() + "/src");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->root, place.repo());
  EXPECT_TRUE(facts->is_dirty);
  EXPECT_EQ(facts->branch, "");
  EXPECT_THAT(facts->remotes, testing::ElementsAre("origin"));
  place.tree();
  EXPECT_EQ(place.sh("git -C repo status --porcelain"), " M README.md\n?? new");
  EXPECT_EQ(place.read("trees/run1/README.md"), "# Shop\n");
}

TEST_F(Trees, RejectFoldersThatAreNotRepositories) {
  place.sh("mkdir plain && git init -q empty");
  const auto code = [&](const std::string& directory) {
    WorkTreeSpec spec = place.tree_spec();
    spec.repository = place.directory + directory;
    return refused(spec).code;
  };
  EXPECT_EQ(code("/plain"), ErrorCode::kNotFound);
  EXPECT_EQ(code("/missing"), ErrorCode::kNotFound);
  EXPECT_EQ(code("/empty"), ErrorCode::kInvalid);
  EXPECT_EQ(code("/remote.git"), ErrorCode::kInvalid);
}

TEST_F(Trees, RejectNamesThatPointElsewhere) {
  for (const char* run : {"", "..", "../x", "a/b", "-x", ".git", "a b", "a\nb"}) {
    EXPECT_EQ(refused(place.tree_spec(run)).code, ErrorCode::kInvalid) << run;
  }
  WorkTreeSpec spec = place.tree_spec();
  spec.prefix = "..lock~^";
  EXPECT_EQ(refused(spec).code, ErrorCode::kInvalid);
  spec = place.tree_spec();
  spec.place = place.directory;
  EXPECT_EQ(refused(spec).code, ErrorCode::kInvalid);
  spec = place.tree_spec();
  spec.base = "--upload-pack=touch${IFS}hacked";
  EXPECT_EQ(refused(spec).code, ErrorCode::kNotFound);
  spec = place.tree_spec();
  spec.strategy = "clone";
  EXPECT_EQ(refused(spec).code, ErrorCode::kInvalid);
}

TEST_F(Trees, SubmodulesAreFetchedOrReported) {
  place.sh("git init -q -b main lib && cd lib && echo lib > lib.txt && git add -A && " + GitFixture::commit("lib"));
  place.sh("cd repo && git -c protocol.file.allow=always submodule --quiet add \"$PWD/../lib\" vendor/lib && " +
           GitFixture::commit("with lib") + " && git push -q origin main");
  EXPECT_TRUE(inspect_repository(place.seams, place.repo())->has_submodules);
  // Git takes none from a path unless it is configured to.
  const Error error = refused(place.tree_spec());
  EXPECT_THAT(describe(error), AllOf(HasSubstr("cannot fetch its submodules"), HasSubstr("vendor/lib")));
  expect_no_trace();
  place.put("home/.gitconfig", "[protocol \"file\"]\n\tallow = always\n");
  const WorkTree tree = place.tree();
  EXPECT_EQ(place.read("trees/run1/vendor/lib/lib.txt"), "lib\n");
  EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, ""));
  expect_no_trace();
}

TEST_F(Trees, ReadOnlyOnesAreDetached) {
  WorkTreeSpec spec = place.tree_spec();
  spec.strategy = "read-only";
  const auto tree = make_work_tree(place.seams, spec);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->branch, "");
  EXPECT_EQ(place.sh("git -C trees/run1 symbolic-ref -q HEAD", 1), "");
  EXPECT_EQ(make_work_tree(place.seams, spec)->path, tree->path);
}

TEST_F(Trees, InPlaceOnlyWhereNothingIsLost) {
  WorkTreeSpec spec = place.tree_spec();
  spec.strategy = "none";
  place.put("repo/README.md", "mine\n");
  EXPECT_EQ(refused(spec).code, ErrorCode::kConflict);
  EXPECT_EQ(place.sh("git -C repo symbolic-ref --short HEAD"), "main");
  place.sh("git -C repo checkout -q README.md");
  const auto tree = make_work_tree(place.seams, spec);
  ASSERT_TRUE(tree) << describe(tree.error());
  EXPECT_EQ(tree->path, place.repo());
  EXPECT_EQ(place.sh("git -C repo symbolic-ref --short HEAD"), "signalbox/run1");
  place.put("repo/src/price.txt", "120\n");
  EXPECT_EQ(make_work_tree(place.seams, spec)->base_commit, tree->base_commit);
  EXPECT_FALSE(remove_work_tree(place.seams, place.repo(), *tree, ""));
  EXPECT_EQ(place.read("repo/src/price.txt"), "120\n");
  EXPECT_EQ(place.sh("git -C repo symbolic-ref --short HEAD"), "signalbox/run1");
}

TEST_F(Trees, InPlaceTheCheckoutReturnsToItsEarlierBranch) {
  for (const std::string was : {"topic", "nowhere"}) {
    place.sh(was == "topic" ? "git -C repo checkout -q -b topic" : "git -C repo checkout -q --detach");
    const std::string head = place.sh("git -C repo rev-parse HEAD");
    WorkTreeSpec spec = place.tree_spec("run-" + was);
    spec.strategy = "none";
    const auto tree = make_work_tree(place.seams, spec);
    ASSERT_TRUE(tree) << describe(tree.error());
    place.put("repo/src/price.txt", was);
    place.sh("cd repo && git add -A && " + GitFixture::commit("delivered"));
    const std::string delivered = place.sh("git -C repo rev-parse HEAD");
    for (int times = 0; times < 2; ++times) {
      const Status removed = remove_work_tree(place.seams, place.repo(), *tree, delivered);
      EXPECT_TRUE(removed) << describe(removed.error());
    }
    EXPECT_EQ(place.sh("git -C repo rev-parse HEAD"), head);
    EXPECT_EQ(place.sh("git -C repo symbolic-ref -q --short HEAD || true"), was == "topic" ? "topic" : "");
    EXPECT_EQ(place.sh("git -C repo for-each-ref refs/signalbox/was refs/heads/signalbox"), "");
  }
}

TEST_F(Trees, InPlaceOnlyAtTheBase) {
  WorkTreeSpec spec = place.tree_spec();
  spec.strategy = "none";
  place.sh("cd repo && git checkout -q -b feature && echo half > half.txt && git add -A && " +
           GitFixture::commit("not for anybody"));
  const Error error = refused(spec);
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(describe(error), HasSubstr("git checkout main"));
  EXPECT_EQ(place.sh("git -C repo symbolic-ref --short HEAD"), "feature");
  EXPECT_EQ(place.sh("git -C repo for-each-ref refs/signalbox"), "");
}

// Escalated or not: undelivered work stays.
TEST_F(Trees, RemoveTemporaryFilesOfKilledWrites) {
  const WorkTree tree = place.tree();
  const std::string left = ".signalbox-write.0123456789ab";
  for (const std::string folder : {"", "src/", ".signalbox/", "new/deep/"}) {
    place.put("trees/run1/" + folder + left, "half");
  }
  place.put("trees/run1/src/.signalbox-write.md", "not ours");
  place.put("trees/run1/.gitignore", ".signalbox-write*\n");
  remove_interrupted_writes(place.seams, tree);
  EXPECT_EQ(place.sh("cd trees/run1 && find . -name '.signalbox-write*'"), "./src/.signalbox-write.md");
}

TEST_F(Trees, D07_UndeliveredWorkIsNeverRemoved) {
  const WorkTree tree = place.tree();
  const auto expect_kept = [&](const std::string& delivered, std::string_view named) {
    const Status removed = remove_work_tree(place.seams, place.repo(), tree, delivered);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, ErrorCode::kConflict);
    EXPECT_THAT(removed.error().message, HasSubstr(std::string(named)));
    EXPECT_TRUE(std::filesystem::exists(tree.path + "/README.md"));
  };
  place.put("trees/run1/src/price.txt", "120\n");
  expect_kept("", "src/price.txt");
  place.sh("git -C trees/run1 checkout -q src/price.txt");
  place.put("trees/run1/new file.txt", "new\n");
  expect_kept("", "new file.txt");
  // Hidden in its index, or committed but not pushed.
  place.sh(
      "cd trees/run1 && rm 'new file.txt' && git update-index --assume-unchanged README.md && echo x >> README.md");
  expect_kept("", "README.md");
  place.sh("cd trees/run1 && git update-index --no-assume-unchanged README.md && git add -A && " +
           GitFixture::commit("mine"));
  expect_kept(tree.base_commit, "the commit");
  const std::string head = place.sh("git -C trees/run1 rev-parse HEAD");
  place.put("trees/run1/.signalbox/current-pitch.md", "notes of a phase\n");
  EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, head));
  expect_no_trace();
  EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, head));  // again
}

}  // namespace
}  // namespace sb::pipeline
