// Git as runs use it: its environment, what it may not do, and how its failures are reported.
#include "pipeline/git/git.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

constexpr const char* kSecret = "s3cret-value-that-nobody-may-see";

// Records commands and runs them.
class Kept final : public Process {
 public:
  explicit Kept(Process& inner) : inner_(inner) {}
  Result<ProcessResult> run(const Command& command) override {
    commands.push_back(command);
    return inner_.run(command);
  }
  std::vector<Command> commands;

 private:
  Process& inner_;
};

TEST(GitRun, GetsItsOwnEnvironment) {
  GitFixture place({{"GIT_DIR", "/nowhere"},
                    {"ANTHROPIC_API_KEY", kSecret},
                    {"GIT_CONFIG_COUNT", "1"},
                    {"GIT_CONFIG_KEY_0", "core.hooksPath"},
                    {"GIT_CONFIG_VALUE_0", "/hooks"},
                    {"SSH_AUTH_SOCK", "/agent"}});
  Kept process(place.process);
  Git git({place.files, place.clock, place.random, process, place.environment, place.streams}, place.repo());
  EXPECT_TRUE(git.run({"status"}));
  const auto& given = *process.commands.back().environment;
  for (const char* name : {"GIT_DIR", "ANTHROPIC_API_KEY", "GIT_CONFIG_COUNT", "SSH_AUTH_SOCK"}) {
    EXPECT_THAT(given, Not(Contains(Key(name))));
  }
  EXPECT_EQ(given.at("GIT_TERMINAL_PROMPT"), "0");
  EXPECT_THAT(process.commands.back().argv, Contains("core.hooksPath=/dev/null"));
  EXPECT_THAT(process.commands.back().argv, Contains("protocol.ext.allow=never"));
}

// It would run on what the agent wrote, with the user's permissions and outside of the sandbox.
TEST(GitRun, AFilterOfTheUserDoesNotRunBecauseAnAgentsAttributesNameIt) {
  GitFixture place;
  place.sh("git config --global filter.own.v1.clean 'touch " + place.directory + "/cleaned; cat'");
  place.sh("git config --global filter.own.v1.smudge 'touch " + place.directory + "/smudged; cat'");
  place.sh("git config --global filter.other.process 'touch " + place.directory + "/processed; false'");
  place.sh("git config --global filter.other.required true");
  place.put("repo/.gitattributes", "*.txt filter=own.v1\n*.md filter=other\n");
  place.put("repo/a.txt", "made by an agent\n");
  place.put("repo/b.md", "made by an agent\n");
  Git git(place.seams, place.repo());
  const std::string base = *git.commit_of("HEAD");
  const auto tree = git.snapshot(base);
  ASSERT_TRUE(tree) << tree.error().to_string();
  EXPECT_TRUE(git.run({"restore", "--source=" + *tree, "--worktree", "--", "a.txt", "b.md"}));
  EXPECT_TRUE(git.run({"status"}));
  for (const char* ran : {"/cleaned", "/smudged", "/processed"}) {
    EXPECT_FALSE(std::filesystem::exists(place.directory + ran)) << ran;
  }
  EXPECT_EQ(*git.run({"cat-file", "blob", *tree + ":a.txt"}), "made by an agent\n");
}

TEST(GitRun, OnlyTheUsualCommandsOfLargeFileStorageRun) {
  GitFixture place;
  place.put("bin/git-lfs", "#!/bin/sh\ntouch " + place.directory + "/lfs-$1\ncat\n");
  place.sh("chmod 755 bin/git-lfs");
  place.sh("git config --global filter.lfs.clean 'git-lfs clean -- %f'");
  place.sh("git config --global filter.lfs.smudge 'touch " + place.directory + "/other; cat'");
  place.put("repo/.gitattributes", "*.bin filter=lfs\n");
  place.put("repo/a.bin", "x\n");
  place.environment = Environment(
      {{"PATH", place.directory + "/bin:/usr/bin:/bin"}, {"HOME", place.environment.get("HOME").value_or("/")}});
  Git git(place.seams, place.repo());
  const auto tree = git.snapshot(*git.commit_of("HEAD"));
  ASSERT_TRUE(tree) << tree.error().to_string();
  EXPECT_TRUE(git.run({"restore", "--source=" + *tree, "--worktree", "--", "a.bin"}));
  EXPECT_TRUE(std::filesystem::exists(place.directory + "/lfs-clean"));
  EXPECT_FALSE(std::filesystem::exists(place.directory + "/other"));
}

