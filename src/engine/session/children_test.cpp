// Sessions that start sessions: parallel steps, sub-workflows, the rounds of a parallel loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/sessions_place.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kChild = R"(
id: child-flow
name: Child
description: A child.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{scope}}."}
)";

std::string parallel(const std::string& more) {
  return R"(
id: parent-flow
name: Parent
description: A parent.
version: 1.0.0
steps:
  - {id: prepare, title: Prepare, prompt: Prepare.}
  - id: gather
    type: parallel
    title: Gather
)" + more +
         R"(
    parallelDelegations:
      - {id: wide, workflowId: child-flow, goal: Look wide, contextMapping: {area: scope}, captureAs: wide}
      - {id: deep, workflowId: child-flow, goal: Look deep, args: {scope: the core}, captureAs: deep}
  - {id: write, title: Write, prompt: "Write: {{wide.notes}} / {{deep.outcome}}"}
)";
}

std::string child_token(const Answer& answer, std::size_t index) {
  return answer.line["children"].items().at(index).string_at("continueToken").value_or("");
}

TEST(Pain24, ParallelChildrenAreSessionsAndTheirResultsAreCaptured) {
  SessionPlace place;
  place.around.add_workflow(kChild);
  const Answer first = place.start(parallel(""), Value::object({{"area", "the index"}}));
  const Answer gather = place.go_on(first);
  ASSERT_EQ(gather.line["children"].size(), 2u) << gather.text;
  EXPECT_THAT(SessionPlace::expect(place.sessions->rehydrate(child_token(gather, 0))).text,
              HasSubstr("Look at the index."));
  const Answer early = place.go_on(gather, {.notes = "All done, honestly."});
  EXPECT_THAT(SessionPlace::blockers(early), ElementsAre("CHILDREN_OPEN", "CHILDREN_OPEN"));
  EXPECT_EQ(SessionPlace::kind(place.go_on(child_token(gather, 0), {.notes = "Wide it is."})), "complete");
  EXPECT_EQ(SessionPlace::kind(place.go_on(child_token(gather, 1), {.notes = "Deep it is."})), "complete");
  const Answer next = place.poll(gather);
  EXPECT_THAT(next.text, HasSubstr("Write: Wide it is. / complete"));
  EXPECT_EQ(to_json(place.go_on(gather).to_value()), to_json(next.to_value()));
}

TEST(Pain24, ADeadChildIsNamedInTheJoin) {
  SessionPlace place;
  place.around.add_workflow(kChild);
  const Answer gather = place.go_on(place.start(parallel("")));
  place.go_on(child_token(gather, 0), {.notes = "Wide it is."});
  const Answer next = place.go_on(gather, {.artifacts = {Value::object({{"kind", "wr.child_outcome"},
                                                                        {"child", "deep"},
                                                                        {"outcome", "dead"},
                                                                        {"reason", "its process was killed"}})}});
  EXPECT_EQ(SessionPlace::step(next), "write");
  EXPECT_THAT(next.text, HasSubstr("deep is dead: its process was killed"));
  const std::string child = *place.context_at_tip(next)["deep"].string_at("session");
  EXPECT_EQ(place.sessions->summary(child)->status, SessionStatus::kStopped);
}

TEST(Quorum, OpensWhenEnoughHaveEndedWellAndAsksWhenTheyCannot) {
  SessionPlace place;
  place.around.add_workflow(kChild);
  const Answer gather = place.go_on(place.start(parallel("    quorum: 1")));
  place.go_on(child_token(gather, 1), {.notes = "Deep it is."});
  const Answer next = place.poll(gather);
  EXPECT_EQ(SessionPlace::step(next), "write") << next.text;
  EXPECT_THAT(next.text, HasSubstr("wide was not waited for"));

  const Answer other = place.go_on(place.start(parallel("    quorum: 2")));
  place.go_on(child_token(other, 1), {.notes = "Deep it is."});
  const Answer asked = place.go_on(
      other, {.artifacts = {Value::object(
                  {{"kind", "wr.child_outcome"}, {"child", "wide"}, {"outcome", "dead"}, {"reason", "gone"}})}});
  ASSERT_EQ(SessionPlace::kind(asked), "awaiting_decision") << asked.text;
  place.decide(asked, "go-on");
  EXPECT_EQ(SessionPlace::step(place.poll(asked)), "write");
}

TEST(SubWorkflow, RunsAsAChildAndIsCaptured) {
  SessionPlace place;
  place.around.add_workflow(kChild);
  const Answer call = place.start(R"(
id: caller-flow
name: Caller
description: Calls.
version: 1.0.0
steps:
  - {id: review, type: workflow, title: Review it, workflowId: child-flow, contextMapping: {goal: scope}, captureAs: result}
  - {id: rest, title: Rest, prompt: "Then {{result.outcome}}."}
)");
  ASSERT_EQ(call.line["children"].size(), 1u);
  place.go_on(child_token(call, 0), {.notes = "Fine."});
  EXPECT_THAT(place.poll(call).text, HasSubstr("Then complete."));
}

TEST(ParallelForEach, RunsSoManyAtOnceAndEveryItem) {
  SessionPlace place;
  Answer answer = place.start(R"(
id: slices-flow
name: Slices
description: Slices.
version: 1.0.0
steps:
  - {id: plan, title: Plan, prompt: Plan.}
  - id: build-slices
    type: loop
    title: Build each
    loop: {type: forEach, items: slices, maxIterations: 3, parallel: 2, captureAs: built}
    body: [{id: build-one, title: Build, prompt: "Build {{currentItem.title}}."}]
  - {id: rest, title: Rest, prompt: "Built {{built.length}}."}
)");
  const Answer refused = place.go_on(answer, {.notes = "No slices."});
  EXPECT_THAT(SessionPlace::blockers(refused), ElementsAre("MISSING_CONTEXT_KEY")) << refused.text;
  answer = place.go_on(
      refused, {.notes = "Four slices.",
                .context = Value::object(
                    {{"slices", *parse_json(R"([{"title": "a"}, {"title": "b"}, {"title": "c"}, {"title": "d"}])")}})});
  ASSERT_EQ(answer.line["children"].size(), 3u) << answer.text;
  EXPECT_EQ(child_token(answer, 2), "") << "two at once";
  EXPECT_THAT(SessionPlace::expect(place.sessions->rehydrate(child_token(answer, 1))).text, HasSubstr("Build b."));
  place.go_on(child_token(answer, 0));
  const Answer more = place.poll(answer);
  EXPECT_NE(child_token(more, 2), "");
  place.go_on(child_token(more, 1));
  place.go_on(child_token(more, 2));
  const Answer rest = place.poll(answer);
  EXPECT_THAT(rest.text, HasSubstr("Built 3."));
  EXPECT_THAT(rest.text, HasSubstr("1 items were not visited"));
}

}  // namespace
}  // namespace sb::engine
