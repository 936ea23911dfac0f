// The project's checks on a real work tree, the secret scan of a real change, and unusual changes.
#include <gmock/gmock.h>

#include "agent/cassette/cassette.hpp"
#include "pipeline/delivery/testing.hpp"
#include "pipeline/forge/cassette_forge.hpp"
#include "pipeline/limits.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Checking : testing::Test {
  GitFixture place;
  std::unique_ptr<Forge> forge = place.local_forge();
  DeliveryParts parts = place.parts(*forge);
  WorkTree tree = place.tree();
  DeliverySpec spec = place.spec(tree);

  Checking() {
    place.put("trees/run1/src/price.txt", "120\n");
    spec.checks_trusted = true;
  }
  DeliveryStepResult check(std::vector<ProjectCheck> checks) {
    spec.checks = std::move(checks);
    const DeliveryStepResult scope = must(deliver(DeliveryStep::kScope, spec, Value::object(), parts));
    Value before = Value::object();
    before.set("scope", scope.facts);
    return must(deliver(DeliveryStep::kChecks, spec, before, parts));
  }
  DeliveryStepResult step(DeliveryStep which) {
    Value before = Value::object();
    if (which != DeliveryStep::kScope) before.set("scope", step(DeliveryStep::kScope).facts);
    return must(deliver(which, spec, before, parts));
  }
};

TEST_F(Checking, ReportsWhatPassedAndWhatFailed) {
  const DeliveryStepResult done =
      check({{"price", "grep -q 120 src/price.txt"}, {"lint", "echo bad line 3; echo why >&2; exit 7"}});
  EXPECT_FALSE(done.passed);
  ASSERT_EQ(done.findings.size(), 1u);
  EXPECT_THAT(done.findings[0].summary,
              AllOf(HasSubstr("lint"), HasSubstr("7"), HasSubstr("bad line 3"), HasSubstr("why")));
  EXPECT_TRUE(done.facts["checks"].items()[0]["passed"].as_bool());
  EXPECT_EQ(done.facts["checks"].items()[1]["exit"].as_integer(), 7);
}

TEST_F(Checking, NothingRunsInAnUntrustedFolder) {
  spec.checks_trusted = false;
  const DeliveryStepResult done = check({{"x", "touch " + place.directory + "/ran; touch ran"}});
  EXPECT_FALSE(done.passed);
  EXPECT_THAT(done.findings.at(0).summary, HasSubstr("signalbox trust"));
  EXPECT_FALSE(std::filesystem::exists(tree.path + "/ran"));
}

TEST_F(Checking, ACheckThatHangsIsStopped) {
  const DeliveryStepResult done = check({{"slow", "echo begun; sleep 600", 500}});
  EXPECT_FALSE(done.passed);
  EXPECT_THAT(done.findings.at(0).summary, AllOf(HasSubstr("slow"), HasSubstr("did not finish")));
  EXPECT_THAT(done.facts["checks"].items()[0].string_at("output").value(), HasSubstr("begun"));
}

TEST_F(Checking, KeepsBothEndsOfLongOutput) {
  const DeliveryStepResult done = check({{"loud", "echo first; yes | head -c 3000000; echo last; exit 1"}});
  const std::string output = *done.facts["checks"].items()[0].string_at("output");
  EXPECT_LE(output.size(), limits::kCheckOutputBytes + 200);
  EXPECT_THAT(output, AllOf(HasSubstr("first"), HasSubstr("last")));
}

TEST_F(Checking, OutputIsCleanedBeforeItIsStored) {
  parts.secrets = {"hunter2-hunter2"};
  const DeliveryStepResult done = check({{"x", "printf 'hunter2-hunter2 \\033[31m \\377\\n'; exit 1"}});
  const std::string all = to_json(done.facts) + done.findings.at(0).summary;
  EXPECT_THAT(all, AllOf(Not(HasSubstr("hunter2-hunter2")), Not(HasSubstr("\x1b"))));
}

