// Hostile content that an agent or a check may leave in a work tree: none of it is run, and none slips through.
#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Hostile : testing::Test {
  GitFixture place;
  std::unique_ptr<Forge> forge = place.local_forge();
  DeliveryParts parts = place.parts(*forge);

  // A git configuration that leaves a trace when it is used.
  std::string armed() const {
    return "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch " + place.directory +
           "/PWNED; true\"\n[filter \"x\"]\n\tclean = \"touch " + place.directory +
           "/PWNED; cat\"\n[remote \"origin\"]\n\turl = " + place.directory + "/remote.git\n\tuploadpack = \"touch " +
           place.directory + "/PWNED; git-upload-pack\"\n";
  }
  void expect_nothing_ran() { EXPECT_FALSE(std::filesystem::exists(place.directory + "/PWNED")); }
  DeliveryStepResult step(DeliveryStep which, const DeliverySpec& spec, const Value& before = Value::object()) {
    return must(deliver(which, spec, before, parts));
  }
  bool has_sandbox() {
    std::string name;
    (void)make_check_runner(place.seams, place.homes(), {}, &name)({"x", "true"}, place.repo());
    return !name.starts_with("none");
  }
  void with_submodule() {
    place.put("home/.gitconfig", "[protocol \"file\"]\n\tallow = always\n");
    place.sh("git init -q -b main lib && cd lib && echo lib > lib.txt && git add -A && " + GitFixture::commit("lib"));
    place.sh("cd repo && git submodule --quiet add \"$PWD/../lib\" vendor/lib && " + GitFixture::commit("with lib") +
             " && git push -q origin main");
  }
};

std::vector<std::string> causes_of(const DeliveryStepResult& done) {
  std::vector<std::string> causes;
  for (const DeliveryFinding& finding : done.findings) causes.push_back(finding.cause);
  return causes;
}

TEST_F(Hostile, ACheckCannotReplaceDotGit) {
  if (!has_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  const WorkTree tree = place.tree();
  const std::string link = place.read("trees/run1/.git");
  DeliverySpec spec = place.spec(tree);
  spec.checks = {{"evil", "rm -rf .git; mv .git x; mkdir .git; echo x > .git; exit 0"}};
  spec.checks_trusted = true;
  place.put("trees/run1/src/price.txt", "120\n");
  deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.read("trees/run1/.git"), link);
}

