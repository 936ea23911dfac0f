// From a work tree to a merged change, with real git; each step twice, and each with its facts lost.
#include "pipeline/delivery/delivery.hpp"

#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Delivering : testing::Test {
  GitFixture place;
  std::unique_ptr<Forge> forge = place.local_forge();
  DeliveryParts parts = place.parts(*forge);
  WorkTree tree = place.tree();
  DeliverySpec spec = place.spec(tree);

  void change(const std::string& path = "src/price.txt", const std::string& text = "120\n") {
    place.put("trees/run1/" + path, text);
  }
  DeliveryStepResult step(DeliveryStep which, const Value& before = Value::object()) {
    return must(deliver(which, spec, before, parts));
  }
};

TEST_F(Delivering, MergesAChangeIntoTheBase) {
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kClose);
  const std::string commit = *facts["commit"].string_at("commit");
  EXPECT_EQ(place.in_remote("refs/heads/main"), commit);
  EXPECT_EQ(facts["confirm"].string_at("merged_as"), commit);
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "120");
  EXPECT_EQ(place.sh("git -C remote.git log -1 --format=%an,%ae,%at,%s main"),
            "Signalbox,signalbox@localhost,1700000000,fix(shop): raise the price");
  EXPECT_EQ(place.sh("git -C remote.git log -1 --format='%(trailers)' main"),
            "Signalbox-Run: run1\nSignalbox-Session: sess_1");
  // The user's own checkout and configuration are unchanged.
  EXPECT_EQ(place.read("repo/src/price.txt"), "100\n");
  EXPECT_EQ(place.sh("git -C repo config --get user.name", 1), "");
}

// A kill between the effect and its event: the step is repeated with the facts known before.
TEST_F(Delivering, EveryStepIsIdempotent) {
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kClose, 2);
  EXPECT_EQ(place.sh("git -C remote.git rev-list --count main"), "2");
  EXPECT_EQ(place.sh("git -C remote.git for-each-ref --format='%(refname)' refs/heads refs/signalbox"),
            "refs/heads/main\nrefs/heads/signalbox/run1\nrefs/signalbox/requests/run1");
  for (const DeliveryStep which :
       {DeliveryStep::kCommit, DeliveryStep::kPush, DeliveryStep::kRequest, DeliveryStep::kMerge}) {
    const DeliveryStepResult again = must(deliver(which, spec, facts, parts));
    EXPECT_TRUE(again.passed && again.already_existed) << to_string(which);
  }
}

// Simulates a kill at the N-th command that changes anything: the command is carried out, and its result is lost.
class DyingForge final : public Process {
 public:
  DyingForge(Process& inner, int commands) : inner_(inner), left_(commands) {}
  Result<ProcessResult> run(const Command& command) override {
    if (left_ <= 0) return fail(ErrorCode::kUnavailable, "killed");
    auto exit = inner_.run(command);
    constexpr std::string_view kChanging[] = {"read-tree",  "add",   "write-tree", "commit-tree",
                                              "update-ref", "reset", "push",       "hash-object"};
    const bool changes = std::ranges::any_of(command.argv, [&](const std::string& word) {
      return std::ranges::find(kChanging, word) != std::end(kChanging);
    });
    if (!changes || --left_ > 0) return exit;
    return fail(ErrorCode::kUnavailable, "killed");
  }
  bool has_died() const { return left_ <= 0; }

 private:
  Process& inner_;
  int left_;
};

