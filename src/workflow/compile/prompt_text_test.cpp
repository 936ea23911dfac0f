#include "workflow/compile/prompt_text.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::workflow {
namespace {

TEST(PromptText, FillsInContextValues) {
  const Value context = *parse_json(R"({"name":"Ada","n":3,"half":0.5,"whole":2.0,"yes":true,"none":null,"_x1":"u",
      "list":["a","b"],"obj":{"title":"T","deep":{"er":7}},"text":"äöü","a.b":"dotted","long":")" +
                                    std::string(80, 'z') + R"("})");
  struct Row {
    const char *text, *filled;
  } rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"Hello {{name}}!", "Hello Ada!"},
      {"{{name}}{{n}}", "Ada3"},
      {"{{half}} {{whole}} {{yes}}", "0.5 2 true"},
      {"{{_x1}}", "u"},
      {"{{obj.title}}", "T"},
      {"{{obj.deep.er}}", "7"},
      {"{{list}}", R"(["a","b"])"},
      {"{{obj.deep}}", R"({"er":7})"},
      {"{{list.length}} {{text.length}}", "2 3"},
      {"{{a.b}}", "dotted"},
      {"{{missing}}", "[unset: missing]"},
      {"{{none}}", "[unset: none]"},
      {"{{obj.nope.x}}", "[unset: obj.nope.x]"},
      {"{{obj.length}}", "[unset: obj.length]"},
      {"{{n.x}}", "[unset: n.x (n is an integer: 3)]"},
      {"{{list.x}}", R"([unset: list.x (list is a list: ["a","b"])])"},
      {"{{n.length}}", "[unset: n.length (n is an integer: 3)]"},
      {"{{name.x.y}}", "[unset: name.x.y (name is a string: Ada)]"},
  };
  for (const Row& row : rows) EXPECT_EQ(fill_in(row.text, context), row.filled) << row.text;
  EXPECT_EQ(fill_in("{{long.x}}", context), "[unset: long.x (long is a string: " + std::string(60, 'z') + "…)]");
}

TEST(PromptText, LeavesOtherTextUnchanged) {
  const Value context = *parse_json(R"({"a":"X","wr":{"bindings":"no"},"wrap":1})");
  for (const char* text : {"{a}", "{{ a }}", "{{a b}}", "{{1a}}", "{{a.}}", "{{.a}}", "{{a-b}}", "{{a", "a}}", "{{}}",
                           "{{wr.bindings.x}}", "{{a ? 1 : 2}}", "{{a.1}}"}) {
    EXPECT_EQ(fill_in(text, context), text);
  }
  EXPECT_EQ(fill_in("{{{a}}}", context), "{X}");
  EXPECT_EQ(fill_in("{{{{a}}", context), "{{X");
  EXPECT_EQ(fill_in("{{wrap}}", context), "1");
}

TEST(PromptText, FilledInTextIsNotExpandedAgain) {
  EXPECT_EQ(fill_in("{{a}}", *parse_json(R"({"a":"{{b}}","b":"secret"})")), "{{b}}");
}

TEST(PromptText, ListsTheNames) {
  EXPECT_EQ(names_in("{{a.b}} {{c}} {{a}} {{wr.x}} {{ d }}"), (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(names_in("").empty());
}

TEST(PromptText, AMegabyteOfBracesIsRead) {
  const std::string text(1 << 20, '{');
  EXPECT_EQ(fill_in(text, Value::object()), text);
}

TEST(PromptText, FillsInArgumentsInSingleBraces) {
  const Value context = *parse_json(R"({"name":"Ada","n":3,"list":[1],"evil":"{name} {{name}}"})");
  const std::string text = "`{name}` {n} {{name}} {list} {missing} {\"kind\": 1} \\{name} { name } {evil}";
  EXPECT_EQ(fill_in(text, context), "`{name}` {n} Ada {list} {missing} {\"kind\": 1} \\{name} { name } {evil}");
  EXPECT_EQ(fill_in(text, context, Braces::kIfSet),
            "`Ada` 3 Ada [1] {missing} {\"kind\": 1} \\Ada { name } {name} {{name}}");
  EXPECT_EQ(fill_in(text, context, Braces::kArguments),
            "`Ada` 3 Ada [1] [unset: missing] {\"kind\": 1} {name} { name } {name} {{name}}");
}

TEST(PromptText, OfALongValueTheBeginningAndTheSizeAreShown) {
  const Value context = *parse_json(R"({"short":"abc","long":")" + std::string(100, 'x') + R"(","list":[1,2]})");
  Filler filler(context, Braces::kIfSet, {.value_bytes = 10, .all_bytes = 20, .where = "`show s-1`"});
  EXPECT_EQ(filler.fill("{short} {{long}}!"),
            "abc " + std::string(10, 'x') + "… [long: 100 bytes in total; all of it: `show s-1`]!");
  EXPECT_EQ(filler.shown_whole(), (std::set<std::string, std::less<>>{"short"}));
  EXPECT_EQ(filler.fill("{list} {long}"), "[1,2] xx… [long: 100 bytes in total; all of it: `show s-1`]");
  EXPECT_EQ(filler.fill("{{long}} {{missing}}"),
            "… [long: 100 bytes in total; all of it: `show s-1`] [unset: missing]");
  EXPECT_EQ(filler.shown_whole(), (std::set<std::string, std::less<>>{"list", "short"}));
}

TEST(PromptText, ATitleStaysShort) {
  const Value context = Value::object({{"long", std::string(5'000, 'x')}});
  EXPECT_EQ(fill_in_line("Fix {{long}}", context), "Fix " + std::string(240, 'x') + "… [long: 5000 bytes in total]");
}

}  // namespace
}  // namespace sb::workflow