TEST(GitRun, ASecretIsOnlyInTheEnvironmentOfItsCommand) {
  GitFixture place;
  Kept process(place.process);
  Git git({place.files, place.clock, place.random, process, place.environment, place.streams}, place.repo());
  // The helper gives it to git and to no other program.
  const auto fill = [&](const char* host) {
    return git.run(GitCall{.words = {"credential", "fill"},
                           .input = fmt::format("protocol=https\nhost={}\n\n", host),
                           .secret = secret_for("https://ada@example.org:8443/x.git\n", kSecret, "example.org"),
                           .is_remote = true,
                           .accepted_codes = {0, 128}});
  };
  EXPECT_THAT(fill("example.org:8443")->output, AllOf(HasSubstr("username=x-access-token"), HasSubstr(kSecret)));
  // Not to another host that a remote redirects to.
  for (const char* host : {"example.org", "evil.example", "example.org.evil.example", "example.org:9"}) {
    EXPECT_THAT(fill(host)->output, Not(HasSubstr(kSecret))) << host;
  }
  for (const char* url : {"https://evil.example/x.git", "git@example.org:x.git", "../remote.git", ""}) {
    EXPECT_TRUE(secret_for(url, kSecret, "example.org").empty()) << url;
  }
  EXPECT_TRUE(git.run({"status"}));
  for (const Command& command : process.commands) {
    for (const std::string& word : command.argv) EXPECT_THAT(word, Not(HasSubstr(kSecret)));
  }
  for (const auto& [name, value] : *process.commands.back().environment) EXPECT_NE(value, kSecret);
  EXPECT_EQ(place.sh(std::string("grep -r ") + kSecret + " . || true"), "");
}

TEST(GitRun, SecretsAreNotInErrors) {
  GitFixture place;
  Git git(place.seams, place.repo());
  const auto failed = git.run(GitCall{.words = {"fetch", std::string("https://ada:") + kSecret + "@127.0.0.1:1/x.git"},
                                      .secret = {kSecret, "https://127.0.0.1:1"},
                                      .is_remote = true});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(failed.error().is_retryable);
  EXPECT_THAT(describe(failed.error()), Not(HasSubstr(kSecret)));
}

TEST(GitRun, FindsTheSecretsInTheConfiguration) {
  GitFixture place;
  place.sh(
      "cd repo && git remote add hub https://ada:hunter2-word@example.org/x.git && "
      "git config url.https://tok_0123456789abcdef@example.org/.insteadOf hub: && "
      "git config http.https://example.org/.extraheader 'AUTHORIZATION: basic eDphYmNkZWY=' && "
      "git remote add ours https://ada@example.org/y.git");
  EXPECT_THAT(secrets_in_configuration(place.seams, place.repo()),
              testing::UnorderedElementsAre("hunter2-word", "tok_0123456789abcdef", "eDphYmNkZWY="));
  EXPECT_THAT(secrets_in_configuration(place.seams, "/nowhere"), testing::IsEmpty());
}

TEST(GitChanges, ADiffOmitsTheGivenFiles) {
  GitFixture place;
  place.put("repo/.signalbox/design.md", "I am not sure\n");
  place.put("repo/.signalbox/*.md", "odd\n");
  place.put("repo/src/new.md", "shown\n");
  Git git(place.seams, place.repo());
  const std::string head = git.commit_of("HEAD").value_or("");
  const auto diff = git.diff(head, 1 << 20, {{'A', ".signalbox/design.md"}});
  ASSERT_TRUE(diff) << describe(diff.error());
  EXPECT_THAT(*diff, AllOf(HasSubstr("shown"), HasSubstr("odd"), Not(HasSubstr("not sure"))));
}

