#include "workflow/schema/json_schema.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/testing/fakes.hpp"
#include "workflow/schema/mismatches.hpp"

namespace sb::workflow {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

Value in_list(Value value) {
  Value list = Value::array();
  list.push_back(std::move(value));
  return list;
}

std::string check(std::string_view schema, std::string_view value) {
  const auto compiled = JsonSchema::compile(json(schema));
  if (!compiled) return "schema: " + compiled.error().location.pointer + " " + compiled.error().message;
  std::string text;
  for (const SchemaViolation& violation : compiled->check(json(value))) {
    text += (text.empty() ? "" : " | ") + violation.pointer + " " + violation.message;
  }
  return text;
}

TEST(JsonSchema, ReportsWhatDoesNotFitAndWhere) {
  const char* kLoop = R"({"type":"object","required":["kind","decision"],"additionalProperties":false,
    "properties":{"kind":{"const":"wr.loop_control"},"decision":{"enum":["continue","stop"]},
                  "loopId":{"type":"string","minLength":1,"maxLength":4}}})";
  struct Row {
    const char* value;
    const char* says;
  } rows[] = {
      {R"({"kind":"wr.loop_control","decision":"stop"})", ""},
      {R"({"kind":"wr.loop_control"})", R"(/decision is missing; it is one of "continue", "stop")"},
      {R"({"kind":"wr.loop_control","decision":"go"})", R"(/decision must be one of "continue", "stop", not "go")"},
      {R"({"kind":"wr.loop_control","decision":"stopp"})",
       R"(/decision must be one of "continue", "stop", not "stopp"; did you mean "stop"?)"},
      {R"({"kind":"wr.loop_control","decison":"stop"})",
       R"( has an unknown member "decison"; did you mean "decision"?)"},
      {R"({"kind":"x","decision":"stop"})", R"(/kind must be "wr.loop_control", not "x")"},
      {R"({"kind":"wr.loop_control","decision":"stop","loopId":""})", "/loopId must not be empty"},
      {R"({"kind":"wr.loop_control","decision":"stop","loopId":"abcde"})",
       "/loopId must have at most 4 characters, not 5"},
      {R"([])", " must be an object, not a list"},
  };
  for (const Row& row : rows) EXPECT_EQ(check(kLoop, row.value), row.says) << row.value;
}

