// A base that advances during a run, with real git.
#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr DeliveryStep kAgain[] = {DeliveryStep::kUpdate,  DeliveryStep::kChecks, DeliveryStep::kPush,
                                   DeliveryStep::kRequest, DeliveryStep::kMerge,  DeliveryStep::kConfirm};

struct Updated : testing::Test {
  GitFixture place;
  std::unique_ptr<Forge> forge = place.local_forge();
  DeliveryParts parts = place.parts(*forge);
  WorkTree tree = place.tree();
  DeliverySpec spec = place.spec(tree);
  Value facts;

  void request(const std::string& text = "120\n") {
    place.put("trees/run1/src/price.txt", text);
    facts = deliver_through(spec, parts, DeliveryStep::kRequest);
  }
  void move_base(const std::string& path = "src/other.txt", const std::string& text = "theirs\n") {
    place.put("repo/" + path, text);
    place.sh("cd repo && git add -A && " + GitFixture::commit("theirs") + " && git push -q origin main");
  }
  DeliveryStepResult step(DeliveryStep which) {
    const DeliveryStepResult done = must(deliver(which, spec, facts, parts));
    facts.set(to_string(which), done.facts);
    return done;
  }
  void finish_delivery(int times = 1) {
    for (const DeliveryStep which : kAgain) {
      DeliveryStepResult done;
      for (int i = 0; i < times; ++i) done = must(deliver(which, spec, facts, parts));
      ASSERT_TRUE(done.passed) << to_string(which) << ": " << done.findings.at(0).summary;
      facts.set(to_string(which), done.facts);
    }
  }
};

TEST_F(Updated, UpdatesTheBranchAndMergesItWithTheReviewedCommit) {
  request();
  const std::string reviewed = *facts["commit"].string_at("commit");
  move_base();
  const std::string theirs = place.in_remote("main");
  const DeliveryStepResult refused = step(DeliveryStep::kMerge);
  ASSERT_FALSE(refused.passed);
  EXPECT_EQ(refused.findings.at(0).cause, kBaseMoved);
  finish_delivery(2);  // each step is idempotent
  EXPECT_EQ(place.sh("git -C remote.git log -1 --format='%P' main"), theirs + " " + reviewed);
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "120");
  EXPECT_EQ(place.sh("git -C remote.git show main:src/other.txt"), "theirs");
  EXPECT_EQ(place.sh("git -C remote.git rev-list --count --no-merges main"), "3");
  EXPECT_EQ(place.sh("git -C remote.git rev-list --count main"), "4");
  // The work tree follows the branch, and is removed with it.
  EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), "");
  EXPECT_EQ(place.read("trees/run1/src/other.txt"), "theirs\n");
  EXPECT_TRUE(remove_work_tree(place.seams, place.repo(), tree, *facts["update"].string_at("commit")));
}

TEST_F(Updated, ChecksRunOnTheMergedTree) {
  spec.checks = {{"price", "grep -q 120 src/price.txt && ! grep -q theirs src/other.txt"}};
  spec.checks_trusted = true;
  request();
  move_base();
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  ASSERT_TRUE(step(DeliveryStep::kUpdate).passed);
  const DeliveryStepResult checked = step(DeliveryStep::kChecks);
  ASSERT_FALSE(checked.passed);
  EXPECT_EQ(checked.findings.at(0).cause, "check_failed");
  EXPECT_EQ(place.in_remote("signalbox/run1"), *facts["commit"].string_at("commit"));  // not pushed yet

  // A fix round is based on the merge, so that changes by others are not counted as its own.
  place.put("trees/run1/src/price.txt", "130\n");
  DeliverySpec fix = spec;
  fix.round = 1;
  fix.parent = *facts["update"].string_at("commit");
  fix.checks.clear();
  const Value fixed = deliver_through(fix, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "130");
  EXPECT_EQ(place.sh("git -C remote.git show main:src/other.txt"), "theirs");
}

TEST_F(Updated, AConflictListsTheFilesAndChangesNothing) {
  request();
  const std::string reviewed = *facts["commit"].string_at("commit");
  move_base("src/price.txt", "90\n");
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  const DeliveryStepResult update = step(DeliveryStep::kUpdate);
  ASSERT_FALSE(update.passed);
  EXPECT_EQ(update.findings.at(0).cause, "conflict");
  EXPECT_EQ(update.findings.at(0).file, "src/price.txt");
  EXPECT_THAT(update.findings.at(0).summary,
              AllOf(HasSubstr("src/price.txt"), HasSubstr("main"), HasSubstr("trees/run1")));
  EXPECT_EQ(place.sh("git -C trees/run1 rev-parse HEAD"), reviewed);
  EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), "");

  // A person merges there, and the run continues with that.
  place.sh("cd trees/run1 && git -c user.name=Ada -c user.email=a@b merge -q origin/main || true");
  EXPECT_FALSE(step(DeliveryStep::kUpdate).passed);  // not committed
  place.put("trees/run1/src/price.txt", "110\n");
  place.sh("cd trees/run1 && git add -A && " + GitFixture::commit("merged by hand"));
  finish_delivery();
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "110");
}

TEST_F(Updated, ARewrittenBaseNeedsAPerson) {
  request();
  place.sh(
      "cd repo && git -c user.name=Ada -c user.email=a@b commit -q --amend -m other && git push -q -f origin main");
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  const DeliveryStepResult update = step(DeliveryStep::kUpdate);
  ASSERT_FALSE(update.passed);
  EXPECT_EQ(update.findings.at(0).cause, "base_rewritten");
}

