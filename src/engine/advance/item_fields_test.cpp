// A loop over items that lack what its body shows is blocked where the list is set, not with `[unset: …]` in each
// round.
#include "engine/advance/item_fields.hpp"

#include <gmock/gmock.h>

#include "engine/answer/answer.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kSteps = R"([
  {id: plan, title: Plan, prompt: P},
  {id: check, title: Check, prompt: P},
  {id: each, type: loop, title: Build, loop: {type: forEach, items: slices, itemVar: slice, maxIterations: 9}, body: [
    {id: build, title: "Build {{slice.title}}", prompt: "Files: {{slice.files}}, {{slice.plan.steps.length}} steps",
     promptFragments: [{id: f, when: {var: slice.hint}, text: "{{slice.hint}}"}, {id: g, text: "{{slice.owner}}"}]},
    {id: extra, title: E, prompt: "{{slice.extra}}", runCondition: {var: slice.extra}}]}])";

Submission slices(const std::string& list) {
  return {.notes = "n", .context = json(R"({"slices":)" + list + "}")};
}

TEST(ItemFields, AreThoseThatTheBodyShowsWhateverHappens) {
  const auto program = program_of(kSteps);
  const Value none = Value::object();
  EXPECT_THAT(item_fields_of(*program, "slices", none), ElementsAre("title", "files", "plan.steps.length", "owner"));
  EXPECT_THAT(item_fields_of(*program, "others", none), IsEmpty());
}

TEST(ItemFields, AListWhoseItemsLackThemIsRefusedWhereItIsSet) {
  SessionSimulator journey(program_of(kSteps));
  const std::string good = R"({"title":"a","files":[],"plan":{"steps":[]},"owner":"ann"})";
  const AdvanceResult refused = journey.deliver(slices("[" + good + R"(,{"title":"b","plan":{"steps":1}},"c"])"));
  ASSERT_EQ(refused.blockers.size(), 1u);
  EXPECT_EQ(refused.blockers[0].code, BlockerCode::kInvalidContext);
  EXPECT_EQ(refused.blockers[0].subject, "slices");
  EXPECT_THAT(refused.blockers[0].message, AllOf(HasSubstr("item 2 lacks files, plan.steps.length, owner"),
                                                 HasSubstr("item 3 is a string (\"c\")")));
  EXPECT_THAT(refused.blockers[0].fix, HasSubstr("title, files, plan.steps.length, owner"));
  EXPECT_EQ(journey.tip().position.step, "plan");
  journey.deliver(slices("[" + good + "]"));
  EXPECT_EQ(journey.tip().position.step, "check");
}

TEST(ItemFields, AListFromElsewhereIsRefusedAtTheLoop) {
  SessionSimulator journey(program_of(kSteps), json(R"({"slices":[{"title":"a"}]})"));
  journey.deliver({.notes = "n"});
  const AdvanceResult refused = journey.deliver({.notes = "n"});
  EXPECT_EQ(refused.kind, AdvanceResult::Kind::kBlocked);
  EXPECT_THAT(refused.blockers.at(0).message, HasSubstr("item 1 lacks files, plan.steps.length, owner"));
}

TEST(ItemFields, ItemsThatAreShownWholeNeedNone) {
  SessionSimulator journey(
      program_of("[{id: one, title: T, prompt: P},{id: each, type: loop, title: L, loop: {type: forEach, items: xs, "
                 "maxIterations: "
                 "5}, body: [{id: body, title: T, prompt: 'Do {{currentItem}}, {{currentItem.length}} letters'}]}]"));
  journey.deliver({.notes = "n", .context = json(R"({"xs":["a","b"]})")});
  EXPECT_EQ(journey.tip().position.step, "body");
}

// What is refused when the first step sets `xs` for a loop with this body.
std::string refused(const std::string& body, const std::string& context) {
  SessionSimulator journey(program_of(
      "[{id: one, title: T, prompt: P},{id: each, type: loop, title: L, loop: {type: forEach, items: xs, itemVar: x, "
      "maxIterations: 9}, body: [" +
      body + "]}]"));
  const AdvanceResult result = journey.deliver({.notes = "n", .context = json(context)});
  return result.blockers.empty() ? "" : result.blockers[0].message;
}

