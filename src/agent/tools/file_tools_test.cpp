#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/limits.hpp"
#include "agent/tools/edit_text.hpp"
#include "agent/tools/testing.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Read, ShowsNumberedLinesAndParts) {
  WorkTreeFixture room;
  room.write("work/a.txt", "one\ntwo\r\nthree");
  EXPECT_EQ(room.call("Read", R"({"file_path": "a.txt"})").text, "     1\tone\n     2\ttwo\n     3\tthree\n");
  const ToolResult part = room.call("Read", R"({"file_path": "./a.txt", "offset": 2, "limit": 1})");
  EXPECT_EQ(part.text, "     2\ttwo\n");
  EXPECT_EQ(part.facts["path"], Value(room.root + "/a.txt"));
  EXPECT_EQ(room.seen.hash_of(room.root + "/a.txt"), part.facts.string_at("hash"));
  EXPECT_THAT(room.call("Read", R"({"file_path": "a.txt", "offset": 9})").text, HasSubstr("only 3 lines"));
  room.write("work/empty", "");
  EXPECT_THAT(room.call("Read", R"({"file_path": "empty"})").text, HasSubstr("empty"));
}

TEST(Read, LargeFilesAreReadInParts) {
  WorkTreeFixture room;
  std::string text;
  while (text.size() < limits::kReadBytes) text += "0123456789abcde\n";
  room.write("work/edge", text.substr(0, limits::kReadBytes));
  EXPECT_FALSE(room.call("Read", R"({"file_path": "edge"})").is_error);
  room.write("work/past", text.substr(0, limits::kReadBytes) + "x");
  const ToolResult past = room.call("Read", R"({"file_path": "past"})");
  EXPECT_TRUE(past.is_error);
  EXPECT_THAT(past.text, HasSubstr("offset and limit"));
  EXPECT_EQ(room.call("Read", R"({"file_path": "past", "offset": 16385})").text, " 16385\tx\n");
}

