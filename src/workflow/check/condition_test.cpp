#include "workflow/check/condition.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::workflow {
namespace {

struct Read {
  std::optional<Condition> condition;
  Faults faults;
};

Read read(const std::string& json) {
  Read result;
  const auto document = parse_document("c.json", json, Syntax::kJson);
  if (!document) {
    result.faults = {document.error()};
  } else {
    result.condition = read_condition(Reader(*document, result.faults));
  }
  return result;
}

bool evaluate(const std::string& condition, const std::string& context) {
  const Read result = read(condition);
  EXPECT_TRUE(result.condition) << condition << (result.faults.empty() ? "" : ": " + result.faults[0].to_string());
  return result.condition && holds(*result.condition, *parse_json(context));
}

TEST(Condition, EqualsIsLenient) {
  struct Row {
    const char *value, *operand;
    bool equal;
  } rows[] = {
      {R"("high")", R"("high")", true},
      {R"("  HIGH\n")", R"("high ")", true},
      {R"("Straße")", R"("STRASSE")", true},
      {R"(" x")", R"("x")", true},
      {R"("high")", R"("low")", false},
      {"5", R"("5")", true},
      {R"(" 5.0 ")", "5", true},
      {R"("+5")", "5", true},
      {R"("1e2")", "100", true},
      {R"("five")", "5", false},
      {R"("5x")", "5", false},
      {R"("")", "0", true},
      {"5", "5.0", true},
      {"5", "6", false},
      {"true", "true", true},
      {"true", "false", false},
      {R"("true")", "true", true},
      {R"(" YES ")", "true", true},
      {R"("1")", "true", true},
      {"1", "true", true},
      {"2", "true", false},
      {R"("on")", "true", false},
      {R"("no")", "false", true},
      {R"("0")", "false", true},
      {"0", "false", true},
      {R"("False")", "false", true},
      {R"("")", "false", false},
      {"true", R"("yes")", true},
      {"false", R"("yes")", false},
      {"false", "0", true},
      {"null", "null", true},
      {"null", "false", false},
      {"null", R"("")", false},
      {"false", "null", false},
      {"[1,2]", "[1,2]", true},
      {"[1,2]", "[2,1]", false},
      {R"({"a":1})", R"({"a":1})", true},
      {"[1]", "1", false},
  };
  for (const Row& row : rows) {
    const std::string context = std::string(R"({"k":)") + row.value + "}";
    EXPECT_EQ(evaluate(std::string(R"({"var":"k","equals":)") + row.operand + "}", context), row.equal)
        << row.value << " equals " << row.operand;
    EXPECT_EQ(evaluate(std::string(R"({"var":"k","not_equals":)") + row.operand + "}", context), !row.equal);
    EXPECT_EQ(evaluate(std::string(R"({"var":"k","in":["zz",)") + row.operand + "]}", context), row.equal);
  }
}

TEST(Condition, NullEqualsAKeyThatIsNotSet) {
  EXPECT_TRUE(evaluate(R"({"var":"k","equals":null})", "{}"));
  EXPECT_FALSE(evaluate(R"({"var":"k","not_equals":null})", "{}"));
  EXPECT_TRUE(evaluate(R"({"var":"k","not_equals":"x"})", "{}"));
  EXPECT_TRUE(evaluate(R"({"var":"k","in":[1,null]})", "{}"));
  EXPECT_FALSE(evaluate(R"({"var":"k","in":[]})", R"({"k":1})"));
}

TEST(Condition, OnlyJsonNumbersAreOrdered) {
  struct Row {
    const char *op, *value;
    bool holds;
  } rows[] = {{"gt", "4", true},     {"gt", "3", false},      {"gt", "3.5", true},     {"gte", "3", true},
              {"gte", "2", false},   {"lt", "2", true},       {"lt", "3", false},      {"lte", "3", true},
              {"lte", "4", false},   {"gt", R"("4")", false}, {"lt", R"("2")", false}, {"lt", "null", false},
              {"gt", "true", false}, {"gte", "[3]", false}};
  for (const Row& row : rows) {
    EXPECT_EQ(evaluate(std::string(R"({"var":"k",")") + row.op + R"(":3})", std::string(R"({"k":)") + row.value + "}"),
              row.holds)
        << row.value << ' ' << row.op;
  }
  EXPECT_FALSE(evaluate(R"({"var":"k","lt":3})", "{}"));
}

TEST(Condition, TextOperatorsUseTheValueAsText) {
  struct Row {
    const char *op, *operand, *value;
    bool holds;
  } rows[] = {
      {"contains", "AUTH", R"("src/auth/x")", true},
      {"contains", "auth", R"(["ui","Auth"])", true},
      {"contains", "a,b", R"(["a","b"])", true},
      {"contains", "1,true", "[1,true,null]", true},
      {"contains", "12", "4123", true},
      {"contains", "x", "null", false},
      {"contains", "", "null", true},
      {"contains", "critical", R"([{"severity":"critical"}])", true},
      {"contains", "ÄRGER", R"("viel ärger hier")", true},
      {"startsWith", "SRC", R"(" src/x")", true},
      {"startsWith", "x", R"("src/x")", false},
      {"endsWith", ".CPP", R"("a.cpp ")", true},
      {"endsWith", ".h", R"("a.cpp")", false},
      {"matches", "^a+$", R"("AAA")", true},
      {"matches", "^a+$", R"("aab")", false},
      {"matches", R"(\\d{3})", "1234", true},
      {"matches", "^$", "null", true},
      {"matches", "^(a+)+$", R"("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(evaluate(std::string(R"({"var":"k",")") + row.op + R"(":")" + row.operand + R"("})",
                       std::string(R"({"k":)") + row.value + "}"),
              row.holds)
        << row.value << ' ' << row.op << ' ' << row.operand;
  }
}

TEST(Condition, VarAloneIsTruthiness) {
  for (const char* value : {"1", "-1", "true", R"("x")", R"("false")", "[]", "{}", "0.1"}) {
    EXPECT_TRUE(evaluate(R"({"var":"k"})", std::string(R"({"k":)") + value + "}")) << value;
  }
  for (const char* value : {"0", "0.0", "false", R"("")", "null"}) {
    EXPECT_FALSE(evaluate(R"({"var":"k"})", std::string(R"({"k":)") + value + "}")) << value;
  }
  EXPECT_FALSE(evaluate(R"({"var":"k"})", "{}"));
}

TEST(Condition, JoinsNest) {
  const char* context = R"({"a":1,"b":0})";
  EXPECT_TRUE(evaluate("{}", context));
  EXPECT_TRUE(evaluate(R"({"and":[]})", context));
  EXPECT_FALSE(evaluate(R"({"or":[]})", context));
  EXPECT_FALSE(evaluate(R"({"and":[{"var":"a"},{"var":"b"}]})", context));
  EXPECT_TRUE(evaluate(R"({"or":[{"var":"b"},{"var":"a"}]})", context));
  EXPECT_TRUE(evaluate(R"({"not":{"var":"b"}})", context));
  EXPECT_TRUE(evaluate(R"({"and":[{"or":[{"var":"b"},{"not":{"var":"b"}}]},{"var":"a","equals":"1"}]})", context));
}

TEST(Condition, ANameWithDotsIsAKeyFirstAndAPathSecond) {
  EXPECT_TRUE(evaluate(R"({"var":"a.b","equals":1})", R"({"a.b":1,"a":{"b":2}})"));
  EXPECT_TRUE(evaluate(R"({"var":"a.b","equals":2})", R"({"a":{"b":2}})"));
  EXPECT_TRUE(evaluate(R"({"var":"a.b.c","equals":3})", R"({"a":{"b.c":3}})"));
  EXPECT_FALSE(evaluate(R"({"var":"a.b.c"})", R"({"a":{"b":7}})"));
  EXPECT_FALSE(evaluate(R"({"var":"a."})", R"({"a":{"b":7}})"));
}

// WorkRail accepts such a file and uses the first operator.
TEST(Condition, OfSeveralOperatorsTheFirstInTheOrderCounts) {
  EXPECT_TRUE(evaluate(R"({"contains":"zzz","gt":100,"equals":"x","var":"k"})", R"({"k":"x"})"));
  EXPECT_TRUE(evaluate(R"({"lt":1,"gt":2,"var":"k"})", R"({"k":3})"));
  EXPECT_TRUE(evaluate(R"({"and":[{"var":"nothing"}],"var":"k"})", R"({"k":3})"));
  EXPECT_TRUE(evaluate(R"({"or":[],"and":[]})", "{}"));
}

TEST(Condition, FaultsAreOnePerMistake) {
  struct Row {
    const char *json, *pointer, *says;
  } rows[] = {
      {"[]", "", "expected a condition, found a list"},
      {"\"x\"", "", "expected a condition, found a string"},
      {R"({"equals":1})", "", "a comparison without `var` does not say which context key to compare"},
      {R"({"var":5})", "/var", "expected a string, found an integer"},
      {R"({"var":""})", "/var", "`var` is empty"},
      {R"({"var":"k","gt":"3"})", "/gt", "expected a number, found a string"},
      {R"({"var":"k","in":"a"})", "/in", "`in` takes a list, found a string"},
      {R"({"var":"k","contains":3})", "/contains", "expected a string, found an integer"},
      {R"({"var":"k","equal":3})", "/equal", "unknown key \"equal\""},
      {R"({"and":{}})", "/and", "expected a list, found an object"},
      {R"({"and":[{"var":"k"},7]})", "/and/1", "expected a condition, found an integer"},
      {R"({"not":[]})", "/not", "expected a condition, found a list"},
      {R"({"not":{"or":[{"vra":"k"}]}})", "/not/or/0/vra", "unknown key \"vra\""},
  };
  for (const Row& row : rows) {
    const Read result = read(row.json);
    EXPECT_FALSE(result.condition) << row.json;
    ASSERT_EQ(result.faults.size(), 1u) << row.json;
    EXPECT_EQ(result.faults[0].location.pointer, row.pointer) << row.json;
    EXPECT_EQ(result.faults[0].message, row.says) << row.json;
  }
  const Read pattern = read(R"({"var":"k","matches":"(a"})");
  ASSERT_EQ(pattern.faults.size(), 1u);
  EXPECT_NE(pattern.faults[0].message.find("does not compile"), std::string::npos);
}

TEST(Condition, AThousandLevelsAreRejected) {
  std::string json = R"({"var":"k"})";
  for (int i = 0; i < 1'000; ++i) json = R"({"not":)" + json + "}";
  const Read result = read(json);
  EXPECT_FALSE(result.condition);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].code, ErrorCode::kLimit);
}

TEST(Condition, TextForPeople) {
  struct Row {
    const char *json, *text;
  } rows[] = {
      {R"({"and":[{"var":"isTrivial","not_equals":true},{"var":"size","gt":3}]})",
       "isTrivial is not true and size > 3"},
      {R"({"or":[{"var":"a"},{"and":[{"var":"b","lte":2},{"var":"c","in":["x","y"]}]}]})",
       "a is set and not false or (b <= 2 and c is one of \"x\", \"y\")"},
      {R"({"not":{"var":"a","matches":"^x"}})", "not (a matches \"^x\")"},
      {R"({"var":"a","equals":null})", "a is unset"},
      {"{}", "always"},
      {R"({"or":[]})", "never"},
      {R"({"and":[{"var":"a","contains":"q"}]})", "a contains \"q\""},
  };
  for (const Row& row : rows) EXPECT_EQ(to_text(*read(row.json).condition), row.text);
}

TEST(Condition, ReportsTheKeysItUsed) {
  const Read result =
      read(R"({"and":[{"var":"b","gt":1},{"not":{"var":"a.x"}},{"var":"b"},{"var":"long"},{"var":"no"}]})");
  EXPECT_EQ(keys_of(*result.condition), (std::vector<std::string>{"b", "a.x", "long", "no"}));
  Value context = *parse_json(R"({"b":2,"a":{"x":[1,2]},"other":5})");
  context.set("long", std::string(300, 'x'));
  const Value seen = observed_values(*result.condition, context);
  EXPECT_EQ(seen["b"], Value(2));
  EXPECT_EQ(seen["a.x"], *parse_json("[1,2]"));
  EXPECT_EQ(seen["long"], Value(std::string(256, 'x') + "…"));
  ASSERT_NE(seen.find("no"), nullptr);
  EXPECT_TRUE(seen["no"].is_null());
  EXPECT_EQ(seen.find("other"), nullptr);
}

}  // namespace
}  // namespace sb::workflow