// Killed after every git command that changes anything, and resumed with the facts logged by then.
TEST_F(Delivering, AKillAfterAnyCommandDoesNotChangeTheResult) {
  change();
  deliver_through(spec, parts, DeliveryStep::kClose);
  int kills = 0;
  for (int commands = 1;; ++commands) {
    GitFixture other;
    const WorkTree other_tree = other.tree();
    DeliverySpec other_spec = other.spec(other_tree);
    other.put("trees/run1/src/price.txt", "120\n");
    DyingForge process(other.process, commands);
    const Seams mortal{other.files, other.clock, other.random, process, other.environment, other.streams};
    const auto mortal_forge = make_local_forge(mortal, other.repo(), "origin");
    DeliveryParts first{.seams = mortal, .forge = *mortal_forge, .run_check = {}};
    const auto real_forge = other.local_forge();
    DeliveryParts second = other.parts(*real_forge);
    Value facts = Value::object();
    for (const DeliveryStep which : kAllSteps) {
      auto done = deliver(which, other_spec, facts, process.has_died() ? second : first);
      if (!done) done = deliver(which, other_spec, facts, second);
      ASSERT_TRUE(done) << commands << " " << to_string(which) << ": " << describe(done.error());
      ASSERT_TRUE(done->passed) << commands << " " << to_string(which);
      facts.set(to_string(which), done->facts);
    }
    EXPECT_EQ(other.sh("git -C remote.git rev-list --count main"), "2") << commands;
    EXPECT_EQ(other.in_remote("main^{tree}"), place.in_remote("main^{tree}"));
    EXPECT_EQ(other.in_remote("main"), *facts["commit"].string_at("commit"));
    EXPECT_EQ(other.sh("git -C remote.git for-each-ref refs/signalbox refs/heads | wc -l"), "3");
    EXPECT_EQ(other.sh("git -C trees/run1 status --porcelain"), "");
    if (!process.has_died()) break;
    ++kills;
  }
  EXPECT_GE(kills, 10);
  std::printf("killed after each of %d changes\n", kills);
}

TEST_F(Delivering, TheCommitIsAFunctionOfTheRun) {
  change();
  const Value first = deliver_through(spec, parts, DeliveryStep::kCommit);
  place.sh("git -C trees/run1 update-ref refs/heads/signalbox/run1 " + tree.base_commit);
  place.clock.set(place.clock.now_ms() + 3'600'000);
  const Value second = deliver_through(spec, parts, DeliveryStep::kCommit);
  EXPECT_EQ(first["commit"], second["commit"]);
}

// Fixes got lost because they were never committed and pushed.
TEST_F(Delivering, D08_AFixIsCommittedAndPushedBeforeItIsReviewedAgain) {
  change();
  const Value first = deliver_through(spec, parts, DeliveryStep::kRequest);
  const std::string parent = *first["commit"].string_at("commit");
  EXPECT_EQ(place.in_remote("signalbox/run1"), parent);
  spec.round = 1;
  spec.parent = parent;
  spec.subject = "round it";
  change("src/price.txt", "125\n");
  const Value second = deliver_through(spec, parts, DeliveryStep::kRequest, 2);
  const std::string fixed = *second["commit"].string_at("commit");
  EXPECT_EQ(place.in_remote("signalbox/run1"), fixed);
  EXPECT_EQ(place.in_remote("signalbox/run1^"), parent);
  EXPECT_EQ(first["request"]["request"], second["request"]["request"]);
  const auto request = forge->find({.branch = "signalbox/run1", .run = "run1"});
  ASSERT_TRUE(request && *request);
  EXPECT_EQ((*request)->commit, fixed);
  deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.in_remote("main"), fixed);
}

TEST_F(Delivering, D09_TheHeadIsVerified) {
  change();
  EXPECT_TRUE(step(DeliveryStep::kHead).passed);
  const auto expect_blocked = [&](const std::string& named) {
    const DeliveryStepResult done = step(DeliveryStep::kHead);
    ASSERT_FALSE(done.passed);
    EXPECT_EQ(done.findings.front().severity, "critical");
    EXPECT_THAT(done.findings.front().summary, HasSubstr(named));
  };
  place.sh("git -C trees/run1 checkout -q -b mine");
  expect_blocked("refs/heads/mine");
  place.sh("git -C trees/run1 checkout -q --detach");
  expect_blocked("no branch");
  place.sh("git -C trees/run1 checkout -q signalbox/run1");
  EXPECT_TRUE(step(DeliveryStep::kHead).passed);
  place.sh("cd trees/run1 && git checkout -q --orphan lost && " + GitFixture::commit("lost") +
           " && git branch -q -f signalbox/run1 lost && git checkout -q signalbox/run1");
  expect_blocked("is not based on");
  EXPECT_FALSE(step(DeliveryStep::kCommit).passed);
  place.put("trees/run1/.git", "gitdir: /nowhere\n");
  expect_blocked(".git");
}