// Each keyword of draft-07, with values that fit and values that do not.
TEST(JsonSchema, EveryKeyword) {
  struct Row {
    const char* schema;
    std::vector<const char*> good, bad;
  } rows[] = {
      {"true", {"1", "null", "{}"}, {}},
      {"false", {}, {"1", "null", "{}"}},
      {"{}", {"1", "[]"}, {}},
      {R"({"type":"null"})", {"null"}, {"0", "false", "\"\""}},
      {R"({"type":"boolean"})", {"true"}, {"1", "\"true\""}},
      {R"({"type":"integer"})", {"1", "-3", "1.0", "1e3"}, {"1.5", "\"1\"", "true"}},
      {R"({"type":"number"})", {"1", "1.5"}, {"\"1\"", "null"}},
      {R"({"type":"string"})", {"\"\""}, {"1", "[]"}},
      {R"({"type":"array"})", {"[]"}, {"{}", "\"\""}},
      {R"({"type":"object"})", {"{}"}, {"[]"}},
      {R"({"type":["string","null"]})", {"\"x\"", "null"}, {"1", "false"}},
      {R"({"const":1})", {"1", "1.0"}, {"2", "true", "\"1\""}},
      {R"({"const":{"a":[1,{"b":null}]}})", {R"({"a":[1,{"b":null}]})"}, {R"({"a":[1,{"b":0}]})", "{}"}},
      {R"({"const":false})", {"false"}, {"0", "null"}},
      {R"({"enum":["a",1,null]})", {"\"a\"", "1", "null"}, {"\"A\"", "2", "false"}},
      {R"({"minimum":3})", {"3", "4", "\"1\""}, {"2", "2.99"}},
      {R"({"maximum":3})", {"3", "2"}, {"3.01"}},
      {R"({"exclusiveMinimum":3})", {"3.01", "\"x\""}, {"3"}},
      {R"({"exclusiveMaximum":3})", {"2.99"}, {"3"}},
      {R"({"multipleOf":2})", {"4", "0", "-6", "\"3\""}, {"3", "7.5"}},
      {R"({"multipleOf":0.1})", {"0.3", "1"}, {"0.35"}},
      {R"({"minLength":2})", {"\"ab\"", "\"äö\"", "[]"}, {"\"ä\""}},
      {R"({"maxLength":2})", {"\"äö\"", "\"\""}, {"\"abc\""}},
      {R"({"pattern":"^a+$"})", {"\"aa\"", "1"}, {"\"ab\"", R"("a\n")", "\"\""}},
      {R"({"pattern":"b"})", {"\"abc\""}, {"\"ac\""}},
      {R"({"format":"date-time"})",
       {"\"2026-11-15T09:30:00Z\"", "\"2026-11-15T09:30:00.5+01:00\"", "7"},
       {"\"2026-11-15\"", "\"soon\""}},
      {R"({"format":"date"})", {"\"2026-11-15\""}, {"\"2026-13-15\""}},
      {R"({"format":"time"})", {"\"09:30:00Z\""}, {"\"25:00:00Z\""}},
      {R"({"format":"email"})", {"\"a@b\""}, {"\"a b@c\"", "\"a\""}},
      {R"({"format":"uri"})", {"\"https://example.com/x\""}, {"\"example\""}},
      {R"({"format":"uuid"})", {"\"01234567-89ab-cdef-0123-456789abcdef\""}, {"\"0123\""}},
      {R"({"minItems":1})", {"[1]", "{}"}, {"[]"}},
      {R"({"maxItems":1})", {"[]", "[1]"}, {"[1,2]"}},
      {R"({"uniqueItems":true})",
       {"[1,2]", "[1,true]", "[[1],[2]]", "[]"},
       {"[1,1.0]", R"([{"a":1,"b":2},{"b":2,"a":1}])"}},
      {R"({"items":{"type":"integer"}})", {"[]", "[1,2]", "\"x\""}, {"[1,\"a\"]"}},
      {R"({"items":[{"type":"integer"},{"type":"string"}]})", {"[]", "[1]", "[1,\"a\",null]"}, {"[\"a\"]", "[1,2]"}},
      {R"({"items":[{"type":"integer"}],"additionalItems":false})", {"[]", "[1]"}, {"[1,2]"}},
      {R"({"items":[{"type":"integer"}],"additionalItems":{"type":"null"}})", {"[1,null]"}, {"[1,2]"}},
      {R"({"contains":{"const":7}})", {"[1,7]", "{}"}, {"[]", "[1]"}},
      {R"({"minProperties":1})", {R"({"a":1})", "[]"}, {"{}"}},
      {R"({"maxProperties":1})", {R"({"a":1})"}, {R"({"a":1,"b":2})"}},
      {R"({"required":["a","b"]})", {R"({"a":1,"b":null})", "[]"}, {R"({"a":1})", "{}"}},
      {R"({"properties":{"a":{"type":"string"}}})", {"{}", R"({"a":"x"})", R"({"b":1})"}, {R"({"a":1})"}},
      {R"({"properties":{"a":true},"additionalProperties":false})", {R"({"a":1})"}, {R"({"b":1})"}},
      {R"({"additionalProperties":{"type":"integer"}})", {R"({"a":1})"}, {R"({"a":"x"})"}},
      {R"({"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false})",
       {R"({"x-a":1})", "{}"},
       {R"({"x-a":"b"})", R"({"y":1})"}},
      {R"({"properties":{"x-a":{"minimum":5}},"patternProperties":{"^x-":{"type":"integer"}}})",
       {R"({"x-a":6})"},
       {R"({"x-a":5.5})", R"({"x-a":4})"}},
      {R"({"propertyNames":{"maxLength":2,"pattern":"^[a-z]*$"}})",
       {R"({"ab":1})", "[]"},
       {R"({"abc":1})", R"({"A":1})"}},
      {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})",
       {"{}", R"({"a":1,"b":1})", R"({"c":1,"d":1})"},
       {R"({"a":1})", R"({"c":1})"}},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", {"1", "2"}, {"0", "3"}},
      {R"({"anyOf":[{"type":"string","pattern":"^a"},{"minimum":5}]})", {"\"ab\"", "6", "null"}, {"4"}},
      {R"({"oneOf":[{"minimum":1},{"maximum":2}]})", {"0", "3"}, {"1", "2"}},
      {R"({"not":{"pattern":"^a"}})", {"\"b\""}, {"\"a\"", "1"}},
      {R"({"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"null"}})", {"\"ab\"", "null"}, {"\"a\"", "1"}},
      {R"({"if":{"type":"string"}})", {"1", "\"a\""}, {}},
      {R"({"$ref":"#/definitions/a","definitions":{"a":{"type":"integer"}}})", {"1"}, {"\"x\""}},
      {R"({"properties":{"n":{"$ref":"#"}},"additionalProperties":false})",
       {R"({"n":{"n":{}}})"},
       {R"({"n":{"m":1}})"}},
      {R"({"items":{"$ref":"#/$defs/a~1b%20c"},"$defs":{"a/b c":{"type":"null"}}})", {"[null]"}, {"[1]"}},
      {R"({"allOf":[{"$ref":"#/definitions/a"},{"pattern":"b"}],"definitions":{"a":{"pattern":"a"}}})",
       {"\"ab\""},
       {"\"a\"", "\"b\""}},
      {R"({"title":"t","description":"d","default":1,"examples":[2],"$comment":"c","$id":"x","readOnly":true,
          "$schema":"http://json-schema.org/draft-07/schema#"})",
       {"1"},
       {}},
  };
  for (const Row& row : rows) {
    for (const char* value : row.good) EXPECT_EQ(check(row.schema, value), "") << row.schema << " " << value;
    for (const char* value : row.bad) {
      const std::string says = check(row.schema, value);
      EXPECT_FALSE(says.empty()) << row.schema << " " << value;
      EXPECT_EQ(says.find("schema:"), std::string::npos) << row.schema << ": " << says;
      EXPECT_EQ(says.find("does not fit its schema"), std::string::npos) << row.schema << " " << value << ": " << says;
    }
  }
}

