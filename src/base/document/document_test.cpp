#include "base/document/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/faults.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"

namespace sb {
namespace {

Result<Document> json(std::string text) {
  return parse_document("f.json", std::move(text));
}
Result<Document> yaml(std::string text) {
  return parse_document("f.yaml", std::move(text));
}

TEST(Document, JsonAndYamlGiveTheSameTree) {
  const auto a = json(R"({"a": [1, 2.5, "x", null, true], "b": {"c": "d"}})");
  const auto b = yaml("a: [1, 2.5, x, null, true]\nb:\n  c: d\n");
  ASSERT_TRUE(a && b) << (b ? "" : b.error().to_string());
  EXPECT_EQ(to_json(a->root), to_json(b->root));
}

TEST(Document, DuplicateKeyIsRejectedInBothWithItsLocation) {
  const auto a = json("{\"a\": 1,\n \"b\": {\"x\": 1,\n  \"x\": 2}}");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().to_string(), "f.json:3:3: /b/x: duplicate key \"x\". Keep only one.");
  const auto b = yaml("a: 1\nb:\n  x: 1\n  x: 2\n");
  ASSERT_FALSE(b);
  EXPECT_EQ(b.error().to_string(), "f.yaml:4:3: /b/x: duplicate key \"x\". Keep only one.");
}

TEST(Document, DuplicateKeyIsFoundInALargeObject) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_TRUE(json(text + "\"z\":1}"));
  EXPECT_FALSE(json(text + "\"k500\":1}"));
}

TEST(Document, ColumnsCountCodePoints) {
  const auto a = json("{\"ключ\": \"знач\", \"b\": {\"c\": [1, {\"d\": 2}]}}");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->location_of("/b").line, 1);
  EXPECT_EQ(a->location_of("/b").column, 18);
  const auto b = yaml("steps:\n  - key: a\n  - key: b\n    title: x\n");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->location_of("/steps/1").line, 3);
  EXPECT_EQ(b->location_of("/steps/1/title").line, 4);
  EXPECT_EQ(b->location_of("/steps/1/title").column, 5);
}

TEST(Document, LocatesValuesInJsonThatIsUnusualYaml) {
  const auto tabs = json("{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [\"x\\/y \\ud83d\\ude00\", 2]\n\t}\n}");
  ASSERT_TRUE(tabs) << tabs.error().to_string();
  EXPECT_EQ(tabs->location_of("/b").line, 3);
  EXPECT_EQ(tabs->location_of("/b/c").line, 4);
  EXPECT_EQ(tabs->location_of("/b/c/1").line, 4);
  const auto compact = json(R"({"a":1,"b":{"c":"d:e","f":["#x"]},"g":2})");
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->location_of("/b/f/0").column, 28);
  EXPECT_EQ(compact->location_of("/g").column, 35);
}

TEST(Document, SyntaxErrorsNameLineAndColumn) {
  const auto a = json("{\"a\": 1,\n\"b\": }");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().location.line, 2);
  const auto b = yaml("a: 1\nb: [1, 2\nc: 3\n");
  ASSERT_FALSE(b);
  EXPECT_GE(b.error().location.line, 2);
}

TEST(Document, ABraceAlsoBeginsYaml) {
  const std::string flow = "{flow: ship, steps: [{key: 'a'}]}";
  for (const char* name : {"declaration", "f.yaml"}) EXPECT_TRUE(parse_document(name, flow)) << name;
  EXPECT_FALSE(parse_document("f.json", flow));
  const auto neither = parse_document("declaration", "{\"a\": 1,\n\"b\": [}");
  ASSERT_FALSE(neither);
  EXPECT_TRUE(neither.error().to_string().starts_with("declaration:2:7: invalid JSON")) << neither.error().to_string();
}