TEST_F(Delivering, D09_CommitsOfTheAgentAreFoldedIn) {
  change();
  place.sh("cd trees/run1 && git add -A && " + GitFixture::commit("by the agent"));
  change("src/price.txt", "130\n");
  const DeliveryStepResult head = step(DeliveryStep::kHead);
  EXPECT_EQ(head.facts["folded"].size(), 1u);
  const Value facts = deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.sh("git -C remote.git log --format=%s main"), "fix(shop): raise the price\nfirst");
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "130");
}

// Reports a merge that it did not make.
class LyingForge final : public Forge {
 public:
  explicit LyingForge(Forge& inner) : inner_(inner) {}
  const ForgeKind& kind() const override {
    static constexpr ForgeKind kLiar{.name = "liar", .is_hosted = true, .checks_folder = ".github/workflows"};
    return kLiar;
  }
  Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& wanted) override { return inner_.find(wanted); }
  Result<ChangeRequest> open_or_update(const ChangeRequestSpec& request) override {
    return inner_.open_or_update(request);
  }
  Result<RequestChecks> checks(const ChangeRequest&) override { return answer; }
  Status merge(const ChangeRequest&, const std::string&, const std::string&) override { return {}; }
  Result<bool> needs_update(const ChangeRequest&) override { return false; }
  Status comment(const ChangeRequest&, const std::string&, const std::string&) override { return {}; }
  Result<Ticket> ticket(const std::string& id) override { return inner_.ticket(id); }
  Status close_ticket(const Ticket&, const std::string&) override { return {}; }
  RequestChecks answer = {};

 private:
  Forge& inner_;
};