TEST(JsonSchema, WhatCannotBeEnforcedIsRejected) {
  struct Row {
    const char *schema, *says;
  } rows[] = {
      {"7", "schema:  expected a schema (an object, true or false), found 7"},
      {R"({"typ":"string"})", R"(schema: /typ "typ" is not a keyword of JSON Schema draft-07)"},
      {R"({"unevaluatedProperties":false})",
       R"(schema: /unevaluatedProperties "unevaluatedProperties" is not a keyword of JSON Schema draft-07)"},
      {R"({"contains":true,"minContains":2})",
       R"(schema: /minContains "minContains" is not a keyword of JSON Schema draft-07)"},
      {R"({"dependentRequired":{}})",
       R"(schema: /dependentRequired "dependentRequired" is not a keyword of JSON Schema draft-07)"},
      {R"({"prefixItems":[]})", R"(schema: /prefixItems "prefixItems" is not a keyword of JSON Schema draft-07)"},
      {R"({"$anchor":"a"})", R"(schema: /$anchor "$anchor" is not a keyword of JSON Schema draft-07)"},
      {R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})",
       "schema: /$schema only JSON Schema draft-07 is understood"},
      {R"({"properties":{"a":{"$id":"b"}}})",
       "schema: /properties/a/$id an `$id` inside a schema would change what $ref means"},
      {R"({"$ref":"file:///etc/passwd"})", R"(schema: /$ref $ref "file:///etc/passwd" points outside the schema)"},
      {R"({"$ref":"other.json#/a"})", R"(schema: /$ref $ref "other.json#/a" points outside the schema)"},
      {R"({"$ref":"#name"})", R"(schema: /$ref $ref "#name" points outside the schema)"},
      {R"({"$ref":"#/definitions/no"})", R"(schema: /$ref $ref "#/definitions/no" points to nothing)"},
      {R"({"$ref":"#/definitions/a","minimum":1,"definitions":{"a":true}})",
       R"(schema: /minimum draft-07 ignores "minimum" next to $ref)"},
      {R"({"$ref":"#"})", "schema:  a $ref refers to itself without going deeper into the value"},
      {R"({"anyOf":[{"type":"null"},{"$ref":"#/definitions/a"}],"definitions":{"a":{"not":{"$ref":"#"}}}})",
       "schema:  a $ref refers to itself without going deeper into the value"},
      {R"({"type":"strin"})", R"(schema: /type "strin" is not a type)"},
      {R"({"type":[]})", "schema: /type expected at least one type, found a list"},
      {R"({"enum":[]})", "schema: /enum expected a list of values, not empty, found a list"},
      {R"({"minLength":-1})", "schema: /minLength expected a whole number of at least 0, found -1"},
      {R"({"maxItems":1.5})", "schema: /maxItems expected a whole number of at least 0, found 1.5"},
      {R"({"minimum":"3"})", "schema: /minimum expected a number, found a string"},
      {R"({"exclusiveMinimum":true})", "schema: /exclusiveMinimum expected a number, found true"},
      {R"({"multipleOf":0})", "schema: /multipleOf expected a number above 0, found 0"},
      {R"({"uniqueItems":1})", "schema: /uniqueItems expected true or false, found 1"},
      {R"({"required":"a"})", "schema: /required expected a list of names, found a string"},
      {R"({"required":[1]})", "schema: /required/0 expected a name, found 1"},
      {R"({"required":["a\u0000b"]})", "schema: /required/0 a name contains a NUL character"},
      {R"({"properties":[]})", "schema: /properties expected an object of schemas, found a list"},
      {R"({"properties":{"a":1}})", "schema: /properties/a expected a schema (an object, true or false), found 1"},
      {R"({"allOf":[]})", "schema: /allOf expected a list of schemas, not empty, found a list"},
      {R"({"then":true})", "schema:  `then` or `else` without `if`"},
      {R"({"additionalItems":false})",
       "schema: /additionalItems `additionalItems` without a list of `items` has no effect"},
      {R"({"format":"hostname"})", R"(schema: /format unknown format "hostname")"},
      {R"({"definitions":{"a":{"typ":1}}})",
       R"(schema: /definitions/a/typ "typ" is not a keyword of JSON Schema draft-07)"},
      {R"({"patternProperties":{"(":true}})",
       "schema: /patternProperties/( the pattern `(` does not compile: missing closing parenthesis at character 1"},
  };
  for (const Row& row : rows) EXPECT_EQ(check(row.schema, "1"), row.says) << row.schema;
}

TEST(JsonSchema, ExplainsTheFormThatWasProbablyMeant) {
  const char* kForms = R"({"anyOf":[{"type":"string"},
    {"type":"object","required":["kind","a"],"properties":{"kind":{"const":"a"},"a":{"type":"integer"}}},
    {"type":"object","required":["kind","b","c"],"properties":{"kind":{"const":"b"},"b":{"type":"string"},"c":true}}]})";
  EXPECT_EQ(check(kForms, R"({"kind":"b","b":5,"c":1})"), "/b must be a string, not 5");
  EXPECT_EQ(check(kForms, R"({"kind":"a"})"), "/a is missing; it is a whole number");
  EXPECT_EQ(check(kForms, R"({"kind":"b"})"), "/b is missing; it is a string | /c is missing");
  EXPECT_EQ(check(kForms, "5"), " must be a string or an object, not 5");
  EXPECT_EQ(check(R"({"oneOf":[{"enum":["a","b"]},{"type":"integer"}]})", "\"c\""),
            R"( must be one of "a", "b" or a whole number, not "c")");
  EXPECT_EQ(check(R"({"oneOf":[{"minimum":1},{"maximum":5}]})", "3"),
            " matches more than one of the allowed forms; it must match exactly one");
}

TEST(JsonSchema, ReportsTwentyViolationsAndThatThereAreMore) {
  const auto schema = JsonSchema::compile(json(R"({"items":{"type":"string"}})"));
  Value list = Value::array();
  for (int i = 0; i < 20; ++i) list.push_back(i);
  EXPECT_EQ(schema->check(list).size(), 20U);
  EXPECT_EQ(schema->check(list).back().pointer, "/19");
  list.push_back(20);
  EXPECT_EQ(schema->check(list).size(), 21U);
  EXPECT_EQ(schema->check(list).back().message, "has more faults; these are the first 20");
}

TEST(JsonSchema, HostileSchemasAreLimited) {
  Value deep = Value::object({{"type", "null"}});
  for (int i = 0; i < 1'000; ++i) {
    Value outer = Value::object();
    outer.set("not", std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_EQ(JsonSchema::compile(deep).error().code, ErrorCode::kLimit);
  Value wide = Value::array();
  for (std::size_t i = 0; i <= limits::kSchemaNodes; ++i) wide.push_back(1);
  EXPECT_EQ(JsonSchema::compile(Value::object({{"enum", std::move(wide)}})).error().code, ErrorCode::kLimit);
  // The longest allowed chain of references: parsing it does not use stack.
  Value definitions = Value::object();
  for (int i = 0; i < 1'000; ++i) {
    definitions.set("d" + std::to_string(i), Value::object({{"$ref", "#/definitions/d" + std::to_string(i + 1)}}));
  }
  definitions.set("d1000", Value::object({{"type", "integer"}}));
  const auto chain =
      JsonSchema::compile(Value::object({{"$ref", "#/definitions/d0"}, {"definitions", std::move(definitions)}}));
  ASSERT_TRUE(chain);
  ASSERT_EQ(chain->check(Value(1)).size(), 1u);
  EXPECT_EQ(chain->check(Value(1))[0].message, "is nested too deeply for its schema to be checked");
}

TEST(JsonSchema, ExponentialSchemasGiveUp) {
  const auto schema = JsonSchema::compile(
      json(R"({"oneOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"type":"integer"},{"items":{"$ref":"#"}}]})"));
  ASSERT_TRUE(schema);
  Value deep = Value("x");
  for (int i = 0; i < 60; ++i) deep = in_list(std::move(deep));
  const auto violations = schema->check(deep);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].message, "is too large for its schema to be checked");
}