// Reports, caches, a formatter: none of it is a change by the agent.
TEST_F(Checking, ACheckDoesNotReachTheWorkTree) {
  const DeliveryStepResult done =
      check({{"messy",
              "echo x > report.txt; mkdir -p out && echo y > 'out/a b'; echo 999 > src/price.txt; "
              "rm src/other.txt"}});
  EXPECT_TRUE(done.passed);
  EXPECT_FALSE(std::filesystem::exists(tree.path + "/report.txt"));
  EXPECT_EQ(place.read("trees/run1/src/price.txt"), "120\n");
  EXPECT_EQ(place.read("trees/run1/src/other.txt"), "other\n");
  EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), " M src/price.txt");
}

// Tests of programs that use git leave them behind.
TEST_F(Checking, RepositoriesLeftByACheckDoNotStay) {
  place.put("kept/outside.txt", "outside\n");
  const std::string commit = "git add -A && " + GitFixture::commit("x");
  const DeliveryStepResult done =
      check({{"messy",
              "git init -q scratch/empty; mkdir -p scratch/full/sub; cd scratch/full; git init -q .; "
              "ln -s " +
                  place.directory + "/kept link; echo x > x; " + commit +
                  "; cd ../../src; rm other.txt; git init -q other.txt; cd other.txt; echo x > x; " + commit}});
  EXPECT_TRUE(done.passed) << (done.findings.empty() ? "" : done.findings[0].summary);
  EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), " M src/price.txt");
  const DeliveryStepResult again = check({{"clean", "test ! -e scratch && test -f src/other.txt && git status"}});
  EXPECT_TRUE(again.passed) << (again.findings.empty() ? "" : again.findings[0].summary);
  EXPECT_EQ(place.read("kept/outside.txt"), "outside\n");
}

TEST_F(Checking, LocksOfKilledCommandsDoNotBlock) {
  place.put("trees/run1/.signalbox/note.md", "a note\n");
  for (const char* lock : {"index.lock", "signalbox-index.lock", "signalbox-delivery-index.lock"}) {
    place.put(std::string("repo/.git/worktrees/run1/") + lock, "");
  }
  EXPECT_TRUE(check({{"messy", "echo x > report.txt; echo 999 > src/price.txt"}}).passed);
  EXPECT_EQ(place.read("trees/run1/src/price.txt"), "120\n");
}

TEST_F(Checking, OnlyWhatIsCommittedIsChecked) {
  spec.checks = {{"ok", "test ! -e report.txt && test -z \"$(git status --porcelain)\""}};
  Value before = Value::object();
  before.set("scope", step(DeliveryStep::kScope).facts);
  place.put("trees/run1/report.txt", "left\n");
  EXPECT_TRUE(must(deliver(DeliveryStep::kChecks, spec, before, parts)).passed);
}

TEST_F(Checking, WhatACheckIgnoresDoesNotStay) {
  place.put("trees/run1/.gitignore", "*.left\n");
  spec.files_changed.emplace_back(".gitignore");
  EXPECT_FALSE(check({{"first", "touch a.left"}, {"second", "test -e a.left"}}).passed) << "not within a round either";
  EXPECT_TRUE(check({{"next round", "test ! -e a.left"}}).passed);
}

// Go's module cache is like that.
TEST_F(Checking, FoldersThatMayNotBeWrittenDoNotStay) {
  EXPECT_TRUE(check({{"messy", "mkdir -p cache/deep && touch cache/deep/x && chmod -R a-w cache"}}).passed);
  const DeliveryStepResult again = check({{"clean", "test ! -e cache && grep -q 120 src/price.txt"}});
  EXPECT_TRUE(again.passed) << (again.findings.empty() ? "" : again.findings[0].summary);
}

