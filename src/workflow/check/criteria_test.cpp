#include "workflow/check/criteria.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::workflow {
namespace {

struct Read {
  std::optional<Criteria> criteria;
  Faults faults;
};

Read read(const std::string& json) {
  Read result;
  const auto document = parse_document("c.json", json, Syntax::kJson);
  EXPECT_TRUE(document) << json;
  result.criteria = read_criteria(Reader(*document, result.faults));
  return result;
}

std::string unmet_of(const std::string& criteria, std::string_view notes, const std::string& context = "{}") {
  const Read result = read(criteria);
  EXPECT_TRUE(result.criteria) << criteria << (result.faults.empty() ? "" : result.faults[0].to_string());
  if (!result.criteria) return "?";
  std::string text;
  for (const auto& line : unmet_criteria(*result.criteria, notes, *parse_json(context)))
    text += (text.empty() ? "" : "|") + line;
  return text;
}

TEST(Criteria, EachTypeOfRule) {
  struct Row {
    const char *rule, *good, *bad, *reported;
  } rows[] = {
      {R"({"type":"contains","value":"Risk","message":"m"})", "## Risks", "risk", "m (contain \"Risk\")"},
      {R"({"type":"regex","pattern":"^## ","message":"m"})", "## x", "a\n## x", "m (match ^## )"},
      {R"({"type":"regex","pattern":"^## ","flags":"m","message":"m"})", "a\n## x", "a ## x", "m (match ^## )"},
      {R"({"type":"regex","pattern":"done","flags":"gi","message":"m"})", "DONE", "open", "m (match done)"},
      {R"({"type":"regex","pattern":"a.b","flags":"s","message":"m"})", "a\nb", "a", "m (match a.b)"},
      {R"({"type":"regex","pattern":"b","flags":"y","message":"m"})", "ba", "ab", "m (match b)"},
      {R"({"type":"regex","pattern":"x$","message":"m"})", "x", "x\n", "m (match x$)"},
      {R"({"type":"regex","pattern":"\\u0041","message":"m"})", "A", "B", "m (match \\u0041)"},
      {R"({"type":"length","min":3,"message":"m"})", "äöü", "äö", "m (at least 3 characters)"},
      {R"({"type":"length","max":3,"message":"m"})", "äöü", "äöüä", "m (at most 3 characters)"},
      {R"({"type":"length","min":1,"max":2,"message":"m"})", "a", "", "m (1 to 2 characters)"},
      {R"({"type":"schema","schema":{"type":"object","required":["a"]},"message":"m"})", R"({"a":1})", "{}", "m"},
      {R"({"type":"schema","schema":true,"message":"m"})", "1", "not json", "m"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(unmet_of(row.rule, row.good), "") << row.rule;
    EXPECT_EQ(unmet_of(row.rule, row.bad), row.reported) << row.rule;
    EXPECT_EQ(unmet_of(std::string("[") + row.rule + "]", row.bad), row.reported) << row.rule;
  }
}

const char* const kA = R"({"type":"contains","value":"a","message":"needs a"})";
const char* const kB = R"({"type":"contains","value":"b","message":"needs b"})";

TEST(Criteria, Compose) {
  const std::string both = std::string(kA) + "," + kB;
  EXPECT_EQ(unmet_of("[" + both + "]", ""), "needs a (contain \"a\")|needs b (contain \"b\")");
  EXPECT_EQ(unmet_of("{\"and\":[" + both + "]}", "b"), "needs a (contain \"a\")");
  EXPECT_EQ(unmet_of("{\"or\":[" + both + "]}", "b"), "");
  EXPECT_EQ(unmet_of("{\"or\":[" + both + "]}", "x"),
            "at least one of these is required: needs a (contain \"a\"); needs b (contain \"b\")");
  EXPECT_EQ(unmet_of(std::string("{\"not\":") + kA + "}", "x"), "");
  EXPECT_EQ(unmet_of(std::string("{\"not\":") + kA + "}", "a"), "the notes must not contain \"a\": needs a");
  EXPECT_EQ(unmet_of("{\"not\":{\"or\":[" + both + "]}}", "x"), "");
  EXPECT_EQ(unmet_of("[]", ""), "");
}

TEST(Criteria, ARuleWithAConditionCountsOnlyIfItIsTrue) {
  const std::string rule = R"({"type":"contains","value":"a","message":"needs a","condition":{"var":"big"}})";
  EXPECT_EQ(unmet_of(rule, "x"), "");
  EXPECT_EQ(unmet_of(rule, "x", R"({"big":true})"), "needs a (contain \"a\")");
  // A rule that does not count is ignored: it neither satisfies `or` nor violates `not`.
  EXPECT_EQ(unmet_of("{\"or\":[" + rule + "," + kB + "]}", "x"), "needs b (contain \"b\")");
  EXPECT_EQ(unmet_of("{\"or\":[" + rule + "]}", "x"), "");
  EXPECT_EQ(unmet_of("{\"not\":" + rule + "}", "a"), "");
  EXPECT_EQ(unmet_of("{\"not\":" + rule + "}", "a", R"({"big":true})"), "the notes must not contain \"a\": needs a");
}

TEST(Criteria, FaultsAreOnePerMistake) {
  struct Row {
    const char *json, *pointer, *says;
  } rows[] = {
      {"7", "", "expected an object, found an integer"},
      {R"({"message":"m"})", "", "\"type\" is missing"},
      {R"({"type":"contains","value":"x"})", "", "\"message\" is missing"},
      {R"({"type":"contain","value":"x","message":"m"})", "/type",
       "\"contain\" is not one of: contains, regex, length, schema"},
      {R"({"type":"contains","message":"m"})", "", "a rule of this type needs `value`"},
      {R"({"type":"contains","value":3,"message":"m"})", "/value", "expected a string, found an integer"},
      {R"({"type":"regex","message":"m"})", "", "a rule of this type needs `pattern`"},
      {R"({"type":"regex","pattern":"a","flags":"q","message":"m"})", "/flags", "unknown flag \"q\""},
      {R"({"type":"length","message":"m"})", "", "a rule of this type needs `min` or `max`"},
      {R"({"type":"length","min":3,"max":2,"message":"m"})", "/min", "min 3 is more than max 2"},
      {R"({"type":"length","min":"3","message":"m"})", "/min", "expected a number, found a string"},
      {R"({"type":"schema","message":"m"})", "", "a rule of this type needs `schema`"},
      {R"({"type":"schema","schema":{"typ":"object"},"message":"m"})", "/schema",
       "/typ: \"typ\" is not a keyword of JSON Schema draft-07"},
      {R"({"type":"contains","value":"x","message":"m","mesage":"n"})", "/mesage", "unknown key \"mesage\""},
      {R"({"and":[],"message":"m"})", "/and", "`and` is empty"},
      {R"({"or":{}})", "/or", "expected a list, found an object"},
      {R"({"and":[{"type":"contains","value":"x","message":"m","condition":{"vra":1}}]})", "/and/0/condition/vra",
       "unknown key \"vra\""},
  };
  for (const Row& row : rows) {
    const Read result = read(row.json);
    ASSERT_GE(result.faults.size(), 1u) << row.json;
    EXPECT_EQ(result.faults[0].location.pointer, row.pointer) << row.json;
    EXPECT_EQ(result.faults[0].message, row.says) << row.json;
  }
  const std::string two = std::string("{\"and\":[") + kA + "],\"or\":[" + kB + "]}";
  EXPECT_EQ(read(two).faults.size(), 1u);
  EXPECT_EQ(read(R"({"type":"regex","pattern":"(","message":"m"})").faults.size(), 1u);
}

TEST(Criteria, APatternThatExplodesFailsAndTerminates) {
  const std::string notes = std::string(64, 'a') + "!";
  EXPECT_EQ(unmet_of(R"({"type":"regex","pattern":"^(a+)+$","message":"m"})", notes), "m (match ^(a+)+$)");
}

TEST(Criteria, RequirementsListWhatIsRequired) {
  const Read result = read(std::string(R"([{"type":"length","min":3,"max":9,"message":"l"},)") + kA +
                           R"(,{"type":"contains","value":"q","message":"q","condition":{"var":"no"}},)" +
                           R"({"type":"regex","pattern":"^x","message":"r"},{"or":[)" + kA + "," + kB + "]}," +
                           "{\"not\":" + kB + "}]");
  ASSERT_TRUE(result.criteria);
  EXPECT_EQ(to_json(to_requirements(*result.criteria, Value::object())),
            R"([{"type":"length","min":3,"max":9,"message":"l"},{"type":"contains","value":"a","message":"needs a"},)"
            R"({"type":"regex","value":"^x","message":"r"},{"type":"or","message":"needs a; or: needs b"},)"
            R"({"type":"not","message":"the notes must not contain \"b\": needs b"}])");
}

}  // namespace
}  // namespace sb::workflow
