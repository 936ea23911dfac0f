#include "agent/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;

Value json(const char* text) {
  return parse_document("test.json", text)->root;
}

ToolDeclaration reading() {
  return {.name = "Read", .description = "", .input_schema = json(R"({"type": "object", "required": ["filePath"],
    "additionalProperties": false, "properties": {"filePath": {"type": "string"},
    "limit": {"type": "integer", "minimum": 1}}})")};
}

TEST(ToolArguments, ReportsEveryFaultWithTheNearestName) {
  EXPECT_EQ(schema_errors(reading(), json(R"({"filePath": "a"})")), "");
  const std::string text = schema_errors(reading(), json(R"({"file_path": "a", "limit": 0})"));
  EXPECT_THAT(text, HasSubstr(R"(unknown argument "file_path"; did you mean "filePath"?)"));
  EXPECT_THAT(text, HasSubstr("limit"));
  EXPECT_THAT(text, HasSubstr("Read"));
}

TEST(ToolArguments, AcceptsAnyInputFromAModel) {
  for (const char* input : {"null", "[]", "\"x\"", "7", "{}", R"({"filePath": {"a": []}})", R"({"": 1})"}) {
    EXPECT_NE(schema_errors(reading(), json(input)), "") << input;
  }
}

}  // namespace
}  // namespace sb::agent
