#include "base/document/yaml_edit.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

std::string edited(const std::string& text, const std::vector<std::string>& path, const Value& value) {
  const Result<Document> document =
      text.empty() ? Document{"c.yaml", "", Value()} : parse_document("c.yaml", text, Syntax::kYaml);
  if (!document) return document.error().to_string();
  const auto result = with_yaml_value(*document, path, value);
  return result ? *result : "error: " + result.error().to_string();
}

TEST(YamlEdit, ReplacesAValueAndKeepsComments) {
  EXPECT_EQ(edited("# mine\nmerge: ask  # for now\nbase: main\n", {"merge"}, Value("auto")),
            "# mine\nmerge: auto  # for now\nbase: main\n");
  EXPECT_EQ(edited("a:\n  b: 'x # y' # note\n", {"a", "b"}, Value(3)), "a:\n  b: 3 # note\n");
  EXPECT_EQ(edited("a: [1, 2]\n", {"a"}, Value(Value::Array{Value("./check")})), "a: [\"./check\"]\n");
}

TEST(YamlEdit, AddsAKeyAtTheRootOrBelowItsParent) {
  EXPECT_EQ(edited("", {"merge"}, Value("ask")), "merge: ask\n");
  EXPECT_EQ(edited("base: main", {"merge"}, Value("ask")), "base: main\nmerge: ask\n");
  EXPECT_EQ(edited("limits:\n    # cost first\n    cost: 3\nbase: main\n", {"limits", "turns"}, Value(5)),
            "limits:\n    turns: 5\n    # cost first\n    cost: 3\nbase: main\n");
  EXPECT_EQ(edited("base: main\n", {"models", "main", "model"}, Value("m")),
            "base: main\nmodels:\n  main:\n    model: m\n");
}

TEST(YamlEdit, QuotesWhatWouldReadAsSomethingElse) {
  EXPECT_EQ(edited("", {"a"}, Value("yes: no")), "a: \"yes: no\"\n");
  EXPECT_EQ(edited("", {"a"}, Value("12")), "a: \"12\"\n");
  EXPECT_EQ(edited("", {"a"}, Value("two\nlines")), "a: \"two\\nlines\"\n");
  EXPECT_EQ(edited("", {"/srv/shop", "confirmations"}, Value("relay")), "\"/srv/shop\":\n  confirmations: relay\n");
}

TEST(YamlEdit, RefusesWhatTakesMoreThanOneLine) {
  for (const std::string text :
       {"a: {b: 1}\n", "a:\n  b: |\n    one\n    two\n", "a:\n  b:\n    - 1\n", "a: {b: 1,\n  c: 2}\n"}) {
    EXPECT_TRUE(edited(text, {"a", "b"}, Value(2)).starts_with("error: c.yaml:")) << text;
  }
  EXPECT_TRUE(edited("a: 1\n", {"a", "b"}, Value(2)).starts_with("error: c.yaml:1:1"));
}

}  // namespace
}  // namespace sb
