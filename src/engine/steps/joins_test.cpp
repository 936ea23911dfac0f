// Sessions that start sessions: parallel steps, sub-workflows, the iterations of a parallel loop.
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

std::string child_token(const SessionResponse& answer, std::size_t index) {
  return answer.line["children"].items().at(index).string_at("continueToken").value_or("");
}

TEST(Pain24, ParallelChildrenAreSessionsAndTheirResultsAreCaptured) {
  SessionTestHome place;
  place.around.add_workflow(kChild);
  const SessionResponse first = place.start(parallel(""), Value::object({{"area", "the index"}}));
  const SessionResponse gather = place.continue_session(first);
  ASSERT_EQ(gather.line["children"].size(), 2u) << gather.text;
  EXPECT_THAT(SessionTestHome::expect(place.sessions->rehydrate(child_token(gather, 0))).text,
              HasSubstr("Look at the index."));
  const SessionResponse early = place.continue_session(gather, {.notes = "All done, honestly."});
  EXPECT_THAT(SessionTestHome::blockers(early), ElementsAre("CHILDREN_OPEN", "CHILDREN_OPEN"));
  EXPECT_EQ(SessionTestHome::kind(place.continue_session(child_token(gather, 0), {.notes = "Wide it is."})),
            "complete");
  EXPECT_EQ(SessionTestHome::kind(place.continue_session(child_token(gather, 1), {.notes = "Deep it is."})),
            "complete");
  const SessionResponse next = place.poll(gather);
  EXPECT_THAT(next.text, HasSubstr("Write: Wide it is. / complete"));
  EXPECT_EQ(to_json(place.continue_session(gather).to_value()), to_json(next.to_value()));
}

TEST(Pain24, ADeadChildIsNamedInTheJoin) {
  SessionTestHome place;
  place.around.add_workflow(kChild);
  const SessionResponse gather = place.continue_session(place.start(parallel("")));
  place.continue_session(child_token(gather, 0), {.notes = "Wide it is."});
  const SessionResponse next =
      place.continue_session(gather, {.artifacts = {Value::object({{"kind", "wr.child_outcome"},
                                                                   {"child", "deep"},
                                                                   {"outcome", "dead"},
                                                                   {"reason", "its process was killed"}})}});
  EXPECT_EQ(SessionTestHome::step(next), "write");
  EXPECT_THAT(next.text, HasSubstr("deep is dead: its process was killed"));
  const std::string child = *place.context_at_tip(next)["deep"].string_at("session");
  EXPECT_EQ(place.sessions->summary(child)->status, SessionStatus::kStopped);
}

TEST(Quorum, OpensWhenEnoughSucceededAndAsksWhenTheyCannot) {
  SessionTestHome place;
  place.around.add_workflow(kChild);
  const SessionResponse gather = place.continue_session(place.start(parallel("    quorum: 1")));
  place.continue_session(child_token(gather, 1), {.notes = "Deep it is."});
  const SessionResponse next = place.poll(gather);
  EXPECT_EQ(SessionTestHome::step(next), "write") << next.text;
  EXPECT_THAT(next.text, HasSubstr("wide was not waited for"));

  const SessionResponse other = place.continue_session(place.start(parallel("    quorum: 2")));
  place.continue_session(child_token(other, 1), {.notes = "Deep it is."});
  const SessionResponse asked = place.continue_session(
      other, {.artifacts = {Value::object(
                  {{"kind", "wr.child_outcome"}, {"child", "wide"}, {"outcome", "dead"}, {"reason", "gone"}})}});
  ASSERT_EQ(SessionTestHome::kind(asked), "awaiting_decision") << asked.text;
  place.decide(asked, "go-on");
  EXPECT_EQ(SessionTestHome::step(place.poll(asked)), "write");
}

TEST(SubWorkflow, RunsAsAChildAndIsCaptured) {
  SessionTestHome place;
  place.around.add_workflow(kChild);
  const SessionResponse call = place.start(R"(
id: caller-flow
name: Caller
description: Calls.
version: 1.0.0
steps:
  - {id: review, type: workflow, title: Review it, workflowId: child-flow, contextMapping: {goal: scope}, captureAs: result}
  - {id: rest, title: Rest, prompt: "Then {{result.outcome}}."}
)");
  ASSERT_EQ(call.line["children"].size(), 1u);
  place.continue_session(child_token(call, 0), {.notes = "Fine."});
  EXPECT_THAT(place.poll(call).text, HasSubstr("Then complete."));
}

TEST(ParallelForEach, RunsTheAllowedNumberInParallelAndEveryItem) {
  SessionTestHome place;
  SessionResponse answer = place.start(R"(
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
  const SessionResponse refused = place.continue_session(answer, {.notes = "No slices."});
  EXPECT_THAT(SessionTestHome::blockers(refused), ElementsAre("MISSING_CONTEXT_KEY")) << refused.text;
  answer = place.continue_session(
      refused, {.notes = "Four slices.",
                .context = Value::object(
                    {{"slices", *parse_json(R"([{"title": "a"}, {"title": "b"}, {"title": "c"}, {"title": "d"}])")}})});
  ASSERT_EQ(answer.line["children"].size(), 3u) << answer.text;
  EXPECT_EQ(child_token(answer, 2), "") << "two in parallel";
  EXPECT_THAT(SessionTestHome::expect(place.sessions->rehydrate(child_token(answer, 1))).text, HasSubstr("Build b."));
  place.continue_session(child_token(answer, 0));
  const SessionResponse more = place.poll(answer);
  EXPECT_NE(child_token(more, 2), "");
  place.continue_session(child_token(more, 1));
  place.continue_session(child_token(more, 2));
  const SessionResponse rest = place.poll(answer);
  EXPECT_THAT(rest.text, HasSubstr("Built 3."));
  EXPECT_THAT(rest.text, HasSubstr("1 items were not visited"));
}

}  // namespace
}  // namespace sb::engine
