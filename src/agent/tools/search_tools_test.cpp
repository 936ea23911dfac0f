#include <fmt/format.h>

#include "agent/limits.hpp"
#include "agent/tools/testing.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

void age(const WorkTreeFixture& room, const std::string& name, int hours) {
  const auto path = room.directory + "/" + name;
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(hours));
}

TEST(Glob, ListsNewestFirstAndSkipsBuildFolders) {
  WorkTreeFixture room;
  for (const char* name : {"a.cpp", "src/b.cpp", "src/deep/c.cpp", "src/d.hpp", "node_modules/x/e.cpp", "build/f.cpp",
                           "dist/g.cpp", ".git/h.cpp"}) {
    room.write(std::string("work/") + name, "x");
  }
  age(room, "work/src/b.cpp", 1);
  age(room, "work/a.cpp", 2);
  EXPECT_EQ(room.call("Glob", R"({"pattern": "**/*.cpp"})").text, "src/deep/c.cpp\nsrc/b.cpp\na.cpp\n");
  EXPECT_EQ(room.call("Glob", R"({"pattern": "*.hpp"})").text, "src/d.hpp\n");
  EXPECT_EQ(room.call("Glob", R"({"pattern": "*.cpp", "path": "src"})").text, "src/deep/c.cpp\nsrc/b.cpp\n");
  EXPECT_EQ(room.call("Glob", R"({"pattern": "nothing*"})").text, "No file matches.\n");
  std::filesystem::create_directory_symlink(room.directory + "/elsewhere", room.root + "/out");
  EXPECT_EQ(room.call("Glob", R"({"pattern": "**/secret*"})").text, "No file matches.\n");
}

TEST(Glob, ReturnsAHundredAndReportsTheCut) {
  WorkTreeFixture room;
  for (std::size_t i = 0; i < limits::kGlobResults; ++i) room.write(fmt::format("work/f{}", i), "");
  EXPECT_THAT(room.call("Glob", R"({"pattern": "f*"})").text, Not(HasSubstr("files match")));
  room.write("work/f-one-more", "");
  const std::string text = room.call("Glob", R"({"pattern": "f*"})").text;
  EXPECT_THAT(text, HasSubstr("[101 files match; these are the 100 changed last]"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 101);
}

TEST(Grep, HasThreeOutputs) {
  WorkTreeFixture room;
  room.write("work/a.txt", "one\nTwo\nthree\ntwo\n");
  room.write("work/b.md", "two\n");
  room.write("work/bin", std::string_view("two\0", 4));
  EXPECT_EQ(room.call("Grep", R"({"pattern": "two"})").text, "a.txt\nb.md\n");
  EXPECT_EQ(room.call("Grep", R"({"pattern": "^two$", "output_mode": "content"})").text, "a.txt:4:two\nb.md:1:two\n");
  EXPECT_EQ(room.call("Grep", R"({"pattern": "two", "output_mode": "count", "-i": true, "glob": "*.txt"})").text,
            "a.txt:2\n[2 matches in 1 files]\n");
  EXPECT_EQ(room.call("Grep", R"({"pattern": "three", "output_mode": "content", "context": 1, "path": "a.txt"})").text,
            "a.txt-2-Two\na.txt:3:three\na.txt-4-two\n");
  EXPECT_EQ(room.call("Grep", R"({"pattern": "four"})").text, "No match.\n");
  EXPECT_THAT(room.call("Grep", R"({"pattern": "two", "head_limit": 1})").text,
              HasSubstr("a.txt\n[cut after 1; 2 match"));
  EXPECT_TRUE(room.call("Grep", R"({"pattern": "("})").is_error);
}

TEST(Grep, RespectsItsLimits) {
  WorkTreeFixture room;
  std::string text;
  for (std::size_t i = 0; i < limits::kGrepLines; ++i) text += "hit\n";
  room.write("work/edge", text);
  const std::string edge = room.call("Grep", R"({"pattern": "hit", "output_mode": "content"})").text;
  room.write("work/edge", text + "hit\n");
  const std::string past = room.call("Grep", R"({"pattern": "hit", "output_mode": "content"})").text;
  EXPECT_THAT(past, HasSubstr("[cut after 250; 251 matches in 1 files]"));
  EXPECT_THAT(edge, HasSubstr("edge:250:hit"));
  room.write("work/large", std::string(limits::kGrepFileBytes + 1, 'h'));
  EXPECT_THAT(room.call("Grep", R"({"pattern": "hit"})").text, HasSubstr("[too large to search: large]"));
  EXPECT_THAT(room.call("Grep", R"({"pattern": "hit", "path": "large"})").text,
              HasSubstr("too large to search: large"));
  room.write("work/long", "hit" + std::string(2'000, 'x') + "\n");
  EXPECT_LT(room.call("Grep", R"({"pattern": "hit", "path": "long", "output_mode": "content"})").text.size(), 600u);
}

TEST(Grep, GivesUpOnAPatternMadeToBeSlow) {
  WorkTreeFixture room;
  room.write("work/a", std::string(60, 'a') + "!\naa\n");
  const std::string text = room.call("Grep", R"({"pattern": "^(a+)+$", "output_mode": "content"})").text;
  EXPECT_THAT(text, testing::AllOf(HasSubstr("a:2:aa"), HasSubstr("too expensive for some lines; they were skipped")));
}

TEST(Grep, StopsWhenTheSessionIsStopped) {
  WorkTreeFixture room;
  for (int i = 0; i < 600; ++i) room.write(fmt::format("work/f{}", i), "x");
  Tools tools = make_work_tools(room.place());
  int asked = 0;
  ToolRun run;
  run.should_continue = [&] { return ++asked < 2; };
  run.on_output = [](std::string_view) {};
  EXPECT_THAT(room.call(tools, "Grep", R"({"pattern": "x", "output_mode": "count"})", run).text,
              HasSubstr("search incomplete"));
}

}  // namespace
}  // namespace sb::agent