TEST(GitChanges, TextsComeFromTheCommit) {
  GitFixture place;
  place.put("repo/README.md", "changed\n");
  place.put("repo/AGENTS.md", "new\n");
  Git git(place.seams, place.repo());
  const auto texts = git.texts_at("HEAD", {"README.md", "AGENTS.md", "src", "src/price.txt"}, 8);
  ASSERT_TRUE(texts) << describe(texts.error());
  EXPECT_THAT(*texts, testing::UnorderedElementsAre(testing::Pair("README.md", "# Shop\n"),
                                                    testing::Pair("src/price.txt", "100\n")));
  EXPECT_EQ(git.texts_at("HEAD", {"README.md"}, 3)->at("README.md").size(), 4u);
}

TEST(GitRun, RunsNothingFromTheRepository) {
  GitFixture place;
  const std::string mark = place.directory + "/ran";
  place.put("repo/.git/hooks/post-checkout", "#!/bin/sh\ntouch " + mark + "\n");
  place.put("repo/.git/hooks/pre-push", "#!/bin/sh\ntouch " + mark + "\n");
  place.put("repo/.git/hooks/reference-transaction", "#!/bin/sh\ntouch " + mark + "\n");
  place.sh("chmod +x repo/.git/hooks/*; git -C repo config core.fsmonitor 'touch " + mark + "; false'");
  const WorkTree tree = place.tree();
  EXPECT_TRUE(Git(place.seams, tree.path).changes("HEAD"));
  EXPECT_TRUE(
      Git(place.seams, place.repo()).run(GitCall{.words = {"push", "origin", "HEAD:refs/heads/x"}, .is_remote = true}));
  EXPECT_FALSE(
      Git(place.seams, place.repo()).run(GitCall{.words = {"ls-remote", "ext::touch " + mark}, .is_remote = true}));
  EXPECT_FALSE(std::filesystem::exists(mark));
}

// Otherwise an agent that may write the work tree could make us run anything.
TEST(GitRun, DoesNotFollowAGitFileThatPointsElsewhere) {
  GitFixture place;
  const WorkTree tree = place.tree();
  const std::string was = place.read("trees/run1/.git");
  EXPECT_TRUE(git_of_work_tree(place.seams, tree));
  place.sh("git init -q trees/run1/evil && git init -q --separate-git-dir evil.git evil && git init -q trees/run2");
  const std::string lies[] = {"gitdir: evil/.git\n",
                              "gitdir: " + tree.path + "/evil/.git\n",
                              "gitdir: " + place.directory + "/trees/run2/.git\n",
                              "gitdir: " + place.directory + "/evil.git\n",
                              "gitdir: /nowhere\n",
                              "nothing\n",
                              ""};
  for (const std::string& lie : lies) {
    place.put("trees/run1/.git", lie);
    const auto git = git_of_work_tree(place.seams, tree);
    ASSERT_FALSE(git) << lie;
    EXPECT_EQ(git.error().code, ErrorCode::kConflict);
  }
  place.sh("rm trees/run1/.git && ln -s ../../repo/.git trees/run1/.git");
  EXPECT_FALSE(git_of_work_tree(place.seams, tree));
  place.sh("rm trees/run1/.git");
  place.put("trees/run1/.git", was);
  EXPECT_TRUE(git_of_work_tree(place.seams, tree));
}