TEST(ItemFields, EveryPlaceThatReadsAnItemCounts) {
  const std::string plain = "{id: body, title: T, prompt: P}";
  const std::string one = R"({"xs":[{"a":1}],"size":"Large"})";
  const auto lacks_b = HasSubstr("item 1 lacks b");
  EXPECT_THAT(refused("{id: body, title: T, prompt: P, needs: [x.b]}", one), lacks_b);
  EXPECT_THAT(refused("{id: ask, type: decision, title: T, decision: {instruction: 'Keep {{x.b}}?', options: [Aa, "
                      "Bb]}, captureAs: k}," +
                          plain,
                      one),
              lacks_b);
  EXPECT_THAT(refused("{id: ask, type: decision, title: T, decision: {instruction: 'Keep which?', optionsFrom: x.b}, "
                      "captureAs: k}," +
                          plain,
                      one),
              lacks_b);
  EXPECT_THAT(refused("{id: inner, type: loop, title: T, loop: {type: forEach, items: x.b, itemVar: y, maxIterations: "
                      "3}, body: [" +
                          plain + "]}",
                      one),
              lacks_b);
  const std::string nested =
      "{id: inner, type: loop, title: T, loop: {type: forEach, items: ys, itemVar: y, maxIterations: 3}, body: [{id: "
      "body, title: T, prompt: '{{y.c}} of {{x.b}}'}]}";
  EXPECT_THAT(refused(nested, one), lacks_b);
  EXPECT_EQ(refused(nested, R"({"xs":[{"a":1}],"ys":[]})"), "");
  const std::string waiting =
      "{id: inner, type: loop, title: T, loop: {type: while, condition: {var: go}, maxIterations: 3}, body: [{id: "
      "body, title: T, prompt: '{{x.b}}'}]}";
  EXPECT_THAT(refused(waiting, one), lacks_b);
  EXPECT_EQ(refused(waiting, R"({"xs":[{"a":1}],"go":false})"), "");
}

TEST(ItemFields, AConditionCountsUnlessItRulesTheItemOut) {
  const auto step = [](const std::string& condition) {
    return "{id: body, title: T, prompt: '{{x.b}}', runCondition: " + condition + "}";
  };
  const std::string large = R"({"xs":[{"a":1}],"size":"Large"})";
  EXPECT_THAT(refused(step("{var: size, equals: Large}"), large), HasSubstr("item 1 lacks b"));
  EXPECT_EQ(refused(step("{var: size, equals: Small}"), large), "");
  EXPECT_THAT(refused(step("{var: later}"), large), HasSubstr("item 1 lacks b")) << "not certain yet";
  EXPECT_EQ(refused(step("{var: x.b, equals: 1}"), large), "") << "it is there for items without the field";
  EXPECT_THAT(refused(step("{var: x.a, equals: 1}"), R"({"xs":[{"a":2},{"a":1}]})"), HasSubstr(": item 2 lacks b"));
}

TEST(ItemFields, AreListedAlsoForAListWithASchema) {
  const auto program = program_of(
      "[{id: one, title: T, prompt: P, captures: {xs: {type: array, minItems: 1}}},{id: each, type: loop, title: L, "
      "loop: {type: forEach, items: xs, itemVar: x, maxIterations: 9}, body: [{id: body, title: T, prompt: "
      "'{{x.b}}'}]}]");
  EXPECT_THAT(requirement_text(*program, {"one", {}}, Value::object()),
              AllOf(HasSubstr("\"minItems\":1"), HasSubstr("each item with b")));
}

TEST(ItemFields, ALoopThatIsSkippedNeedsNone) {
  SessionSimulator journey(program_of(
      "[{id: one, title: T, prompt: P},{id: each, type: loop, title: L, runCondition: {var: big}, loop: {type: "
      "forEach, "
      "items: xs, maxIterations: 5}, body: [{id: body, title: T, prompt: '{{currentItem.a}}'}]},{id: end, title: T, "
      "prompt: P}]"));
  journey.deliver({.notes = "n", .context = json(R"({"xs":["a"],"big":false})")});
  EXPECT_EQ(journey.tip().position.step, "end");
}

}  // namespace
}  // namespace sb::engine