TEST_F(Updated, UncommittedChangesAreNotOverwritten) {
  request();
  move_base();
  place.put("trees/run1/src/other.txt", "changed by a person\n");
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  const DeliveryStepResult update = step(DeliveryStep::kUpdate);
  ASSERT_FALSE(update.passed);
  EXPECT_THAT(update.findings.at(0).summary, HasSubstr("src/other.txt"));
  EXPECT_EQ(place.read("trees/run1/src/other.txt"), "changed by a person\n");
  place.sh("git -C trees/run1 checkout -q src/other.txt");
  finish_delivery();
}

TEST_F(Updated, HandlesFilesThatBecomeFoldersAndFoldersThatBecomeFiles) {
  place.put("repo/a/b/c.txt", "c\n");
  place.put("repo/d", "d\n");
  move_base();
  tree = place.tree("run2");
  spec = place.spec(tree, "run2");
  place.put("trees/run2/src/price.txt", "120\n");
  facts = deliver_through(spec, parts, DeliveryStep::kRequest);
  place.sh("cd repo && rm -r a d && mkdir d && echo f > d/e && echo file > a");
  move_base("src/a file", "new\n");
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  finish_delivery();
  EXPECT_EQ(place.read("trees/run2/a"), "file\n");
  EXPECT_EQ(place.read("trees/run2/d/e"), "f\n");
  EXPECT_EQ(place.sh("git -C trees/run2 status --porcelain"), "");
}

// The user's merge program would run on what an agent wrote, outside the sandbox.
TEST_F(Updated, MergeProgramsAreNotRun) {
  place.put("repo/.gitattributes", "*.txt merge=own\n");
  place.sh("git -C repo config merge.own.driver 'touch " + place.directory + "/ran; true'");
  move_base("src/note.md", "x\n");
  tree = place.tree("run2");
  spec = place.spec(tree, "run2");
  place.put("trees/run2/src/price.txt", "120\n");
  facts = deliver_through(spec, parts, DeliveryStep::kRequest);
  move_base("src/price.txt", "100\n\nmore\n");
  ASSERT_FALSE(step(DeliveryStep::kMerge).passed);
  EXPECT_EQ(step(DeliveryStep::kUpdate).findings.at(0).cause, "conflict");
  EXPECT_FALSE(std::filesystem::exists(place.directory + "/ran"));
}

// Simulates a kill at the N-th command: the command is carried out, and its result is lost.
class DyingForge final : public Process {
 public:
  DyingForge(Process& inner, int commands) : inner_(inner), left_(commands) {}
  Result<ProcessResult> run(const Command& command) override {
    if (left_ <= 0) return fail(ErrorCode::kUnavailable, "killed");
    auto exit = inner_.run(command);
    if (--left_ > 0) return exit;
    return fail(ErrorCode::kUnavailable, "killed");
  }
  bool has_died() const { return left_ <= 0; }

 private:
  Process& inner_;
  int left_;
};

// The base advances once more before the run is resumed.
TEST_F(Updated, AKillAfterAnyCommandDoesNotChangeTheResult) {
  for (int commands = 1;; ++commands) {
    GitFixture other;
    const WorkTree other_tree = other.tree();
    const DeliverySpec other_spec = other.spec(other_tree);
    const auto real_forge = other.local_forge();
    DeliveryParts second = other.parts(*real_forge);
    other.put("trees/run1/src/price.txt", "120\n");
    Value known = deliver_through(other_spec, second, DeliveryStep::kRequest);
    const auto move = [&](const std::string& file) {
      other.put("repo/" + file, "theirs\n");
      other.sh("cd repo && git add -A && " + GitFixture::commit(file) + " && git push -q origin main");
    };
    move("src/other.txt");
    DyingForge process(other.process, commands);
    const Seams mortal{other.files, other.clock, other.random, process, other.environment, other.streams};
    const auto mortal_forge = make_local_forge(mortal, other.repo(), "origin");
    DeliveryParts first{.seams = mortal, .forge = *mortal_forge, .run_check = {}};
    const auto made = deliver(DeliveryStep::kUpdate, other_spec, known, first);
    const bool was_killed = process.has_died();
    ASSERT_TRUE(was_killed || (made && made->passed)) << commands;
    if (was_killed) move("src/later.txt");
    int updates = 0;
    for (bool is_merged = false; !is_merged && updates < 5; ++updates) {
      for (const DeliveryStep which : kAgain) {
        const DeliveryStepResult done = must(deliver(which, other_spec, known, second));
        known.set(to_string(which), done.facts);
        if (which == DeliveryStep::kMerge && !done.passed && done.findings.at(0).cause == kBaseMoved) break;
        ASSERT_TRUE(done.passed) << commands << " " << to_string(which) << ": " << done.findings.at(0).summary;
        is_merged = which == DeliveryStep::kConfirm;
      }
    }
    EXPECT_EQ(other.sh("git -C remote.git show main:src/price.txt main:src/other.txt"), "120\ntheirs") << commands;
    EXPECT_EQ(other.sh("git -C remote.git rev-list --count --no-merges main"), was_killed ? "4" : "3") << commands;
    EXPECT_EQ(other.sh("git -C trees/run1 status --porcelain"), "") << commands;
    if (!was_killed) break;
  }
}

}  // namespace
}  // namespace sb::pipeline
