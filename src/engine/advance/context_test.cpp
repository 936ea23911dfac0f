#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;

TEST(MergeContext, IsShallowAndNullRemoves) {
  const Value before = json(R"({"a": {"x": 1, "y": 2}, "b": 1, "c": [1]})");
  EXPECT_EQ(merge_context(before, Value()).value(), before);
  EXPECT_EQ(merge_context(Value(), Value()).value(), Value::object());
  EXPECT_EQ(merge_context(before, json(R"({"a": {"x": 3}, "b": null, "d": false, "e": null})")).value(),
            json(R"({"a": {"x": 3}, "c": [1], "d": false})"));
}

struct Refusal {
  const char* changes;
  const char* says;
};

TEST(MergeContext, RefusesReservedAndInvalidKeys) {
  for (const Refusal& row :
       {Refusal{"[1]", "a list, not an object"}, Refusal{R"("text")", "a string, not an object"},
        Refusal{"3", "not an object"}, Refusal{R"({"": 1})", "an empty key"},
        Refusal{R"({"__proto__": 1})", "reserved"}, Refusal{R"({"constructor": {}})", "reserved"},
        Refusal{R"({"prototype": null})", "reserved"}, Refusal{R"({"eat_token": "x"})", "reserved"},
        Refusal{R"({"parent_eat_token": "x"})", "reserved"}, Refusal{R"({"metrics_harness": "x"})", "reserved"},
        Refusal{R"({"metrics_active_model": "x"})", "reserved"},
        Refusal{R"({"metrics_outcome": "great"})", "metrics_outcome"},
        Refusal{R"({"metrics_outcome": 1})", "metrics_outcome"}}) {
    const auto merged = merge_context(Value::object(), json(row.changes));
    ASSERT_FALSE(merged) << row.changes;
    EXPECT_EQ(merged.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(merged.error().message, HasSubstr(row.says)) << row.changes;
  }
  for (const char* outcome : {"success", "partial", "abandoned", "error"})
    EXPECT_TRUE(merge_context(Value(), Value::object({{"metrics_outcome", outcome}})));
  EXPECT_TRUE(merge_context(Value(), json(R"({"metrics_outcome": null})")));
}

// A context with one string that has this many bytes as JSON.
Value sized(std::size_t bytes, const char* key = "text") {
  const std::size_t around = to_json(Value::object({{key, ""}})).size();
  return Value::object({{key, std::string(bytes - around, 'a')}});
}

TEST(MergeContext, EnforcesTheSizeLimitOfChanges) {
  EXPECT_TRUE(merge_context(Value(), sized(limits::kContextBytes)));
  const auto too_large = merge_context(Value(), sized(limits::kContextBytes + 1));
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kLimit);
}

TEST(MergeContext, EnforcesTheSizeLimitOfTheResult) {
  const Value half = sized(limits::kContextBytes / 2);
  EXPECT_TRUE(merge_context(half, sized(limits::kContextBytes / 2 - 8, "more")));
  const auto too_large = merge_context(half, sized(limits::kContextBytes / 2 + 8, "more"));
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kLimit);
  EXPECT_THAT(too_large.error().message, HasSubstr("the session's context"));
}

Value keys(std::size_t count, const std::string& prefix = "k") {
  Value value = Value::object();
  for (std::size_t i = 0; i < count; ++i) value.members().push_back({prefix + std::to_string(i), 1});
  return value;
}

TEST(MergeContext, EnforcesTheNumberOfKeys) {
  EXPECT_TRUE(merge_context(Value(), keys(limits::kContextKeys)));
  EXPECT_EQ(merge_context(Value(), keys(limits::kContextKeys + 1)).error().code, ErrorCode::kLimit);
  EXPECT_EQ(merge_context(Value(), keys(1'000'000)).error().code, ErrorCode::kLimit);
  EXPECT_TRUE(merge_context(keys(limits::kContextKeys), keys(limits::kContextKeys)));
  EXPECT_EQ(merge_context(keys(limits::kContextKeys), keys(1, "other")).error().code, ErrorCode::kLimit);
}

TEST(MergeContext, EnforcesTheDepth) {
  const auto nested = [](int levels) {
    Value value = 1;
    for (int i = 0; i < levels; ++i) value = Value(Value::Array{value});
    return Value::object({{"deep", value}});
  };
  EXPECT_TRUE(merge_context(Value(), nested(limits::kDocumentDepth - 2)));
  EXPECT_EQ(merge_context(Value(), nested(limits::kDocumentDepth - 1)).error().code, ErrorCode::kLimit);
}

TEST(MergeContext, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(merge_context(Value(), Value::object({{"a", "\xff"}})).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(merge_context(Value(), Value::object({{"\xc3", 1}})).error().code, ErrorCode::kInvalid);
}

TEST(ContextAt, AddsTheVariablesOfEnclosingLoops) {
  const auto program = program_of(
      "[{id: outer, type: loop, title: L, loop: {type: forEach, items: xs, itemVar: thing, indexVar: at, iterationVar: "
      "round, maxIterations: 9}, body: [{id: inner, type: loop, title: L, loop: {type: for, count: 2, maxIterations: "
      "9}, body: [{id: body, title: T, prompt: P}]}]}]");
  const Value context = json(R"({"xs": ["a", "b"], "thing": "mine", "other": 1})");
  EXPECT_EQ(context_at(*program, {"x", {}}, context), context);
  const Value seen = context_at(*program, {"body", {{"outer", 1}, {"inner", 0}}}, context);
  EXPECT_EQ(to_canonical_json(seen),
            to_canonical_json(
                json(R"({"xs": ["a", "b"], "thing": "b", "at": 1, "round": 2, "currentIteration": 1, "other": 1})")));
  const Value beyond = context_at(*program, {"body", {{"outer", 7}, {"inner", 0}}}, context);
  EXPECT_EQ(beyond["thing"], Value("mine"));
}

}  // namespace
}  // namespace sb::engine
