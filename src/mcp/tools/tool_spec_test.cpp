// Wrong inputs of all kinds for every tool, generated from the tools' own descriptions.
#include "mcp/tools/tool_spec.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "mcp/tools/tools.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::mcp {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A valid value.
Value fitting(const Field& field) {
  switch (field.kind) {
    case Field::Kind::kText:
      return "some text";
    case Field::Kind::kPath:
      return "/srv/project";
    case Field::Kind::kCommit:
      return "0123456789abcdefABCDEF012345678901234567";
    case Field::Kind::kChoice:
      return field.choices.back();
    case Field::Kind::kFlag:
      return true;
    case Field::Kind::kObject: {
      Value object = Value::object();
      for (const Field& member : field.members) object.set(member.name, fitting(member));
      return object;
    }
    case Field::Kind::kTexts:
      return Value::array({"one", "two"});
    case Field::Kind::kList:
      return Value::Array{Value::object({{"kind", "x"}})};
    case Field::Kind::kJson:
      return Value::object({{"id", "x"}});
    case Field::Kind::kJsonText:
      return R"({"id": "x"})";
  }
  return {};
}

Value whole_call(const ToolSpec& spec) {
  Value call = Value::object();
  for (const Field& field : spec.fields) call.set(field.name, fitting(field));
  return call;
}

std::vector<std::string> paths_of(const engine::SessionError& error) {
  std::vector<std::string> paths;
  for (const Value& fault : error.details["validationErrors"].items()) paths.push_back(*fault.string_at("path"));
  return paths;
}

std::vector<Value> wrong_values(const Field& field) {
  std::vector<Value> wrong{Value(7), Value(2.5)};
  if (field.kind != Field::Kind::kFlag) wrong.emplace_back(true);
  const bool is_text = field.kind == Field::Kind::kText || field.kind == Field::Kind::kPath ||
                       field.kind == Field::Kind::kCommit || field.kind == Field::Kind::kChoice;
  if (is_text) wrong.emplace_back(Value::object());
  if (is_text || field.kind == Field::Kind::kJson || field.kind == Field::Kind::kJsonText)
    wrong.push_back(Value::array());
  if (is_text && !field.may_be_empty) wrong.emplace_back(" ");
  if (field.kind == Field::Kind::kText) wrong.emplace_back(std::string("a\0b", 3));
  if (field.kind == Field::Kind::kPath) wrong.emplace_back("relative/path");
  if (field.kind == Field::Kind::kCommit) wrong.emplace_back("abc");
  if (field.kind == Field::Kind::kChoice) wrong.emplace_back("somethingelse");
  if (field.max_bytes > 0) wrong.emplace_back(std::string(field.max_bytes + 1, 'x'));
  if (field.kind == Field::Kind::kObject) wrong.emplace_back("{\"half\": ");
  if (field.kind == Field::Kind::kTexts) wrong.push_back(Value::Array{Value(1)});
  return wrong;
}

class EveryTool : public testing::TestWithParam<Tool> {
 protected:
  const ToolSpec& spec = GetParam().spec;
};

TEST_P(EveryTool, AcceptsWhatItDocuments) {
  const Value call = whole_call(spec);
  const auto inputs = read_inputs(spec, call);
  ASSERT_TRUE(inputs) << inputs.error().error.to_string();
  EXPECT_THAT(inputs->notes, IsEmpty());
  EXPECT_EQ(to_canonical_json(inputs->given), to_canonical_json(call));
  const auto schema = workflow::JsonSchema::compile(tool_item(spec)["inputSchema"]);
  ASSERT_TRUE(schema) << schema.error().to_string();
  EXPECT_THAT(schema->check(call), IsEmpty());
}

TEST_P(EveryTool, NamesEachMissingInput) {
  const auto inputs = read_inputs(spec, Value::object());
  std::vector<std::string> required;
  for (const Field& field : spec.fields) {
    if (field.is_required) required.emplace_back(field.name);
  }
  if (required.empty()) return;
  ASSERT_FALSE(inputs);
  EXPECT_EQ(paths_of(inputs.error()), required);
  EXPECT_EQ(inputs.error().code, "VALIDATION_ERROR");
  // The corrected call is accepted.
  EXPECT_TRUE(read_inputs(spec, inputs.error().details["correctTemplate"]));
}