TEST_F(Checking, ChecksSeeNoSecretsAndNoNetwork) {
  place.put("home/.ssh/id_ed25519", "private\n");
  std::string sandbox;
  parts.run_check = make_check_runner(place.seams, place.homes(), {}, &sandbox);
  const DeliveryStepResult done =
      check({{"look", "env; cat $HOME/.ssh/id_ed25519; echo x > " + place.repo() + "/README.md"}});
  if (sandbox.starts_with("none")) GTEST_SKIP() << sandbox;
  EXPECT_THAT(to_json(done.facts), Not(HasSubstr("private\\n")));
  EXPECT_EQ(place.read("repo/README.md"), "# Shop\n");
}

TEST_F(Checking, ASecretInTheChangeBlocks) {
  const std::string key = "ghp_9fK2mQ7xZr4LpW8sVb3NcT6yHj1DgA5eUo0i";
  place.put("trees/run1/src/price.txt", "100\nkey: " + key + "\n");
  const DeliveryStepResult done = step(DeliveryStep::kSecrets);
  EXPECT_FALSE(done.passed);
  EXPECT_THAT(done.findings.at(0).summary, AllOf(HasSubstr("src/price.txt:2"), Not(HasSubstr(key))));
  EXPECT_THAT(to_json(done.facts), Not(HasSubstr(key)));
}

TEST_F(Checking, ASecretInUtf16OrInANameBlocks) {
  const std::string key = "ghp_9fK2mQ7xZr4LpW8sVb3NcT6yHj1DgA5eUo0i";
  parts.secrets = {"known-secret-value"};
  std::string wide = "\xff\xfe";
  for (const char c : "first\nkey = " + key + "\n") wide += {c, '\0'};
  place.put("trees/run1/wide.ini", wide);
  place.put("trees/run1/" + key + "/x", "x\n");
  place.put("trees/run1/a known-secret-value", "x\n");
  const DeliveryStepResult done = step(DeliveryStep::kSecrets);
  ASSERT_EQ(done.findings.size(), 3u);
  EXPECT_THAT(done.findings[0].summary, HasSubstr("wide.ini:2"));
  for (const DeliveryFinding& finding : done.findings) {
    EXPECT_THAT(to_json(finding.to_value()), AllOf(Not(HasSubstr(key)), Not(HasSubstr("known-secret-value"))));
  }
}

TEST_F(Checking, HugeAndBinaryChangesAreScanned) {
  parts.secrets = {"known-secret-value"};
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += "line " + std::to_string(i) + " of a file that is long\n";
  place.put("trees/run1/big.txt", bytes);
  place.put("trees/run1/bin", std::string("\x00\x01", 2) + "known-secret-value" + std::string(100, '\0'));
  ASSERT_GT(bytes.size(), limits::kDiffBytes);
  const DeliveryStepResult done = step(DeliveryStep::kSecrets);
  ASSERT_EQ(done.findings.size(), 1u);
  EXPECT_EQ(done.findings[0].file, "bin");
  EXPECT_GT(done.facts["scanned"].as_integer(), static_cast<std::int64_t>(bytes.size()));
}

TEST_F(Checking, UnusualChangesAreDeliveredUnchanged) {
  spec.files_changed = {"src/", "data/"};
  for (const char* name : {"data/a b", "data/quo\"te", "data/new\nline", "data/\xff raw", "data/--x"}) {
    place.put(std::string("trees/run1/") + name, "x\n");
  }
  place.sh("cd trees/run1 && chmod +x src/other.txt && ln -s price.txt src/link && printf '\\000\\001' > data/binary");
  const Value facts = deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.sh("git -C remote.git ls-tree -r --name-only -z main data | tr -cd '\\0' | wc -c"), "6");
  EXPECT_EQ(place.sh("git -C remote.git ls-tree main src/link src/other.txt | cut -c1-6"), "120000\n100755");
  EXPECT_EQ(place.sh("git -C trees/run1 status --porcelain"), "");
  EXPECT_FALSE(to_canonical_json(facts).empty());
}

TEST_F(Checking, LinksThatPointOutsideBlock) {
  spec.files_changed = {"src/"};
  place.sh("cd trees/run1/src && ln -s /etc/passwd absolute && ln -s ../../.. up && ln -s ../README.md fine");
  const DeliveryStepResult done = step(DeliveryStep::kScope);
  ASSERT_EQ(done.findings.size(), 2u);
  EXPECT_EQ(done.findings[0].file, "src/absolute");
  EXPECT_EQ(done.findings[1].file, "src/up");
}