TEST_F(Delivering, D19_AMergeIsVerifiedOnTheForge) {
  change();
  LyingForge liar(*forge);
  DeliveryParts lied{.seams = place.seams, .forge = liar, .run_check = {}};
  Value facts = deliver_through(spec, lied, DeliveryStep::kMerge);
  DeliveryStepResult done = must(deliver(DeliveryStep::kConfirm, spec, facts, lied));
  EXPECT_FALSE(done.passed);
  EXPECT_GT(done.retry_at_ms, place.clock.now_ms());
  EXPECT_TRUE(done.findings.empty());
  place.clock.set(place.clock.now_ms() + 120'000);
  done = must(deliver(DeliveryStep::kConfirm, spec, facts, lied));
  EXPECT_FALSE(done.passed);
  EXPECT_EQ(done.retry_at_ms, 0);
  EXPECT_THAT(done.findings.at(0).summary, HasSubstr("not merged"));
  EXPECT_NE(place.in_remote("main"), *facts["commit"].string_at("commit"));
}

TEST_F(Delivering, WaitsForTheForgesChecksAndNamesThem) {
  change();
  LyingForge hosted(*forge);
  DeliveryParts slow{.seams = place.seams, .forge = hosted, .run_check = {}};
  const Value facts = deliver_through(spec, slow, DeliveryStep::kRequest);
  const auto look = [&](RequestChecks checks) {
    hosted.answer = std::move(checks);
    return must(deliver(DeliveryStep::kRequestChecks, spec, facts, slow));
  };
  using State = RequestChecks::State;
  EXPECT_TRUE(look({State::kNone}).passed);
  // A project with workflows: they may not have started yet.
  place.put("trees/run1/.github/workflows/ci.yaml", "on: push\n");
  EXPECT_GT(look({State::kNone}).retry_at_ms, 0);
  EXPECT_GT(look({State::kPending}).retry_at_ms, 0);
  EXPECT_FALSE(look({State::kPending}).passed);
  EXPECT_TRUE(look({State::kPassed}).passed);
  const CheckReport unit{
      .name = "unit tests", .said = "2 of 90 failed: price_test\nrounding_test", .url = "https://ci.example/1"};
  const DeliveryStepResult failed = look({State::kFailed, {unit, {.name = "li\nnt"}}});
  ASSERT_EQ(failed.findings.size(), 2u);
  EXPECT_EQ(failed.findings[0].summary,
            "the forge's check unit tests failed: 2 of 90 failed: price_test rounding_test (https://ci.example/1)");
  EXPECT_EQ(failed.findings[0].cause, "checks_failed");
  EXPECT_THAT(failed.findings[1].summary, HasSubstr("li nt failed"));
  EXPECT_EQ(look({.state = State::kStopped, .stopped = {{.name = "slow", .said = "cancelled"}}}).findings.at(0).cause,
            "checks_stopped");
  place.clock.set(place.clock.now_ms() + 61'000);
  EXPECT_TRUE(look({State::kNone}).passed);
  place.clock.set(place.clock.now_ms() + 3'600'000);
  const DeliveryStepResult late = look({State::kPending});
  EXPECT_EQ(late.retry_at_ms, 0);
  EXPECT_THAT(late.findings.at(0).summary, HasSubstr("did not finish"));
}

// Green when a person was asked, red when they answered.
TEST_F(Delivering, ChecksAreQueriedAgainBeforeMerging) {
  change();
  LyingForge hosted(*forge);
  DeliveryParts late{.seams = place.seams, .forge = hosted, .run_check = {}};
  using State = RequestChecks::State;
  hosted.answer = {State::kPassed};
  Value facts = deliver_through(spec, late, DeliveryStep::kRequestChecks);
  const auto merge = [&] { return must(deliver(DeliveryStep::kMerge, spec, facts, late)); };
  hosted.answer = {State::kFailed, {{.name = "unit tests"}}};
  EXPECT_FALSE(merge().passed);
  EXPECT_THAT(merge().findings.at(0).summary, HasSubstr("unit tests failed"));
  hosted.answer = {State::kPending};
  EXPECT_GT(merge().retry_at_ms, 0);
  hosted.answer = {State::kPassed};
  EXPECT_TRUE(merge().passed);
  // A person accepted them as they are.
  hosted.answer = {State::kFailed, {{.name = "unit tests"}}};
  facts.set("request_checks", Value::object({{"state", "failed"}}));
  EXPECT_TRUE(merge().passed);
}

TEST_F(Delivering, ARemoteThatRejectsIsAFinding) {
  place.put("remote.git/hooks/pre-receive", "#!/bin/sh\necho 'no pushing on \033[31mFridays' >&2\nexit 1\n");
  place.sh("chmod +x remote.git/hooks/pre-receive");
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kCommit);
  const DeliveryStepResult pushed = step(DeliveryStep::kPush, facts);
  EXPECT_FALSE(pushed.passed);
  EXPECT_THAT(pushed.findings.at(0).summary, HasSubstr("no pushing on \\x1b[31mFridays"));
  EXPECT_THAT(pushed.findings.at(0).summary, Not(HasSubstr("\\x09")));
  place.sh("rm remote.git/hooks/pre-receive");
  EXPECT_TRUE(step(DeliveryStep::kPush, facts).passed);
}

// A push continues when its process is killed, and the next one pushes the same in parallel.
TEST_F(Delivering, AnEarlierPushOfTheSameCommitCounts) {
  place.put("remote.git/hooks/update", "#!/bin/sh\ngit update-ref \"$1\" \"$3\"\n");
  place.sh("chmod +x remote.git/hooks/update");
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kConfirm);
  EXPECT_EQ(place.in_remote("main"), facts["commit"].string_at("commit"));
}