TEST_P(EveryTool, ReportsWhatIsWrongWithEachInput) {
  for (const Field& field : spec.fields) {
    for (const Value& wrong : wrong_values(field)) {
      Value call = whole_call(spec);
      call.set(field.name, wrong);
      const auto inputs = read_inputs(spec, call);
      ASSERT_FALSE(inputs) << spec.name << "." << field.name << " took " << to_json(wrong).substr(0, 80);
      EXPECT_THAT(paths_of(inputs.error()), Contains(testing::StartsWith(std::string(field.name))));
      const auto again = read_inputs(spec, inputs.error().details["correctTemplate"]);
      EXPECT_TRUE(again) << to_json(inputs.error().details["correctTemplate"]) << again.error().error.message;
    }
  }
}

TEST_P(EveryTool, TreatsNullAsAbsent) {
  Value call = whole_call(spec);
  for (const Field& field : spec.fields) {
    if (!field.is_required) call.set(field.name, Value());
  }
  const auto inputs = read_inputs(spec, call);
  ASSERT_TRUE(inputs);
  for (const Field& field : spec.fields) EXPECT_EQ(inputs->given.find(field.name) != nullptr, field.is_required);
}

TEST_P(EveryTool, SuggestsTheIntendedInput) {
  for (const Field& field : spec.fields) {
    Value call = whole_call(spec);
    const Value value = call[field.name];
    call.erase(field.name);
    call.set(std::string(field.name) + "s", value);
    const auto inputs = read_inputs(spec, call);
    if (!spec.refuses_unknown && !field.is_required) {
      ASSERT_TRUE(inputs);
      EXPECT_THAT(inputs->note(), HasSubstr(fmt::format("did you mean {}?", field.name)));
      continue;
    }
    ASSERT_FALSE(inputs);
    const Value& suggestion = inputs.error().details["suggestions"].items().front();
    EXPECT_EQ(suggestion.string_at("kind"), "unknown_key");
    EXPECT_EQ(suggestion.string_at("didYouMean"), field.name);
    EXPECT_GE(suggestion["similarity"].as_number(), 0.6);
    EXPECT_NE(inputs.error().details["correctTemplate"].find(field.name), nullptr);
  }
}

TEST_P(EveryTool, RejectsOrIgnoresUnknownInputs) {
  Value call = whole_call(spec);
  call.set("zzz", 1);
  const auto inputs = read_inputs(spec, call);
  EXPECT_EQ(inputs.has_value(), !spec.refuses_unknown);
  if (!inputs) return;
  EXPECT_THAT(inputs->note(), HasSubstr("zzz is not an input of"));
}

TEST_P(EveryTool, AcceptsJsonInAStringWithANote) {
  for (const Field& field : spec.fields) {
    if (field.kind != Field::Kind::kObject && field.kind != Field::Kind::kList && field.kind != Field::Kind::kTexts) {
      continue;
    }
    Value call = whole_call(spec);
    call.set(field.name, to_json(call[field.name]));
    const auto inputs = read_inputs(spec, call);
    ASSERT_TRUE(inputs) << inputs.error().error.to_string();
    EXPECT_EQ(to_canonical_json(inputs->given), to_canonical_json(whole_call(spec)));
    EXPECT_THAT(inputs->note(), HasSubstr(fmt::format("{} was sent as JSON in a string", field.name)));
  }
}

TEST_P(EveryTool, NamesOneTypeForEachInputAndOutput) {
  EXPECT_EQ(to_json(tool_item(spec)).find("\"type\":["), std::string::npos) << "some clients refuse a list of types";
}

TEST_P(EveryTool, HasAShortDescription) {
  const Value item = tool_item(spec);
  EXPECT_LT(to_json(item).size(), 1'800u);
  EXPECT_FALSE(item["annotations"]["destructiveHint"].as_bool());
}

INSTANTIATE_TEST_SUITE_P(Inputs, EveryTool, testing::ValuesIn(all_tools()),
                         [](const auto& named) { return std::string(named.param.spec.name); });

TEST(ToolSpec, AliasesAreAccepted) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto inputs = read_inputs(spec, Value::object({{"continueToken", "t"},
                                                       {"notes", "N"},
                                                       {"artifacts", Value::Array{Value::object({{"kind", "k"}})}},
                                                       {"contextVariables", Value::object({{"a", 1}})}}));
  ASSERT_TRUE(inputs) << inputs.error().error.to_string();
  EXPECT_EQ(to_json(inputs->given),
            R"({"continueToken":"t","output":{"notesMarkdown":"N","artifacts":[{"kind":"k"}]},"context":{"a":1}})");
}