TEST(Document, DepthIsLimitedInBoth) {
  const std::string deep(10'000, '[');
  const auto a = json(deep);
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().code, ErrorCode::kLimit) << a.error().to_string();
  const auto b = parse_document("f.yaml", "a: " + deep + std::string(10'000, ']'), Syntax::kYaml);
  ASSERT_FALSE(b);
  const std::string edge = std::string(limits::kDocumentDepth, '[') + std::string(limits::kDocumentDepth, ']');
  EXPECT_TRUE(json(edge)) << json(edge).error().to_string();
  EXPECT_FALSE(json("[" + edge + "]"));
}

// Found by the document fuzzer.
TEST(Document, LongNumbersReadTheSameInBoth) {
  const std::string number = "4" + std::string(43, '6');
  EXPECT_EQ(json("[" + number + "]")->root.items()[0].as_number(), yaml("- " + number)->root.items()[0].as_number());
  EXPECT_EQ(json("[" + number + "]")->root.items()[0].as_number(), std::stod(number));
}

TEST(Document, JsonNodesAreCounted) {
  std::string many = "[";
  for (std::size_t i = 1; i < limits::kDocumentNodes; ++i) many += i == 1 ? "1" : ",1";
  EXPECT_TRUE(json(many + "]"));
  const auto over = json(many + ",1]");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kLimit);
}

TEST(Document, AliasesAreFollowedWithinLimits) {
  const auto fine = yaml("base: &b {x: 1}\nuse: *b\n");
  ASSERT_TRUE(fine) << fine.error().to_string();
  EXPECT_EQ(to_json(fine->root), R"({"base":{"x":1},"use":{"x":1}})");
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) laughs += "*a" + std::to_string(i - 1) + (j < 9 ? ", " : "]\n");
  }
  const auto b = yaml(laughs);
  ASSERT_FALSE(b);
  EXPECT_EQ(b.error().code, ErrorCode::kLimit);
  const auto own = yaml("a: &a {b: *a}\n");
  ASSERT_FALSE(own);
}

TEST(Document, InvalidBytesAreRejected) {
  EXPECT_FALSE(json("{\"a\": \"\xff\"}"));
  EXPECT_FALSE(json(std::string("{\"a\": \"\0\"}", 10)));
  EXPECT_FALSE(json(""));
  EXPECT_FALSE(json(" \n"));
  EXPECT_FALSE(json("{} {}"));
  EXPECT_FALSE(yaml("a: 1\n---\nb: 2\n"));
  EXPECT_FALSE(json("{\"a\": 1e999}"));
  EXPECT_TRUE(yaml("---\na: 1\n"));
}

TEST(Document, YamlScalarsFollowTheCoreSchema) {
  const auto d =
      yaml("a: yes\nb: 0x1F\nc: \"1\"\nd: 1.5e3\ne: ~\nf: 1.2.3\ng: -7\nh: !!str 5\ni: 08:30\nj: +4\nk: .5\nl: v1\n");
  ASSERT_TRUE(d) << d.error().to_string();
  EXPECT_EQ(
      to_json(d->root),
      R"({"a":"yes","b":31,"c":"1","d":1500,"e":null,"f":"1.2.3","g":-7,"h":"5","i":"08:30","j":4,"k":0.5,"l":"v1"})");
}

TEST(Reader, FaultsNameLocationAndRemedy) {
  const auto d = yaml("name: 5\ncolour: red\nlist: 3\nkidn: x\n");
  ASSERT_TRUE(d);
  Faults faults;
  Fields fields = Reader(*d, faults).fields();
  EXPECT_FALSE(fields.string("name"));
  EXPECT_FALSE(fields.string("missing", Need::kRequired));
  enum class Colour { kBlue };
  static constexpr std::pair<std::string_view, Colour> kColours[] = {{"blue", Colour::kBlue}};
  EXPECT_FALSE(fields.choice<Colour>("colour", kColours));
  fields.items("list");
  fields.string("kind");
  fields.finish();
  ASSERT_EQ(faults.size(), 5u);
  EXPECT_EQ(faults[0].to_string(), "f.yaml:1:1: /name: expected a string, found an integer. Put it in quotes: \"5\".");
  EXPECT_EQ(faults[1].message, "\"missing\" is missing");
  EXPECT_EQ(faults[4].to_string(), "f.yaml:4:1: /kidn: unknown key \"kidn\". Did you mean kind?");
}

TEST(Reader, SaysThatThereAreMoreFaultsThanItReports) {
  std::string text;
  Faults faults;
  const auto read = [&](std::size_t count) {
    while (static_cast<std::size_t>(std::ranges::count(text, '\n')) < count)
      text += fmt::format("k{}: 1\n", text.size());
    faults.clear();
    const auto d = yaml(text);
    Fields fields = Reader(*d, faults).fields();
    fields.finish();
    sort_faults(faults);
  };
  read(limits::kFaults);
  ASSERT_EQ(faults.size(), limits::kFaults);
  EXPECT_EQ(faults.back().location.line, 50);
  read(limits::kFaults + 30);
  ASSERT_EQ(faults.size(), limits::kFaults + 1);
  EXPECT_EQ(faults.back().to_string(), "f.yaml: only 50 faults are shown. Fix these and check again.");
}

}  // namespace
}  // namespace sb
