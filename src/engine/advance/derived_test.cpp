// What is derived from a delivery: counted keys, narrowed contracts, captures per iteration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/advance/advance.hpp"
#include "workflow/testing.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using workflow::compiled;

constexpr const char* kReview = R"(
id: derived-review
name: Review
description: Counts and narrows.
version: 1.0.0
steps:
  - id: check
    title: Check
    prompt: Check it.
    captures: {findings: {type: array}, isFix: {type: boolean}}
    counts:
      majorCount: {of: findings, where: {var: severity, equals: major}}
      findingCount: {of: findings}
  - id: report
    title: Report
    prompt: Report it.
    outputContract:
      contractRef: wr.contracts.review_verdict
      narrow:
        - when: {var: majorCount, gt: 0}
          schema: {required: [verdict], properties: {verdict: {const: blocking}}}
          message: There is a major finding.
)";

AdvanceResult sent(const Program& program, const std::string& step, const Value& context,
                   const Submission& submission) {
  Node node;
  node.position.step = step;
  auto outcome = advance(program, node, context, submission);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().to_string();
    return {};
  }
  return std::move(*outcome);
}

Value findings(std::initializer_list<const char*> severities) {
  Value list = Value::array();
  for (const char* severity : severities) list.push_back(Value::object({{"severity", severity}}));
  return list;
}

TEST(Counts, OverrideWhatTheAgentSends) {
  const Program program(compiled(kReview).back());
  const AdvanceResult outcome = sent(
      program, "check", Value::object(),
      {.notes = "n",
       .context =
           Value::object({{"findings", findings({"major", "minor", "major"})}, {"isFix", false}, {"majorCount", 0}})});
  ASSERT_EQ(outcome.kind, AdvanceResult::Kind::kAdvanced);
  EXPECT_EQ(outcome.context["majorCount"], Value(2));
  EXPECT_EQ(outcome.context["findingCount"], Value(3));
  EXPECT_EQ(outcome.delivered.front().payload["context_set"]["majorCount"], Value(2)) << "the log must agree";
}

TEST(Counts, AreAbsentIfTheValueIsNotAList) {
  const Program program(compiled(kReview).back());
  const AdvanceResult outcome =
      sent(program, "check", Value::object(),
           {.notes = "n", .context = Value::object({{"findings", "none"}, {"isFix", false}})});
  EXPECT_EQ(outcome.kind, AdvanceResult::Kind::kBlocked) << "the capture requires a list";
  EXPECT_EQ(outcome.context["majorCount"], Value(0));
}

TEST(Narrow, RefusesWithItsReasonAndAValidExample) {
  const workflow::Bundle bundle = compiled(kReview);
  const Program program(bundle.back());
  Value clean = bundle.back()->contracts.find("wr.contracts.review_verdict")->example;
  clean.set("verdict", "clean");
  const Value serious = Value::object({{"majorCount", 1}});
  const AdvanceResult refused = sent(program, "report", serious, {.artifacts = {clean}});
  ASSERT_EQ(refused.kind, AdvanceResult::Kind::kBlocked);
  ASSERT_EQ(refused.blockers.size(), 1u);
  EXPECT_THAT(refused.blockers.front().message, HasSubstr("There is a major finding."));
  EXPECT_EQ(sent(program, "report", serious, {.artifacts = {refused.blockers.front().example}}).kind,
            AdvanceResult::Kind::kAdvanced);
}

TEST(Narrow, AppliesOnlyIfItsConditionIsTrue) {
  const workflow::Bundle bundle = compiled(kReview);
  const Program program(bundle.back());
  Value clean = bundle.back()->contracts.find("wr.contracts.review_verdict")->example;
  clean.set("verdict", "clean");
  EXPECT_EQ(sent(program, "report", Value::object({{"majorCount", 0}}), {.artifacts = {clean}}).kind,
            AdvanceResult::Kind::kAdvanced);
}

TEST(Captures, OfAnEarlierIterationDoNotCount) {
  const Program program(compiled(R"(
id: derived-rounds
name: Rounds
description: A loop.
version: 1.0.0
steps:
  - id: rounds
    type: loop
    title: Rounds
    loop: {type: for, count: 2, maxIterations: 2}
    body:
      - {id: look, title: Look, prompt: Look., captures: {seen: {type: string}}}
)")
                            .back());
  Node node;
  node.position = {"look", {{"rounds", 1}}};
  const Value before = Value::object({{"seen", "something else"}});
  const auto stale = advance(program, node, before, {.notes = "n"});
  ASSERT_TRUE(stale);
  ASSERT_EQ(stale->kind, AdvanceResult::Kind::kBlocked);
  EXPECT_EQ(stale->blockers.front().subject, "seen");
  EXPECT_EQ(to_json(stale->blockers.front().example), R"({"seen":"example"})");
  const auto fresh = advance(program, node, before, {.notes = "n", .context = Value::object({{"seen", "this"}})});
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->kind, AdvanceResult::Kind::kAdvanced);
}

}  // namespace
}  // namespace sb::engine