TEST(ToolSpec, RightNameWinsOverAnAlias) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto inputs = read_inputs(spec, Value::object({{"continueToken", "t"},
                                                       {"notes", "alias"},
                                                       {"output", Value::object({{"notesMarkdown", "right"}})},
                                                       {"contextVariables", Value::object({{"a", 1}})},
                                                       {"context", Value::object({{"a", 2}})}}));
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->given["output"].string_at("notesMarkdown"), "right");
  EXPECT_EQ(inputs->given["context"]["a"].as_integer(), 2);
}

TEST(ToolSpec, AliasIsMergedIntoAnOutputSentAsText) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto inputs =
      read_inputs(spec, Value::object({{"continueToken", "t"}, {"output", R"({"artifacts": []})"}, {"notes", "N"}}));
  ASSERT_TRUE(inputs) << inputs.error().error.to_string();
  EXPECT_EQ(inputs->given["output"].string_at("notesMarkdown"), "N");
  EXPECT_NE(inputs->given["output"].find("artifacts"), nullptr);
}

TEST(ToolSpec, ArtifactsMayBeOneObjectOrStrings) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto one =
      read_inputs(spec, Value::object({{"continueToken", "t"}, {"artifacts", Value::object({{"kind", "k"}})}}));
  ASSERT_TRUE(one);
  EXPECT_EQ(to_json(one->given["output"]["artifacts"]), R"([{"kind":"k"}])");
  const auto texts = read_inputs(
      spec, Value::object({{"continueToken", "t"}, {"artifacts", Value::array({R"({"kind": "k"})", "plain"})}}));
  ASSERT_TRUE(texts);
  EXPECT_EQ(to_json(texts->given["output"]["artifacts"]), R"([{"kind":"k"},"plain"])");
  EXPECT_THAT(texts->notes, SizeIs(1));
}

TEST(ToolSpec, PartialNameIsSuggestedAndSentValuesAreKept) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto wrong =
      read_inputs(spec, Value::object({{"token", "ct_1"}, {"output", Value::object({{"notes", "What I found"}})}}));
  ASSERT_FALSE(wrong);
  std::vector<std::string> suggested;
  for (const Value& each : wrong.error().details["suggestions"].items()) {
    if (const auto name = each.string_at("didYouMean")) suggested.push_back(*name);
  }
  EXPECT_THAT(suggested, testing::UnorderedElementsAre("continueToken", "notesMarkdown"));
  EXPECT_EQ(to_json(wrong.error().details["correctTemplate"]),
            R"({"continueToken":"ct_1","output":{"notesMarkdown":"What I found"}})");
}

TEST(ToolSpec, LongTextsAreNotEchoed) {
  const ToolSpec spec = continue_workflow_tool().spec;
  const auto inputs = read_inputs(spec, Value::object({{"notes", std::string(50'000, 'x')}}));
  ASSERT_FALSE(inputs);
  EXPECT_LT(to_json(inputs.error().details).size(), 1'000u);
}

TEST(ToolSpec, ManyAndLongUnknownNamesAreSummarized) {
  Value call = Value::object();
  for (int i = 0; i < 5'000; ++i) call.set(fmt::format("{}{}", std::string(500, 'k'), i), i);
  const auto inputs = read_inputs(checkpoint_workflow_tool().spec, call);
  ASSERT_FALSE(inputs);
  EXPECT_LT(to_json(inputs.error().details).size() + inputs.error().error.message.size(), 10'000u);
}

TEST(ToolSpec, ArgumentsMustBeAnObject) {
  for (const Value& given : {Value("x"), Value::array(), Value(1)}) {
    EXPECT_FALSE(read_inputs(list_workflows_tool().spec, given));
  }
}

TEST(ToolSpec, AllToolsTogetherAreTenKilobytesAtMost) {
  Value all = Value::array();
  for (const Tool& tool : all_tools()) all.push_back(tool_item(tool.spec));
  EXPECT_LT(to_json(all).size(), 10'000u);
  EXPECT_EQ(all.size(), 9u);
}

}  // namespace
}  // namespace sb::mcp