TEST_F(Checking, LinksAreFollowedThroughOtherLinks) {
  place.sh("cd repo && mkdir -p p/q/e && touch p/q/e/f && ln -s e/../../outside p/q/old && git add -A && " +
           GitFixture::commit("links") + " && git push -q origin main");
  tree = place.tree("run2");
  spec = place.spec(tree, "run2");
  spec.files_changed = {"p/", "src/", "cfg"};
  place.sh(
      "cd trees/run2 && ln -s ../.. p/q/d && ln -s d/../outside p/q/l && ln -s .Git/config cfg && "
      "ln -s d/src/price.txt p/q/fine && ln -s self p/self && ln -s ../missing/../p src/fine");
  DeliveryStepResult done = step(DeliveryStep::kScope);
  const auto files = [&] {
    std::string names;
    for (const DeliveryFinding& finding : done.findings) names += finding.file + " ";
    return names;
  };
  EXPECT_EQ(files(), "cfg p/q/l ");
  EXPECT_THAT(done.findings.at(0).summary, HasSubstr("into .git"));
  // An existing link, through a folder on its path that is a link now.
  place.sh("cd trees/run2 && rm -r cfg p/q/l p/q/e && ln -s ../.. p/q/e");
  done = step(DeliveryStep::kScope);
  EXPECT_EQ(files(), "p/q/old ");
}

TEST_F(Checking, ANestedEmptyRepositoryIsAFinding) {
  place.sh("git init -q trees/run1/lib");
  const DeliveryStepResult done = step(DeliveryStep::kScope);
  EXPECT_FALSE(done.passed);
  EXPECT_EQ(done.findings.at(0).cause, "nested_repository");
}

TEST_F(Checking, ARecordedForgeIsReplayed) {
  store::TempSqliteStore kept;
  const std::unique_ptr<store::Store> store = std::move(*kept.open());
  const auto cassette_of = [&](const std::string& run) { return std::make_shared<agent::Cassette>(*store, run); };
  const auto recording = make_recording_forge(place.local_forge(), cassette_of, place.clock, {"hunter2-hunter2"});
  ASSERT_FALSE(recording->ticket("hunter2-hunter2"));  // before the run is known
  ASSERT_TRUE(recording->set_run("run1", ""));
  DeliveryParts live = place.parts(*recording);
  const Value facts = deliver_through(spec, live, DeliveryStep::kClose);
  place.sh("mv remote.git away.git && git -C repo remote set-url origin ../away.git");
  EXPECT_THAT(to_json(*cassette_of("run1")->to_document()),
              AllOf(Not(HasSubstr("hunter2")), HasSubstr("[redacted: secret]")));
  const auto played = cassette_of("run1");
  const auto replaying = make_replaying_forge(*forge_kind_named("local"), [&](const std::string&) { return played; });
  ASSERT_TRUE(replaying->set_run("run2", ""));
  DeliveryParts offline = place.parts(*replaying);
  Value again = facts;
  for (const DeliveryStep which : {DeliveryStep::kRequest, DeliveryStep::kRequestChecks, DeliveryStep::kMerge,
                                   DeliveryStep::kConfirm, DeliveryStep::kClose}) {
    const DeliveryStepResult done = must(deliver(which, spec, again, offline));
    EXPECT_TRUE(done.passed);
    EXPECT_EQ(done.facts, facts[to_string(which)]) << to_string(which);
  }
  spec.title = "Something else";
  const auto diverged = replaying->open_or_update({"run1", "b", "main", "c", "t", "x"});
  ASSERT_FALSE(diverged);
  EXPECT_THAT(describe(diverged.error()), HasSubstr("replay"));
  EXPECT_THAT(played->diverged_at(), HasSubstr("open_or_update"));
}

}  // namespace
}  // namespace sb::pipeline
