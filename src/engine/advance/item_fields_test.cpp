// A loop over items that lack what its body shows is blocked where the list is set, not with `[unset: …]` in each
// round.
#include "engine/advance/item_fields.hpp"

#include <gmock/gmock.h>

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
  EXPECT_THAT(item_fields(*program->step("each").loop()), ElementsAre("title", "files", "plan.steps.length", "owner"));
  EXPECT_THAT(item_fields_of(*program, "slices"), ElementsAre("title", "files", "plan.steps.length", "owner"));
  EXPECT_THAT(item_fields_of(*program, "others"), IsEmpty());
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