TEST(Read, NeverBlocksAndNeverShowsBinaryData) {
  WorkTreeFixture room;
  ASSERT_EQ(::mkfifo((room.root + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(room.call("Read", R"({"file_path": "pipe"})").text, HasSubstr("not a regular file"));
  room.write("work/binary", std::string_view("a\0b", 3));
  EXPECT_THAT(room.call("Read", R"({"file_path": "binary"})").text, HasSubstr("binary file of 3 bytes"));
  room.write("work/latin", "caf\xe9\n");
  EXPECT_THAT(room.call("Read", R"({"file_path": "latin"})").text, HasSubstr("not UTF-8"));
  EXPECT_THAT(room.call("Read", R"({"file_path": "."})").text, HasSubstr("is a folder"));
  EXPECT_THAT(room.call("Read", R"({"file_path": "a\u0000b"})").text, HasSubstr("NUL"));
  EXPECT_THAT(room.call("Read", R"({"file_path": "none"})").text, HasSubstr("does not exist"));
  EXPECT_TRUE(room.call("Read", ("{\"file_path\": \"" + std::string(5'000, 'x') + "\"}").c_str()).is_error);
}

TEST(Read, RedactsSecretsAndKeepsTheLineNumbers) {
  WorkTreeFixture room;
  WorkTreeAccess place = room.place();
  place.secrets = {"the-known-value"};
  Tools tools = make_work_tools(place);
  room.write("work/env",
             "A=the-known-value\n-----BEGIN PRIV"
             "ATE KEY-----\nAAAABBBB\nCCCCDDDD\n-----END PRIV"
             "ATE KEY-----\nlast\n");
  const std::string text = room.call(tools, "Read", R"({"file_path": "env"})").text;
  EXPECT_THAT(text, HasSubstr("     1\tA=[redacted: secret]\n"));
  EXPECT_THAT(text, HasSubstr("     6\tlast\n"));
  // A range that begins inside the key does not show it either.
  EXPECT_THAT(room.call(tools, "Read", R"({"file_path": "env", "offset": 3})").text, Not(HasSubstr("AAAABBBB")));
  EXPECT_THAT(room.call(tools, "Grep", R"({"pattern": "CCCC", "output_mode": "content"})").text, HasSubstr("No match"));
  // The placeholder cannot be written back.
  const ToolResult lost = room.call(tools, "Write", R"({"file_path": "env", "content": "A=[redacted: secret]\n"})");
  EXPECT_THAT(lost.text, HasSubstr("destroy the secret"));
  EXPECT_THAT(room.read("work/env"), HasSubstr("the-known-value"));
}

TEST(Write, ExistingFilesOnlyAfterReadingAndUnchanged) {
  WorkTreeFixture room;
  room.write("work/a.txt", "old\n");
  EXPECT_THAT(room.call("Write", R"({"file_path": "a.txt", "content": "x"})").text, HasSubstr("not read it"));
  room.call("Read", R"({"file_path": "a.txt"})");
  room.write("work/a.txt", "changed by another process\n");
  EXPECT_THAT(room.call("Write", R"({"file_path": "a.txt", "content": "x"})").text, HasSubstr("changed since"));
  EXPECT_EQ(room.read("work/a.txt"), "changed by another process\n");
  room.call("Read", R"({"file_path": "a.txt"})");
  ::chmod((room.root + "/a.txt").c_str(), 0755);
  EXPECT_EQ(room.call("Write", R"({"file_path": "a.txt", "content": "x\ny\n"})").text, "Replaced a.txt (2 lines).");
  struct stat status;
  ::stat((room.root + "/a.txt").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0755u);
  // A file that the agent wrote counts as read.
  EXPECT_FALSE(room.call("Write", R"({"file_path": "a.txt", "content": "z"})").is_error);
  EXPECT_FALSE(room.call("Write", R"({"file_path": "new/deep/b.txt", "content": ""})").is_error);
  EXPECT_TRUE(room.has("work/new/deep/b.txt"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(room.root), {}), 2);  // no temporary file left
}

TEST(Write, AHardLinkElsewhereKeepsItsContent) {
  WorkTreeFixture room;
  std::filesystem::create_hard_link(room.directory + "/elsewhere/secret.txt", room.root + "/link.txt");
  room.call("Read", R"({"file_path": "link.txt"})");
  EXPECT_FALSE(room.call("Write", R"({"file_path": "link.txt", "content": "mine"})").is_error);
  EXPECT_EQ(room.read("elsewhere/secret.txt"), "the-secret");
}

TEST(Write, FailsOnPipesFoldersAndPathsThroughFiles) {
  WorkTreeFixture room;
  ASSERT_EQ(::mkfifo((room.root + "/pipe").c_str(), 0600), 0);
  room.write("work/file", "x");
  std::filesystem::create_directories(room.root + "/folder");
  EXPECT_TRUE(room.call("Write", R"({"file_path": "pipe", "content": "x"})").is_error);
  EXPECT_TRUE(room.call("Write", R"({"file_path": "folder", "content": "x"})").is_error);
  EXPECT_TRUE(room.call("Write", R"({"file_path": "file/below", "content": "x"})").is_error);
  EXPECT_TRUE(room.call("Write", R"({"file_path": ".", "content": "x"})").is_error);
}

TEST(Edit, ReplacesOneOrAll) {
  WorkTreeFixture room;
  room.write("work/a.txt", "one\ntwo\ntwo\n");
  const char* twice = R"({"file_path": "a.txt", "old_string": "two", "new_string": "2"})";
  EXPECT_THAT(room.call("Edit", twice).text, HasSubstr("not read it"));
  room.call("Read", R"({"file_path": "a.txt"})");
  EXPECT_THAT(room.call("Edit", twice).text, HasSubstr("2 times, at lines 2, 3"));
  EXPECT_THAT(room.call("Edit", R"({"file_path": "a.txt", "old_string": "three", "new_string": "3"})").text,
              HasSubstr("not found"));
  EXPECT_FALSE(
      room.call("Edit", R"({"file_path": "a.txt", "old_string": "two", "new_string": "2", "replace_all": true})")
          .is_error);
  EXPECT_EQ(room.call("Edit", R"({"file_path": "a.txt", "old_string": "one", "new_string": "1"})").text,
            "Changed a.txt at line 1.");
  EXPECT_EQ(room.read("work/a.txt"), "1\n2\n2\n");
  EXPECT_THAT(room.call("Edit", R"({"file_path": "none", "old_string": "a", "new_string": "b"})").text,
              HasSubstr("Create it with Write"));
}

TEST(EditText, MatchesCurlyQuotesAndLineEndingsOfTheFile) {
  EXPECT_EQ(edit_text("say “hello” it’s", "\"hello\" it's", "bye", false)->text, "say bye");
  EXPECT_EQ(edit_text("say \"hello\"", "“hello”", "bye", false)->text, "say bye");
  EXPECT_EQ(edit_text("‘a’ ‘a’ b", "'a'", "c", true)->text, "c c b");
  EXPECT_EQ(edit_text("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false)->text, "x\r\ny\r\nc\r\n");
  EXPECT_EQ(edit_text("\xff a \xfe", "a", "b", false)->text, "\xff b \xfe");  // the rest stays byte by byte
  EXPECT_FALSE(edit_text("a", "", "b", false));
  EXPECT_FALSE(edit_text("a", "a", "a", false));
  EXPECT_EQ(edit_text("aaaa", "aa", "a", true)->text, "aa");
}

// `…/work` as the agent may spell it, and a path out of it.
TEST(Fence, StopsEveryWayOut) {
  WorkTreeFixture room;
  room.with_git();
  room.write("work-sibling/x", "the-secret");
  std::filesystem::create_symlink(room.directory + "/elsewhere", room.root + "/out");
  std::filesystem::create_symlink("../elsewhere/secret.txt", room.root + "/file-out");
  std::filesystem::create_symlink(room.directory + "/elsewhere/none", room.root + "/dangling");
  std::filesystem::create_symlink("loop", room.root + "/loop");
  std::filesystem::create_symlink(".git", room.root + "/git");
  std::filesystem::create_directories(room.root + "/sub");
  for (const std::string path : {"../elsewhere/secret.txt",
                                 "sub/../../elsewhere/secret.txt",
                                 "out/secret.txt",
                                 "file-out",
                                 "dangling",
                                 "loop",
                                 "../work-sibling/x",
                                 "/etc/passwd",
                                 "/proc/self/environ",
                                 "/dev/zero",
                                 "../home/.ssh/id",
                                 "../home/.sb/signalbox.db",
                                 ".git",
                                 ".git/config",
                                 "git",
                                 "sub/.GIT/x",
                                 "../repository/.git/config",
                                 "out/../../home/.ssh/id",
                                 "out/new.txt",
                                 "/"}) {
    const std::string input = fmt::format(R"({{"file_path": "{}"}})", path);
    const ToolResult read = room.call("Read", input.c_str());
    EXPECT_TRUE(read.is_error) << path;
    EXPECT_NE(read.refused, "") << path << ": " << read.text;
    EXPECT_THAT(read.text, Not(HasSubstr("the-"))) << path;
    const std::string writing = fmt::format(R"({{"file_path": "{}", "content": "mine"}})", path);
    const ToolResult written = room.call("Write", writing.c_str());
    EXPECT_TRUE(written.is_error) << path;
    EXPECT_NE(written.refused, "") << path << ": " << written.text;
    for (const char* tool : {"Glob", "Grep"}) {
      const std::string search = fmt::format(R"({{"pattern": ".", "path": "{}"}})", path);
      EXPECT_TRUE(room.call(tool, search.c_str()).is_error) << path;
    }
  }
  EXPECT_EQ(room.read("elsewhere/secret.txt"), "the-secret");
  EXPECT_FALSE(room.has("elsewhere/new.txt"));
  EXPECT_FALSE(room.has("elsewhere/none"));
  EXPECT_THAT(room.read("work/.git"), HasSubstr("gitdir:"));
}

TEST(Fence, FollowsALinkThatStaysInside) {
  WorkTreeFixture room;
  room.write("work/real.txt", "text\n");
  std::filesystem::create_symlink("real.txt", room.root + "/link.txt");
  EXPECT_THAT(room.call("Read", R"({"file_path": "link.txt"})").text, HasSubstr("text"));
  EXPECT_FALSE(room.call("Write", R"({"file_path": "link.txt", "content": "other"})").is_error);
  EXPECT_TRUE(std::filesystem::is_symlink(room.root + "/link.txt"));
  EXPECT_EQ(room.read("work/real.txt"), "other");
}

TEST(Fence, ReadableFoldersAreReadOnly) {
  WorkTreeFixture room;
  WorkTreeAccess place = room.place();
  place.readable = {room.directory + "/elsewhere", room.directory + "/home"};
  Tools tools = make_work_tools(place);
  EXPECT_THAT(room.call(tools, "Read", R"({"file_path": "../elsewhere/secret.txt"})").text, HasSubstr("the-secret"));
  EXPECT_NE(room.call(tools, "Write", R"({"file_path": "../elsewhere/b", "content": ""})").refused, "");
  EXPECT_NE(room.call(tools, "Read", R"({"file_path": "../home/.ssh/id"})").refused, "") << "the hidden path is deeper";
}

TEST(Fence, ARestrictedRoleReadsOnlyItsPaths) {
  WorkTreeFixture room;
  room.write("work/src/a.txt", "needle a");
  room.write("work/src/notes/b.txt", "needle b");
  room.write("work/plan.md", "needle plan");
  room.write("work/.signalbox/pitch.md", "needle pitch");
  WorkTreeAccess place = room.place();
  place.only = {"src/**", "!src/notes/**"};
  Tools tools = make_work_tools(place);
  std::vector<std::string> names;
  for (const auto& tool : tools) names.push_back(tool->declaration().name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("Read", "Glob", "Grep"));
  EXPECT_FALSE(room.call(tools, "Read", R"({"file_path": "src/a.txt"})").is_error);
  for (const char* input : {R"({"file_path": "plan.md"})", R"({"file_path": "src/notes/b.txt"})",
                            R"({"file_path": ".signalbox/pitch.md"})", R"({"file_path": "src/../plan.md"})"}) {
    EXPECT_NE(room.call(tools, "Read", input).refused, "") << input;
  }
  EXPECT_EQ(room.call(tools, "Glob", R"({"pattern": "**"})").text, "src/a.txt\n");
  EXPECT_EQ(room.call(tools, "Grep", R"({"pattern": "needle"})").text, "src/a.txt\n");
  EXPECT_THAT(room.call(tools, "Grep", R"({"pattern": "needle", "path": "src/notes"})").text, Not(HasSubstr("b.txt")));
  EXPECT_NE(room.call(tools, "Grep", R"({"pattern": "needle", "path": "plan.md"})").refused, "");
}

TEST(Interlock, AppliesToWriteAndEdit) {
  WorkTreeFixture room;
  room.write("work/src/a.txt", "a");
  room.write("work/docs/b.txt", "b");
  WorkTreeAccess place = room.place();
  guard::OpenStep step;
  step.workspace = room.root;
  step.workflow = "wr.coding-task";
  step.step = "plan";
  step.title = "Plan";
  step.writes = {"docs/**"};
  step.token = "secret-token";
  place.steps = [&] { return guard::OpenStepChain{step}; };
  Tools tools = make_work_tools(place);
  for (const char* path : {"src/a.txt", "docs/../src/new.txt"}) {
    const ToolResult no =
        room.call(tools, "Write", fmt::format(R"({{"file_path": "{}", "content": "x"}})", path).c_str());
    EXPECT_THAT(no.refused, HasSubstr("Plan")) << no.text;
    EXPECT_THAT(no.text, Not(HasSubstr("secret-token")));
    EXPECT_THAT(no.text, HasSubstr("complete_step"));
  }
  EXPECT_FALSE(room.call(tools, "Write", R"({"file_path": "docs/new.txt", "content": "x"})").is_error);
  std::filesystem::create_symlink(room.root + "/src", room.root + "/docs/src");
  EXPECT_NE(room.call(tools, "Write", R"({"file_path": "docs/src/new.txt", "content": "x"})").refused, "");
  place.steps = [] { return fail(ErrorCode::kIo, "the disk is gone"); };
  tools = make_work_tools(place);
  EXPECT_THAT(room.call(tools, "Write", R"({"file_path": "docs/c", "content": "x"})").refused,
              HasSubstr("the disk is gone"));
}

}  // namespace
}  // namespace sb::agent