TEST(JsonSchema, HostileValuesAreLimited) {
  const auto schema = JsonSchema::compile(json(R"({"items":{"$ref":"#"}})"));
  Value deep = Value("x");
  for (int i = 0; i < 1'000; ++i) deep = in_list(std::move(deep));
  ASSERT_EQ(schema->check(deep).size(), 1u);
  EXPECT_EQ(schema->check(deep)[0].message, "is nested deeper than 64 levels");
  Value bytes = Value::object({{"a", "\xff\xfe"}});
  EXPECT_EQ(schema->check(bytes)[0].message, "has a text that is not UTF-8 or contains a NUL");
  EXPECT_EQ(schema->check(Value(std::string("a\0b", 3)))[0].message, "has a text that is not UTF-8 or contains a NUL");
  EXPECT_EQ(schema->check(Value::object({{std::string("a\0", 2), 1}}))[0].message,
            "has a name that is not UTF-8 or contains a NUL");
  const auto exploding = JsonSchema::compile(json(R"({"items":{"pattern":"^(a+)+$"}})"));
  const Value texts = Value(Value::Array(5'000, Value(std::string(60, 'a') + "!")));
  ASSERT_EQ(exploding->check(texts).size(), 1u);
  EXPECT_EQ(exploding->check(texts)[0].message, "takes too long to match `^(a+)+$`");
  // Giving up is not a result, so `not` cannot negate it.
  const auto denied = JsonSchema::compile(json(R"({"not":{"pattern":"^(a+)+$"}})"));
  EXPECT_FALSE(denied->check(Value(std::string(60, 'a') + "!")).empty());
}

TEST(JsonSchema, FiftyMegabytesAreChecked) {
  const auto schema = JsonSchema::compile(json(R"({"type":"array","maxItems":10,"items":{"maxLength":9}})"));
  Value list = Value::array();
  for (int i = 0; i < 50; ++i) list.push_back(std::string(1 << 20, static_cast<char>('a' + i % 26)));
  const auto violations = schema->check(list);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].message, "must have at most 10 items, not 50");
  Value many = Value(Value::Array(limits::kDocumentNodes + 1));
  EXPECT_EQ(schema->check(many)[0].message, "has more than 1000000 values");
}

TEST(JsonSchema, IsThreadSafe) {
  const auto schema = JsonSchema::compile(json(R"({"properties":{"a":{"pattern":"^x+$"}},"required":["a"]})"));
  const Value good = json(R"({"a":"xxx"})"), bad = json(R"({"a":"y"})");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) wrong += !schema->check(good).empty() || schema->check(bad).empty();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(JsonSchema, LargeWholeNumbersAreComparedExactly) {
  EXPECT_EQ(check(R"({"uniqueItems":true})", "[9007199254740992,9007199254740993]"), "");
  EXPECT_EQ(check(R"({"uniqueItems":true})", "[9007199254740993,1,9007199254740993]"),
            " contains the same item twice, at 0 and 2");
  EXPECT_EQ(check(R"({"const":9007199254740993})", "9007199254740993"), "");
  EXPECT_NE(check(R"({"const":9007199254740993})", "9007199254740992"), "");
}

// Findings from before a limit was reached are reported too.
TEST(JsonSchema, GivingUpKeepsEarlierFindings) {
  const auto schema = JsonSchema::compile(json(R"({"items":{"pattern":"^(a+)+$"},"maxItems":1})"));
  const auto violations = schema->check(Value(Value::Array(3, Value(std::string(60, 'a') + "!"))));
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].message, "must have at most 1 item, not 3");
  EXPECT_EQ(violations[1].message, "takes too long to match `^(a+)+$`");
}

// Each level checks two parts against the same value; the work must not double per level, whether it fits or not.
TEST(JsonSchema, NestedFormsAreCheckedInTime) {
  for (const char* keyword : {"anyOf", "oneOf"}) {
    Value schema = Value::object({{"type", "integer"}});
    for (int i = 0; i < 24; ++i) {
      schema = Value::object({{keyword, Value(Value::Array{Value(std::move(schema)), Value(false)})}});
    }
    const auto compiled = JsonSchema::compile(schema);
    ASSERT_TRUE(compiled);
    EXPECT_TRUE(compiled->check(Value(1)).empty());
    const auto violations = compiled->check(Value("x"));
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_NE(violations[0].message, "is too large for its schema to be checked") << keyword;
  }
}

}  // namespace
}  // namespace sb::workflow