TEST_F(Delivering, AProtectedBaseRefusesTheMerge) {
  place.put("remote.git/hooks/update", "#!/bin/sh\n[ \"$1\" != refs/heads/main ] || { echo protected >&2; exit 1; }\n");
  place.sh("chmod +x remote.git/hooks/update");
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kRequestChecks);
  const DeliveryStepResult merged = step(DeliveryStep::kMerge, facts);
  EXPECT_FALSE(merged.passed);
  EXPECT_THAT(merged.findings.at(0).summary, AllOf(HasSubstr("refused to merge"), HasSubstr("protected")));
  EXPECT_FALSE(step(DeliveryStep::kConfirm, facts).passed);
}

TEST_F(Delivering, AnAdvancedBaseIsNotOverwritten) {
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kRequest);
  place.sh("git clone -q remote.git other && cd other && echo x > x && git add x && " + GitFixture::commit("x") +
           " && git push -q");
  const std::string theirs = place.in_remote("main");
  const DeliveryStepResult merged = step(DeliveryStep::kMerge, facts);
  EXPECT_FALSE(merged.passed);
  EXPECT_THAT(merged.findings.at(0).summary, HasSubstr("has advanced"));
  EXPECT_EQ(place.in_remote("main"), theirs);
}

TEST_F(Delivering, AForeignPushToTheBranchIsNotOverwritten) {
  place.sh("git clone -q remote.git other && cd other && echo x > x && git add x && " + GitFixture::commit("x") +
           " && git push -q origin HEAD:signalbox/run1");
  const std::string theirs = place.in_remote("signalbox/run1");
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kCommit);
  const DeliveryStepResult pushed = step(DeliveryStep::kPush, facts);
  EXPECT_FALSE(pushed.passed);
  EXPECT_THAT(pushed.findings.at(0).summary, HasSubstr(theirs));
  EXPECT_EQ(place.in_remote("signalbox/run1"), theirs);
}

TEST_F(Delivering, AMissingRemoteIsAnError) {
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kCommit);
  place.sh("mv remote.git away.git");
  const auto gone = deliver(DeliveryStep::kPush, spec, facts, parts);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kInvalid) << "for a person: waiting does not help";
  place.sh("git -C repo remote set-url origin http://127.0.0.1:1/x.git");
  const auto unreachable = deliver(DeliveryStep::kPush, spec, facts, parts);
  ASSERT_FALSE(unreachable);
  EXPECT_EQ(unreachable.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(unreachable.error().is_retryable);
  place.sh("git -C repo remote remove origin");
  const auto none = deliver(DeliveryStep::kPush, spec, facts, parts);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(describe(none.error()), HasSubstr("git remote add"));
}

TEST_F(Delivering, NothingChangedIsAFinding) {
  EXPECT_THAT(step(DeliveryStep::kScope).findings.at(0).summary, HasSubstr("nothing was changed"));
  EXPECT_FALSE(step(DeliveryStep::kCommit).passed);
  EXPECT_EQ(place.sh("git -C trees/run1 rev-parse HEAD"), tree.base_commit);
}

// The tree that the scope step saw is committed, whatever is written afterwards.
TEST_F(Delivering, CommitsExactlyTheCheckedTree) {
  change();
  Value facts = deliver_through(spec, parts, DeliveryStep::kSecrets);
  change("src/price.txt", "1\n");
  const DeliveryStepResult done = step(DeliveryStep::kCommit, facts);
  EXPECT_EQ(place.sh("git -C repo show " + *done.facts.string_at("commit") + ":src/price.txt"), "120");
}

// However long a person takes to answer, and whatever garbage collection runs meanwhile.
TEST_F(Delivering, KeepsTheCheckedTree) {
  change();
  change(".signalbox/current-pitch.md", "pitch\n");
  Value facts = deliver_through(spec, parts, DeliveryStep::kChecks);
  change("src/other.txt", "undeclared\n");
  place.sh("rm -f repo/.git/worktrees/run1/signalbox-*index && git -C repo gc --quiet --prune=now");
  spec.checks = {{"x", "true"}};
  spec.checks_trusted = true;
  EXPECT_TRUE(step(DeliveryStep::kChecks, facts).passed);
  facts.set("secrets", step(DeliveryStep::kSecrets, facts).facts);
  EXPECT_TRUE(step(DeliveryStep::kCommit, facts).passed);
  EXPECT_EQ(place.sh("git -C repo show --format= --name-only signalbox/run1"), "src/price.txt");
  EXPECT_EQ(place.sh("git -C repo for-each-ref refs/signalbox/tree refs/signalbox/snapshot"), "");
}

