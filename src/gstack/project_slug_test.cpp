#include "gstack/project_slug.hpp"

#include <gtest/gtest.h>

#include "base/git_origin.hpp"
#include "base/testing/fakes.hpp"

namespace sb::gstack {
namespace {

constexpr const char* kConfig = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.org:ann/shop.git\n";

Environment with(const std::string& name, const std::string& value) {
  std::map<std::string, std::string, std::less<>> variables;
  variables[name] = value;
  return Environment(variables);
}

std::string slug_in(FakeFiles& files, const std::string& directory, const Environment& environment = {}) {
  return project_slug(files, environment, "/cache", directory).value();
}

TEST(GitOrigin, AcceptsEveryFormOfAnAddress) {
  for (const char* url :
       {"git@example.org:ann/shop.git", "https://example.org/ann/shop", "ssh://git@example.org/ann/shop.git",
        "https://example.org/group/ann/shop.git/", "/srv/git/ann/shop.git", "../ann/shop"}) {
    EXPECT_EQ(slug_of_origin(url), "ann-shop") << url;
  }
  for (const char* url : {"", "shop", "/", "https:"}) EXPECT_EQ(slug_of_origin(url), "") << url;
}

TEST(GitOrigin, ReadsAConfigurationLikeGit) {
  EXPECT_EQ(origin_in_config(kConfig), "git@example.org:ann/shop.git");
  EXPECT_EQ(origin_in_config("[Remote \"origin\"] URL = \"a b\" ; c\n"), "a b");
  EXPECT_EQ(origin_in_config("[remote \"origin\"]\r\n url = x # y\r\n"), "x");
  EXPECT_EQ(origin_in_config("[remote \"origin\"]\nurl = a\\\nb\n"), "ab");
  EXPECT_EQ(origin_in_config("[remote \"origin\"]\n# url = no\n;url = no\npushurl = no\nurl = yes\nurl = later"),
            "yes");
  EXPECT_EQ(origin_in_config("[remote \"upstream\"]\nurl = x\n"), std::nullopt);
  EXPECT_EQ(origin_in_config("[remote \"Origin\"]\nurl = x\n"), std::nullopt);
  for (const char* broken : {"", "[", "[remote \"origin", "url = x", "[remote \"origin\"]\nurl", "\\"}) {
    EXPECT_EQ(origin_in_config(broken), std::nullopt) << broken;
  }
}

TEST(GitOrigin, FollowsALinkedWorkTree) {
  FakeFiles files;
  files.contents() = {{"/w/tree/.git", "gitdir: /w/main/.git/worktrees/tree\n"},
                      {"/w/main/.git/worktrees/tree/commondir", "../..\n"},
                      {"/w/main/.git/worktrees/tree/../../config", kConfig}};
  EXPECT_EQ(git_origin(files, "/w/tree"), "git@example.org:ann/shop.git");
}

TEST(GitOrigin, ContainsNoPassword) {
  FakeFiles files;
  for (const auto& [url, shown] :
       {std::pair("https://ann:s3cret@example.org/ann/shop.git", "https://example.org/ann/shop.git"),
        std::pair("http://tok@host:8080/a@b", "http://host:8080/a@b"),
        std::pair("https://example.org/a@b", "https://example.org/a@b"),
        std::pair("git@example.org:ann/shop.git", "git@example.org:ann/shop.git")}) {
    files.contents() = {{"/w/.git/config", std::string("[remote \"origin\"]\nurl = ") + url + "\n"}};
    EXPECT_EQ(git_origin(files, "/w"), shown);
  }
}

TEST(GitOrigin, FollowsASubmodule) {
  FakeFiles files;
  files.contents() = {{"/w/sub/.git", "gitdir: ../.git/modules/sub\n"}, {"/w/sub/../.git/modules/sub/config", kConfig}};
  EXPECT_EQ(git_origin(files, "/w/sub"), "git@example.org:ann/shop.git");
  files.contents()["/w/sub/.git"] = "something else";
  EXPECT_EQ(git_origin(files, "/w/sub"), std::nullopt);
}

TEST(Slug, OutermostRepositoryWithAnOriginWins) {
  FakeFiles files;
  files.contents() = {{"/w/outer/.git/config", kConfig},
                      {"/w/outer/inner/.git/config", "[remote \"origin\"]\nurl = x:bob/inner\n"},
                      {"/w/.git/config", "[core]\n"}};
  EXPECT_EQ(slug_in(files, "/w/outer/inner/src"), "ann-shop");
}

TEST(Slug, WithoutAnOriginTheOutermostRootThenTheFolder) {
  FakeFiles files;
  files.contents() = {{"/w/app/package.json", "{}"},
                      {"/w/app/lib/go.mod", ""},
                      {"/w/README.md", ""},
                      {"/d/notes/LICENSE", ""},
                      {"/e/plain/x", ""}};
  EXPECT_EQ(slug_in(files, "/w/app/lib/src"), "app");
  EXPECT_EQ(slug_in(files, "/d/notes/deep/er"), "notes");
  EXPECT_EQ(slug_in(files, "/e/plain"), "plain");
}

TEST(Slug, IsCachedForTheFolder) {
  FakeFiles files;
  files.contents()["/w/app/.git/config"] = kConfig;
  EXPECT_EQ(slug_in(files, "/w/app"), "ann-shop");
  EXPECT_EQ(files.contents()["/cache/slug-cache/_w_app"], "ann-shop");
  files.contents()["/w/app/.git/config"] = "[remote \"origin\"]\nurl = x:bob/moved\n";
  EXPECT_EQ(slug_in(files, "/w/app"), "ann-shop");
}

TEST(Slug, ACacheEntryThatPointsOutsideIsSanitized) {
  FakeFiles files;
  for (const char* cached : {"..", "", "/", "\n"}) {
    files.contents()["/cache/slug-cache/_w_app"] = cached;
    EXPECT_EQ(slug_in(files, "/w/app"), "app");
  }
  files.contents()["/cache/slug-cache/_w_app"] = "../../etc\n";
  EXPECT_EQ(slug_in(files, "/w/app"), "....etc");
}

TEST(Slug, TheVariableWinsAndIsNotCached) {
  FakeFiles files;
  EXPECT_EQ(slug_in(files, "/w/app", with("GSTACK_PROJECT_SLUG", "my/pro ject")), "myproject");
  EXPECT_TRUE(files.contents().empty());
  const auto refused = project_slug(files, with("GSTACK_PROJECT_SLUG", ".."), "/cache", "/w/app");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST(Slug, AReadOnlyHomeIsNotAnError) {
  FakeFiles files;
  files.set_read_only(true);
  EXPECT_EQ(slug_in(files, "/w/app"), "app");
}

TEST(Slug, ANameWithoutValidCharactersGetsADigest) {
  FakeFiles files;
  EXPECT_EQ(slug_in(files, "/w/проект").substr(0, 2), "x-");
  EXPECT_EQ(slug_in(files, "/"), "unknown");
}

TEST(Gap11, NoSessionIdEscapesTheFolder) {
  EXPECT_EQ(path_component("6f1c-ab"), "6f1c-ab");
  for (const std::string& id :
       {std::string("../../x"), std::string(".."), std::string("."), std::string(""), std::string("a/b"),
        std::string("a\0b", 3), std::string(5000, 'a'), std::string(".git")}) {
    const std::string part = path_component(id);
    EXPECT_EQ(part.find('/'), std::string::npos) << id;
    EXPECT_EQ(part.find('\0'), std::string::npos);
    EXPECT_NE(part.front(), '.') << id;
    EXPECT_LE(part.size(), 80u);
  }
  EXPECT_NE(path_component("a/b"), path_component("a?b"));
}

}  // namespace
}  // namespace sb::gstack
