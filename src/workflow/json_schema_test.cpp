#include "workflow/json_schema.hpp"

#include <gtest/gtest.h>

#include "base/document.hpp"

namespace sb::workflow {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

std::string check(std::string_view schema, std::string_view value) {
  const auto compiled = JsonSchema::compile(json(schema));
  if (!compiled) return "schema: " + compiled.error().place.pointer + " " + compiled.error().message;
  std::string text;
  for (const Misfit& misfit : compiled->check(json(value))) {
    text += (text.empty() ? "" : " | ") + misfit.pointer + " " + misfit.message;
  }
  return text;
}

TEST(JsonSchema, SaysWhatDoesNotFitAndWhere) {
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

}  // namespace
}  // namespace sb::workflow
