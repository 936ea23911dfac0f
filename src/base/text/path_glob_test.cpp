#include "base/text/path_glob.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

TEST(PathGlob, Covers) {
  const struct {
    const char *glob, *path;
    bool covers;
  } cases[] = {
      {"src/**", "src/a.cpp", true},
      {"src/**", "src/deep/er/a.cpp", true},
      {"src/**", "src", true},
      {"src/**", "srcs/a", false},
      {"src/*", "src/a", true},
      {"src/*", "src/a/b", false},
      {"*.md", "README.md", true},
      {"*.md", "docs/README.md", false},
      {"**/*.md", "docs/README.md", true},
      {"**/*.md", "README.md", true},
      {"docs", "docs/deep/x", true},
      {"docs/", "docs/x", true},
      {"docs/", "docs", true},
      {"./docs//x", "docs/x", true},
      {"a/**/b/*.c", "a/b/x.c", true},
      {"a/**/b/*.c", "a/1/2/b/x.c", true},
      {"a/**/b/*.c", "a/1/2/c/x.c", false},
      {"src/{a,b}/**", "src/b/x", true},
      {"src/{a,b}/**", "src/c/x", false},
      {"{a,{b,c}}.txt", "c.txt", true},
      {"f[0-9].txt", "f7.txt", true},
      {"f[!0-9].txt", "f7.txt", false},
      {"f[.txt", "f[.txt", true},
      {"?.c", "a.c", true},
      {"?.c", "ab.c", false},
      {"/etc/**", "etc/x", false},
      {"/etc/**", "/etc/x", true},
      {"**", "anything/at/all", true},
      {"Src/**", "src/a", false},
      {"", "a", false},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(glob_covers(each.glob, each.path), each.covers) << each.glob << " " << each.path;
  }
  EXPECT_TRUE(glob_covers("Src/Legacy", "SRC/legacy/a", GlobCase::kIgnored));
}

TEST(PathGlob, HostileGlobTerminates) {
  std::string glob, braces;
  for (int i = 0; i < 300; ++i) glob += "**/*a*";
  for (int i = 0; i < 40; ++i) braces += "{a,b,{c,d}}";
  EXPECT_FALSE(glob_covers(glob, std::string(2'000, 'a') + "/b"));
  (void)glob_covers(braces, std::string(40, 'a'));
}

TEST(LexicallyNormal, RemovesDotDotComponents) {
  EXPECT_EQ(lexically_normal("/a/./b//../c"), "/a/c");
  EXPECT_EQ(lexically_normal("a/.."), ".");
  EXPECT_EQ(lexically_normal("../a/../../b"), "../../b");
  EXPECT_EQ(lexically_normal("/../a"), "/a");
  EXPECT_EQ(lexically_normal(""), ".");
}

}  // namespace
}  // namespace sb
