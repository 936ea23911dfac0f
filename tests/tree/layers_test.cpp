#include "tree/layers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::tree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kDocument =
    "# Map\n"
    "| folder | holds | may use |\n"
    "|---|---|---|\n"
    "| `src/base` | the ground | nothing of ours |\n"
    "| `src/rules` | pure: the rules | base |\n"
    "| `src/shop` | a shop | rules |\n"
    "| `src/cli` | commands | all |\n"
    "## Planned\n"
    "| `src/net` | the network | base |\n";

SourceTree good_tree() {
  return {{"ARCHITECTURE.md", std::string(kDocument)},
          {"src/base/a.hpp", "#pragma once\n#include <chrono>\n"},
          {"src/rules/b.cpp", "#include \"base/a.hpp\"\n#include <vector>\n"},
          {"src/rules/b_test.cpp", "#include <chrono>\n"},
          {"src/shop/c.cpp", "#include \"base/a.hpp\"\n  #  include \"rules/b.hpp\"\n#include \"shop/c.hpp\"\n"},
          {"src/cli/d.cpp", "#include \"shop/c.hpp\"\n#include <boost/asio.hpp>\n"},
          {"tests/e.cpp", "#include \"cli/d.hpp\"\n"}};
}

Violations after(const std::string& path, const std::string& text) {
  SourceTree tree = good_tree();
  tree[path] = text;
  return check_layers(tree);
}

TEST(Layers, ThisTreeFollowsThem) {
  const SourceTree tree = read_tree(SB_SOURCE_DIR);
  ASSERT_TRUE(tree.contains("src/base/result.hpp"));
  EXPECT_THAT(check_layers(tree), IsEmpty());
}

TEST(Layers, AValidTreePasses) {
  EXPECT_THAT(check_layers(good_tree()), IsEmpty());
}

TEST(Layers, AnUpwardIncludeIsFound) {
  EXPECT_THAT(after("src/base/a.hpp", "\n#include \"rules/b.hpp\"\n"),
              ElementsAre("src/base/a.hpp:2: \"rules/b.hpp\" is not allowed: src/base may not use rules"));
  EXPECT_THAT(after("src/rules/x_test.cpp", "#include \"shop/c.hpp\"\n"), testing::SizeIs(1));
}

TEST(Layers, AnIncludeWithoutItsFolderIsFound) {
  EXPECT_THAT(after("src/shop/c.cpp", "#include \"c.hpp\"\n"), ElementsAre(HasSubstr("not relative to src/")));
}

TEST(Layers, APureFolderThatDoesIoIsFound) {
  EXPECT_THAT(after("src/rules/b.cpp", "#include <chrono>\n"), ElementsAre(HasSubstr("src/rules is pure")));
  EXPECT_THAT(after("src/rules/b.cpp", "#include \"base/files.hpp\"\n"), ElementsAre(HasSubstr("src/rules is pure")));
}

TEST(Layers, CodeForTestsInTheProgramIsFound) {
  SourceTree tree = good_tree();
  tree["src/shop/testing.hpp"] = tree["src/shop/testing/till.hpp"] = "#pragma once\n";
  tree["src/shop/customers.hpp"] = "// For tests: customers who pay in coins.\n#pragma once\n";
  for (const char* header : {"shop/testing.hpp", "shop/testing/till.hpp", "shop/customers.hpp"}) {
    const std::string include = fmt::format("#include \"{}\"\n", header);
    tree["src/shop/c_test.cpp"] = tree["src/shop/testing/queue.cpp"] = include;
    EXPECT_THAT(check_layers(tree), IsEmpty()) << header;
    SourceTree wrong = tree;
    wrong["src/shop/c.cpp"] = include;
    EXPECT_THAT(check_layers(wrong), ElementsAre(HasSubstr("is for tests"))) << header;
  }
}

TEST(Layers, AFolderMissingInTheDocumentOrTheTreeIsFound) {
  EXPECT_THAT(after("src/extra/e.cpp", "\n"), ElementsAre(HasSubstr("src/extra is not in the table")));
  EXPECT_THAT(after("src/net/e.cpp", "\n"), ElementsAre(HasSubstr("listed as planned")));
  SourceTree tree = good_tree();
  tree.erase("src/shop/c.cpp");
  EXPECT_THAT(check_layers(tree), ElementsAre(HasSubstr("src/shop is listed, but has no code")));
}

TEST(Layers, AFolderWithTooManyFilesIsFound) {
  SourceTree tree = good_tree();
  for (int i = 0; i < 35; ++i) tree[fmt::format("src/shop/n{}.cpp", i)] = "";
  for (int i = 0; i < 35; ++i) tree[fmt::format("src/shop/inside/n{}.cpp", i)] = "";
  EXPECT_THAT(check_layers(tree), IsEmpty());
  tree["src/shop/one_test.cpp"] = "";
  EXPECT_THAT(check_layers(tree),
              ElementsAre("src/shop: has 37 files; at most 36 are allowed. Split it into sub-folders by topic."));
}

TEST(Layers, FilesystemOutsideTheFilesSeamIsFound) {
  EXPECT_THAT(after("src/shop/c.cpp", "#include <filesystem>\n"), ElementsAre(HasSubstr("use base/files.hpp")));
  EXPECT_THAT(after("src/base/a.cpp", "#include <filesystem>\n"), IsEmpty());
  EXPECT_THAT(after("src/shop/c_test.cpp", "#include <filesystem>\n"), IsEmpty());
}

TEST(Layers, TheArgumentParserIsIncludedByOneFile) {
  EXPECT_THAT(after("src/cli/d.cpp", "#include <CLI/CLI.hpp>\n"), ElementsAre(HasSubstr("cli/app.hpp")));
  EXPECT_THAT(after("src/cli/app.cpp", "#include <CLI/CLI.hpp>\n"), IsEmpty());
}

TEST(Layers, AnInvalidRowIsFound) {
  EXPECT_THAT(after("ARCHITECTURE.md", std::string(kDocument) + "| `src/odd` | two columns |\n"),
              ElementsAre(HasSubstr("ARCHITECTURE.md:10: the row needs three columns")));
  EXPECT_THAT(after("ARCHITECTURE.md", std::string(kDocument) + "| `src/odd` | typo | bsae |\n"),
              ElementsAre(HasSubstr("\"bsae\", which is not a folder")));
}

TEST(Layers, AsioInAHeaderOrInTooManyFilesIsFound) {
  EXPECT_THAT(after("src/cli/d.hpp", "#include <boost/beast/core.hpp>\n"), ElementsAre(HasSubstr("in a header")));
  SourceTree tree = good_tree();
  for (int i = 0; i < 7; ++i) tree[fmt::format("src/cli/n{}.cpp", i)] = "#include <boost/asio/ip/tcp.hpp>\n";
  EXPECT_THAT(check_layers(tree), IsEmpty());
  tree["src/cli/n8.cpp"] = "#include <boost/beast.hpp>\n";
  EXPECT_THAT(check_layers(tree), ElementsAre("9 files include Asio or Beast; at most 8 are allowed"));
}

}  // namespace
}  // namespace sb::tree
