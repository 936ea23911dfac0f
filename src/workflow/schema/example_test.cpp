#include "workflow/schema/example.hpp"

#include <gtest/gtest.h>

#include "workflow/schema/json_schema.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

Value schema_from(const std::string& yaml) {
  return document_from(yaml).root;
}

struct Case {
  const char* schema;
  const char* example;
};

TEST(SchemaExample, IsTheSmallestThatFits) {
  const Case cases[] = {
      {"{const: 7}", "7"},
      {"{enum: [Low, High]}", "\"Low\""},
      {"{type: boolean}", "false"},
      {"{type: 'null'}", "null"},
      {"{type: string}", "\"example\""},
      {"{type: string, minLength: 12}", "\"example example\""},
      {"{type: string, pattern: '^[A-Z]+-[0-9]+$'}", "\"EX-1\""},
      {"{type: integer, minimum: 3}", "3"},
      {"{type: number, maximum: 0.5}", "0.5"},
      {"{type: [integer, 'null']}", "1"},
      {"{type: array}", "[]"},
      {"{type: array, minItems: 2, items: {type: string}}", "[\"example\",\"example-2\"]"},
      {"{type: array, minItems: 2, items: {type: object, required: [id], properties: {id: {type: string}}}}",
       "[{\"id\":\"example\"},{\"id\":\"example-2\"}]"},
      {"{type: array, contains: {const: none}}", "[\"none\"]"},
      {"{type: object, properties: {a: {type: string}}}", "{}"},
      {"{type: object, required: [a, b], properties: {a: {type: integer}}}", "{\"a\":1,\"b\":\"example\"}"},
      {"{anyOf: [{type: array, maxItems: 0}, {type: string}]}", "[]"},
      {"{allOf: [{required: [a]}, {required: [b]}], properties: {a: {const: 1}, b: {const: 2}}}", "{\"a\":1,\"b\":2}"},
      {"{definitions: {id: {type: string, maxLength: 2}}, type: object, required: [id], properties: {id: {$ref: "
       "'#/definitions/id'}}}",
       "{\"id\":\"1\"}"},
  };
  for (const Case& one : cases) {
    const auto example = example_of(schema_from(one.schema));
    ASSERT_TRUE(example) << one.schema;
    EXPECT_EQ(to_json(*example), one.example) << one.schema;
  }
}

TEST(SchemaExample, IsNothingRatherThanWrong) {
  for (const char* schema :
       {"{type: string, pattern: '^(?=x)y$'}", "{type: integer, minimum: 5, maximum: 3}", "{type: nonsense}",
        "{not: {}}", "{type: array, minItems: 100000, items: {type: string}}"}) {
    EXPECT_FALSE(example_of(schema_from(schema))) << schema;
  }
}

TEST(SchemaExample, IsFiniteForARecursiveSchema) {
  EXPECT_TRUE(
      example_of(schema_from("{$ref: '#/definitions/a', definitions: {a: {type: object, required: [b], "
                             "properties: {b: {anyOf: [{type: string}, {$ref: '#/definitions/a'}]}}}}}")));
  example_of(schema_from("{type: object, required: [b], properties: {b: {$ref: '#'}}}"));
}

}  // namespace
}  // namespace sb::workflow