TEST_F(Hostile, ACheckCannotWriteToItsRepository) {
  if (!has_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  WorkTreeSpec in_place = place.tree_spec();
  in_place.strategy = "none";
  const auto tree = make_work_tree(place.seams, in_place);
  ASSERT_TRUE(tree) << describe(tree.error());
  const std::string settings = place.read("repo/.git/config");
  DeliverySpec spec = place.spec(*tree);
  spec.checks = {{"evil", "echo '[core]' >> .git/config; mkdir .git/hooks/x; rm -rf .git; exit 0"}};
  spec.checks_trusted = true;
  place.put("repo/src/price.txt", "120\n");
  deliver_through(spec, parts, DeliveryStep::kClose);
  EXPECT_EQ(place.read("repo/.git/config"), settings);
}

// Without a sandbox it can be replaced. Then every step detects it.
TEST_F(Hostile, AReplacedDotGitIsAFindingAndNothingRuns) {
  const WorkTree tree = place.tree();
  const DeliverySpec spec = place.spec(tree);
  place.put("trees/run1/src/price.txt", "120\n");
  const Value facts = deliver_through(spec, parts, DeliveryStep::kCommit);
  const auto expect_blocked = [&](const char* how) {
    for (const DeliveryStep which : {DeliveryStep::kHead, DeliveryStep::kScope, DeliveryStep::kChecks,
                                     DeliveryStep::kSecrets, DeliveryStep::kCommit, DeliveryStep::kPush}) {
      const DeliveryStepResult done = step(which, spec, facts);
      EXPECT_FALSE(done.passed) << how << " " << to_string(which);
      EXPECT_THAT(causes_of(done), Contains("work_tree_changed")) << how;
      EXPECT_THAT(done.findings.at(0).summary, testing::HasSubstr("git worktree repair")) << how;
    }
    expect_nothing_ran();
  };
  const std::string link = place.read("trees/run1/.git");
  place.sh("cd trees/run1 && rm .git && git init -q . && git symbolic-ref HEAD refs/heads/signalbox/run1");
  place.put("trees/run1/.git/config", armed());
  expect_blocked("a repository");
  place.sh("cd trees/run1 && mv .git ../../elsewhere && echo \"gitdir: $PWD/../../elsewhere\" > .git");
  place.put("elsewhere/gitdir", tree.path + "/.git\n");
  expect_blocked("a link to another");
  place.sh("cd trees/run1 && rm .git && ln -s ../../elsewhere .git");
  expect_blocked("a symbolic link");
  place.sh("cd trees/run1 && rm .git");
  expect_blocked("none");
  place.put("trees/run1/.git", link);
  EXPECT_TRUE(step(DeliveryStep::kPush, spec, facts).passed);
}

TEST_F(Hostile, GitIsNotRunInASubmodule) {
  with_submodule();
  const WorkTree tree = place.tree();
  DeliverySpec spec = place.spec(tree);
  place.put("trees/run1/src/price.txt", "120\n");
  place.sh(
      "cd trees/run1/vendor/lib && cp -r \"$(sed 's/gitdir: //' .git)\" ../moved && rm .git && mv ../moved .git && "
      "mkdir -p .git/info && echo '* filter=x' > .git/info/attributes && touch -d 2001-01-01 lib.txt");
  place.put("trees/run1/vendor/lib/.git/config", armed());
  const DeliveryStepResult scope = step(DeliveryStep::kScope, spec);
  EXPECT_THAT(causes_of(scope), Contains("nested_repository"));
  EXPECT_EQ(scope.findings.at(0).file, "vendor/lib");
  place.sh("touch -d 2002-01-01 trees/run1/vendor/lib/lib.txt");
  EXPECT_EQ(remove_work_tree(place.seams, place.repo(), tree, "").error().code, ErrorCode::kConflict);
  expect_nothing_ran();
}

TEST_F(Hostile, SubmodulesCountByTheirCommit) {
  with_submodule();
  const WorkTree tree = place.tree();
  Git git = git_of_work_tree(place.seams, tree).value();
  const auto list_changes = [&] {
    const auto changes = git.changes(tree.base_commit);
    EXPECT_TRUE(changes) << (changes ? "" : describe(changes.error()));
    std::string text;
    if (!changes) return text;
    for (const Change& change : *changes) {
      text += change.status + (" " + change.path) + ";";
    }
    return text;
  };
  place.put("trees/run1/vendor/lib/more.txt", "not committed there\n");
  EXPECT_EQ(list_changes(), "");
  place.sh("cd trees/run1/vendor/lib && git add -A && " + GitFixture::commit("more"));
  EXPECT_EQ(list_changes(), "M vendor/lib;");
  place.sh("cd trees/run1/vendor/lib && git reset -q --hard HEAD~");
  EXPECT_EQ(list_changes(), "");
  place.sh("rm -rf trees/run1/vendor/lib");
  EXPECT_EQ(list_changes(), "D vendor/lib;");
}

TEST_F(Hostile, AFileReplacedByARepositoryBlocks) {
  const WorkTree tree = place.tree();
  const DeliverySpec spec = place.spec(tree);
  place.sh(
      "cd trees/run1/src && rm price.txt && git init -q price.txt && cd price.txt && echo a > a.txt && git add -A && " +
      GitFixture::commit("x") + " && mkdir -p .git/info && echo '* filter=x' > .git/info/attributes");
  place.put("trees/run1/src/price.txt/.git/config", armed());
  for (int times = 0; times < 2; ++times) {
    place.sh("touch -d 200" + std::to_string(times) + "-01-01 trees/run1/src/price.txt/a.txt");
    EXPECT_THAT(causes_of(step(DeliveryStep::kScope, spec)), Contains("nested_repository"));
  }
  expect_nothing_ran();
}

}  // namespace
}  // namespace sb::pipeline