TEST_F(Delivering, DoesNotReplaceTheCheckedTreeByTheCurrentOne) {
  change();
  const Value facts = deliver_through(spec, parts, DeliveryStep::kScope);
  const std::string lose =
      "rm -f repo/.git/worktrees/run1/signalbox-*index; cd repo; for ref in tree snapshot; do git update-ref -d "
      "refs/signalbox/$ref/run1; done; git prune --expire=now";
  place.sh(lose);
  EXPECT_TRUE(step(DeliveryStep::kSecrets, facts).passed) << "the work tree is unchanged";
  place.sh(lose);
  change("src/other.txt", "undeclared\n");
  spec.checks = {{"x", "true"}};
  spec.checks_trusted = true;
  for (const DeliveryStep which : {DeliveryStep::kChecks, DeliveryStep::kSecrets, DeliveryStep::kCommit}) {
    const DeliveryStepResult done = step(which, facts);
    ASSERT_FALSE(done.passed) << to_string(which);
    EXPECT_EQ(done.findings.at(0).cause, "tree_lost");
    place.sh("rm -f repo/.git/worktrees/run1/signalbox-*index && git -C repo prune --expire=now");
  }
}

TEST_F(Delivering, NotesOfPhasesAreNotDelivered) {
  change();
  change(".signalbox/current-pitch.md", "pitch\n");
  change("notes/design.txt", "design\n");
  // Left by a killed write.
  change("src/.signalbox-write.0123456789ab", "half\n");
  change(".signalbox/.signalbox-write.0123456789ab", "half\n");
  spec.files_changed.push_back("src/");
  spec.internal_paths = {"notes/**"};
  const Value facts = deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.sh("git -C remote.git diff --name-only main~ main"), "src/price.txt");
  EXPECT_EQ(place.read("trees/run1/.signalbox/current-pitch.md"), "pitch\n");
}

TEST_F(Delivering, ClosingWordsAndMentionsAreDefused) {
  change();
  spec.ticket.id = "github:acme/shop#7";
  spec.title = spec.subject = "Fixes #8 for @acme/owners (acme/shop#7)";
  spec.body = "Closes https://github.com/acme/shop/issues/9\n\n- resolves acme/web#3, says @ann";
  deliver_through(spec, parts, DeliveryStep::kMerge);
  const std::string sent = place.sh("git -C remote.git log -1 --format=%B signalbox/run1") +
                           place.sh("git -C remote.git cat-file blob refs/signalbox/requests/run1");
  for (const char* word : {"#8", "@acme", "Closes http", "web#3", "@ann"}) EXPECT_THAT(sent, Not(HasSubstr(word)));
  EXPECT_THAT(sent, HasSubstr("(acme/shop#7)"));
  EXPECT_THAT(sent, HasSubstr("https://github.com/acme/shop/issues/9"));
}

TEST_F(Delivering, AgentTextCannotForgeTrailers) {
  change();
  spec.subject = "x\n\nSignalbox-Run: other\nCo-authored-by: you\x1b[2J\xff";
  spec.identity = {"Bot <bot@x>\n", ""};
  deliver_through(spec, parts, DeliveryStep::kCommit);
  EXPECT_EQ(place.sh("git -C trees/run1 log -1 --format='%(trailers:key=Signalbox-Run,valueonly)'"), "run1");
  EXPECT_EQ(place.sh("git -C trees/run1 log -1 --format=%s | wc -l"), "1");
}

}  // namespace
}  // namespace sb::pipeline