TEST(GitChanges, ReportsEveryKindOfChange) {
  GitFixture place;
  const WorkTree tree = place.tree();
  place.sh(
      "cd trees/run1 && git rm -q README.md && git mv src/other.txt src/moved.txt && echo 120 > src/price.txt && "
      "ln -s price.txt src/link && echo new > 'src/new file' && chmod +x src/moved.txt && printf 'build/\\n' > "
      ".gitignore && mkdir build && touch build/out && git init -q lib && cd lib && touch a && git add a && " +
      GitFixture::commit("a"));
  const auto changes = Git(place.seams, tree.path).changes(tree.base_commit);
  ASSERT_TRUE(changes) << describe(changes.error());
  std::string all;
  for (const Change& change : *changes) {
    all += std::string(1, change.status) + " " + (change.old_path.empty() ? "" : change.old_path + " > ") + change.path;
    all += std::string(change.is_link ? " link" : "") + (change.is_repository ? " repository" : "") + "\n";
  }
  EXPECT_EQ(
      all,
      "A .gitignore\nD README.md\nA lib repository\nA src/link link\nR src/other.txt > src/moved.txt\nA src/new file\n"
      "M src/price.txt\n");
}

TEST(GitChanges, FileNamesOfAnyBytes) {
  GitFixture place;
  const WorkTree tree = place.tree();
  const std::string names[] = {"a b",   "quo\"te'", "new\nline", "tab\there", "\xff\xfe raw",
                               "--all", "*",        "ünï",       ":(top)x"};
  for (const std::string& name : names) place.put("trees/run1/" + name, "x\n");
  const auto changes = Git(place.seams, tree.path).changes(tree.base_commit);
  ASSERT_TRUE(changes);
  std::vector<std::string> seen;
  for (const Change& change : *changes) seen.push_back(change.path);
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(names));
}

TEST(GitChanges, ReportsADiffOverTheLimit) {
  GitFixture place;
  const WorkTree tree = place.tree();
  place.put("trees/run1/big.txt", std::string(10'000, 'x') + "\n");
  Git git(place.seams, tree.path);
  EXPECT_THAT(git.diff(tree.base_commit, 1 << 20).value(), HasSubstr("+xxxx"));
  EXPECT_EQ(git.diff(tree.base_commit, 5'000).error().code, ErrorCode::kLimit);
}

TEST(GitRun, RecreatesABrokenOrLockedIndex) {
  GitFixture place;
  const WorkTree tree = place.tree();
  Git git(place.seams, tree.path);
  place.put("trees/run1/src/price.txt", "120\n");
  const std::string first = git.snapshot(tree.base_commit).value();
  place.put("repo/.git/worktrees/run1/signalbox-index", "rubbish");
  EXPECT_EQ(git.snapshot(tree.base_commit), first);
  place.put("repo/.git/worktrees/run1/signalbox-index.lock", "");
  EXPECT_EQ(git.snapshot(tree.base_commit), first);
}

// Otherwise the next process would remove the lock of one that is still running.
TEST(GitRun, IndexCommandsEndWithTheProcess) {
  GitFixture place;
  const WorkTree tree = place.tree();
  Kept process(place.process);
  const Seams seams{place.files, place.clock, place.random, process, place.environment, place.streams};
  ASSERT_TRUE(Git(seams, tree.path).snapshot(tree.base_commit));
  int filling = 0;
  for (const Command& command : process.commands) {
    const bool fills =
        std::ranges::any_of(command.argv, [](const auto& word) { return word == "add" || word == "read-tree"; });
    filling += fills;
    EXPECT_TRUE(!fills || command.kill_descendants);
  }
  EXPECT_EQ(filling, 2);
}

TEST(Shown, IsPrintableText) {
  EXPECT_EQ(shown("src/ünï.txt"), "src/ünï.txt");
  EXPECT_EQ(shown("a\nb\x1b[31m\xff"), "a\\x0ab\\x1b[31m\\xff");
  EXPECT_EQ(shown("\xe2\x80\xae"
                  "evil"),
            "\\u{202e}evil");
  EXPECT_EQ(shown("\xe2\x82"), "\\xe2\\x82");
}

// What git prints on a full disk depends on the command.
TEST(GitRun, AFullDiskIsNamed) {
  GitFixture place;
  for (const char* message :
       {"fatal: unable to write loose object file: No space left on device",
        "fatal: sha1 file '/r/.git/index.lock' write error. Out of diskspace",
        "fatal: update_ref failed for ref 'refs/heads/x': couldn't write '/r/.git/refs/heads/x.lock'",
        "fatal: could not write to '.git/worktrees/x/locked': Disk quota exceeded"}) {
    place.put("bin/git", fmt::format("#!/bin/sh\necho \"{}\" >&2\nexit 128\n", message));
    place.sh("chmod +x bin/git");
    const Environment environment(std::map<std::string, std::string, std::less<>>{
        {"PATH", place.directory + "/bin:/usr/bin:/bin"}, {"HOME", place.directory + "/home"}});
    const Seams seams{place.files, place.clock, place.random, place.process, environment, place.streams};
    const auto done = Git(seams, place.repo()).run({"add", "--all"});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kIo) << message;
    EXPECT_THAT(describe(done.error()), HasSubstr("Free disk space"));
  }
}

TEST(GitRun, ADamagedHeadIsNamed) {
  GitFixture place;
  const WorkTree tree = place.tree();
  for (const auto& [folder, file] : {std::pair(place.repo(), std::string("repo/.git/HEAD")),
                                     std::pair(tree.path, std::string("repo/.git/worktrees/run1/HEAD"))}) {
    const std::string before = place.read(file);
    for (const char* head : {"garbage\n", "", "ref: ../../etc/passwd\n"}) {
      place.put(file, head);
      const auto done = Git(place.seams, folder).run({"status"});
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, ErrorCode::kCorrupt) << head;
      EXPECT_THAT(describe(done.error()), AllOf(HasSubstr(file + " is damaged"), HasSubstr("ref: refs/heads/")));
    }
    place.put(file, before);
    EXPECT_TRUE(Git(place.seams, folder).run({"status"}));
  }
}

TEST(GitRun, OtherDamageOfTheRepositoryIsNamedWithWhatToDo) {
  const std::vector<std::tuple<std::string, std::string, std::string>> damages = {
      {"printf 'some garbage in it' > .git/index", "index file", "mv $i $i.damaged"},
      {"printf garbage > .git/packed-refs", "packed-refs", "Repair the named file"},
      {"printf garbage > .git/shallow", "shallow", "Repair the named file"},
      {"printf garbage > .git/refs/heads/main", "HEAD", "below .git/logs"},
      {"rm -rf .git/objects", "objects is missing", "backup"},
      {"rm -rf .git/refs", "refs is missing", "backup"},
      {"for f in .git/objects/*/*; do chmod u+w $f; : > $f; done", "object", "git fsck"}};
  for (const auto& [command, named, remedy] : damages) {
    GitFixture place;
    place.sh("cd repo && " + command);
    Git git(place.seams, place.repo());
    auto done = git.run({"status"});
    if (done) done = git.run({"symbolic-ref", "--short", "HEAD"});
    ASSERT_FALSE(done) << command;
    EXPECT_EQ(done.error().code, ErrorCode::kCorrupt) << command;
    EXPECT_THAT(describe(done.error()), AllOf(HasSubstr(place.repo()), HasSubstr(named), HasSubstr(remedy))) << command;
  }
}

TEST(GitNames, AreLikeGitsOwnFolder) {
  for (const char* path :
       {".git/config", "a/.GIT/config", "a/GIT~1/x", ".git./x", ".git /x", ".g\u200cit/x", ".git::$X/y"}) {
    EXPECT_TRUE(names_git_folder(path)) << path;
  }
  for (const char* path : {".gitignore", ".github/x", "git/x", "a.git/x", ".gitmodules", "\xff.git\xfe"}) {
    EXPECT_FALSE(names_git_folder(path)) << path;
  }
}

// A change may bring attributes that hide its own lines.
TEST(GitDiff, ShowsWhatAttributesHide) {
  GitFixture place;
  const WorkTree tree = place.tree();
  place.put("trees/run1/src/price.txt", "120\n");
  place.put("trees/run1/.gitattributes", "*.txt -diff\n");
  Git git = *git_of_work_tree(place.seams, tree);
  EXPECT_THAT(*git.diff(tree.base_commit, 1 << 20), HasSubstr("+120"));
}

}  // namespace
}  // namespace sb::pipeline
