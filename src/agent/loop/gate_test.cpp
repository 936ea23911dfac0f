// Gates, people and children of sessions that agents work on.
#include "agent/loop/testing.hpp"

namespace sb::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGated = R"(
id: gated
name: Gated
description: A gated step and one behind it.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Do the first thing.", requireConfirmation: true}
  - {id: two, title: Two, prompt: "Do the second thing."}
)";

std::string verdict_lines(const std::string& verdict, const std::string& rationale) {
  const std::string when = R"("when": {"workflow": "wr.gate-eval-generic"})";
  return complete_line("Both lists: all of it is there, and was looked at in the workspace.",
                       when + R"(, "expect": {"contains": ["The first thing is done: MARK."]})") +
         call_line("complete_step",
                   R"({"notes": "The verdict rests on the two lists.", "artifacts": [
          {"kind": "wr.gate_verdict", "version": 1, "verdict": ")" +
                       verdict + R"(", "confidence": "high", "rationale": ")" + rationale +
                       R"("}, {"kind": "wr.assessment", "assessmentId": "gate-basis", )"
                       R"("dimensions": {"evidence": "checked", "criteria": "met"}}]})",
                   when);
}

std::string one_line(std::string text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? ' ' : c;
  return out + "\n";
}

std::string lines(const std::string& text) {
  // A script line may not contain line breaks; the texts above do, for readability.
  std::string out, line;
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    line += c;
    if (c != '\n' || depth > 0) continue;
    out += one_line(line.substr(0, line.size() - 1));
    line.clear();
  }
  return out;
}

TEST(Gate, D01_D03_AnApprovedStepIsCompletedAndTheSessionContinues) {
  LoopFixture place;
  place.add_workflow("gated", kGated);
  place.script(
      lines(complete_line("The first thing is done: MARK.") +
            verdict_lines("approved", "All that was asked for is there and was checked.") +
            complete_line("The second thing is done.", R"("expect": {"contains": ["Do the second thing."]})")));
  const std::string session = place.start("gated");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_THAT(place.types(session), Contains("child_began"));
  EXPECT_EQ(place.events_of(session, "child_ended").front().payload.string_at("state"), "complete");
}

TEST(Gate, D02_TheOutputOfAGatedStepIsStoredBeforeItIsEvaluated) {
  LoopFixture place;
  place.add_workflow("gated", kGated);
  place.script(lines(complete_line("The first thing is done: MARK.") +
                     verdict_lines("uncertain", "The artifacts do not show it.")));
  const std::string session = place.start("gated");
  EXPECT_EQ(place.work(session).state, EndState::kAwaiting);
  const auto attempt = place.home->sessions().attempt(session, 1, 1);
  ASSERT_TRUE(attempt && *attempt);
  EXPECT_EQ(place.home->sessions().output(session, **attempt)->notes, "The first thing is done: MARK.");
}

TEST(Gate, D18_ARejectedStepIsRedoneWithTheReason) {
  LoopFixture place;
  place.add_workflow("gated", kGated);
  place.script(lines(
      complete_line("The first thing is done: MARK.") + verdict_lines("rejected", "The second half of it is missing.") +
      complete_line("Now both halves, The first thing is done: MARK.",
                    R"("when": {"workflow": "gated"}, "expect": {"contains": ["The second half of it is missing."]})") +
      verdict_lines("approved", "All that was asked for is there and was checked.") +
      complete_line("The second thing is done.")));
  const std::string session = place.start("gated");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(Gate, D18_AnUncertainVerdictWaitsForAPersonsVerdict) {
  LoopFixture place;
  place.add_workflow("gated", kGated);
  place.script(lines(
      complete_line("The first thing is done: MARK.") + verdict_lines("uncertain", "The artifacts do not show it.") +
      complete_line("The second thing is done.", R"("expect": {"contains": ["Do the second thing."]})")));
  const std::string session = place.start("gated");
  const WorkResult waits = place.work(session);
  ASSERT_EQ(waits.state, EndState::kAwaiting) << waits.reason;
  ASSERT_NE(waits.decision, "");
  place.open();
  const auto events = place.events(session).size();
  EXPECT_EQ(place.work(session).decision, waits.decision);
  EXPECT_EQ(place.events(session).size(), events);  // waiting leaves no trace
  place.answer(waits.decision, "approve");
  place.open();
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_THAT(place.types(session), Not(Contains("recovered")));
}

TEST(Gate, APersonDecidesWhenTheEvaluatorDies) {
  LoopFixture place;
  place.add_workflow("gated", kGated);
  place.script(lines(complete_line("The first thing is done: MARK.") +
                     R"({"when": {"workflow": "wr.gate-eval-generic"}, "content": "No.", "repeat": true})" + "\n"));
  const std::string session = place.start("gated");
  EXPECT_EQ(place.work(session).state, EndState::kAwaiting);
  EXPECT_EQ(place.events_of(session, "child_ended").front().payload.string_at("state"), "stopped_early");
}

TEST(Gate, AStepRejectedTooOftenWaitsForAPerson) {
  LoopFixture place;
  place.add_workflow("hand-over", R"(
id: hand-over
name: Hand over
description: One step with a contract.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Hand over.", outputContract: {contractRef: wr.contracts.coding_handoff}}
)");
  place.script(complete_line("I have done it all.") + complete_line("I have done it all, I say.") +
               complete_line("I have done it all, I repeat.") +
               complete_line("Again I have done it.", R"("expect": {"contains": ["Hand over."]})") +
               R"({"content": "x", "stop_reason": "refusal"})" + "\n");
  const std::string session = place.start("hand-over");
  const WorkResult waits = place.work(session);
  ASSERT_EQ(waits.state, EndState::kAwaiting) << waits.reason;
  place.answer(waits.decision, "again");
  EXPECT_EQ(place.work(session).state, EndState::kStoppedEarly);
}

TEST(Children, D26_TheMappedContextReachesTheChild) {
  LoopFixture place;
  place.add_workflow("child-flow", R"(
id: child-flow
name: Child
description: A child.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{scope}}."}
)");
  place.add_workflow("parent-flow", R"(
id: parent-flow
name: Parent
description: A parent.
version: 1.0.0
steps:
  - {id: prepare, title: Prepare, prompt: Prepare.}
  - id: gather
    type: parallel
    title: Gather
    parallelDelegations:
      - {id: wide, workflowId: child-flow, goal: Look wide, contextMapping: {area: scope}, captureAs: wide}
      - {id: deep, workflowId: child-flow, goal: Look deep, args: {scope: the core}, captureAs: deep}
  - {id: write, title: Write, prompt: "Write: {{wide.notes}} / {{deep.notes}} / {{deep.outcome}}"}
)");
  place.script(
      complete_line("It is prepared.") +
      complete_line("Wide it is.", R"("when": {"workflow": "child-flow", "contains": "Look at the index."})") +
      complete_line("Deep it is.", R"("when": {"workflow": "child-flow", "contains": "Look at the core."})") +
      complete_line("Written down.", R"("expect": {"contains": ["Write: Wide it is. / Deep it is. / complete"]})"));
  const std::string session = place.start("parent-flow", Value::object({{"area", "the index"}}));
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(place.events_of(session, "child_ended").size(), 2u);
}

TEST(Children, D16_ADeadChildIsReportedToTheStepImmediately) {
  LoopFixture place;
  place.add_workflow("child-flow", kTwoSteps);
  place.add_workflow("parent-flow", R"(
id: parent-flow
name: Parent
description: A parent.
version: 1.0.0
steps:
  - id: gather
    type: parallel
    title: Gather
    parallelDelegations:
      - {id: wide, workflowId: two-steps, goal: Look wide, captureAs: wide}
  - {id: write, title: Write, prompt: "Write: {{wide.outcome}}"}
)");
  place.add_workflow("two-steps", kTwoSteps);
  place.script(R"({"when": {"workflow": "two-steps"}, "content": "I give up.", "repeat": true})"
               "\n" +
               complete_line("Written down.", R"("expect": {"contains": ["Write: dead", "stopped_early"]})"));
  const WorkResult ended = place.work(place.start("parent-flow"));
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(SpawnAgent, D26_ContextReachesTheChildsWorkflowAndItsAgent) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.add_workflow("child-flow", R"(
id: child-flow
name: Child
description: A child.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{scope}}."}
)");
  place.script(
      call_line("spawn_agent",
                R"({"workflowId": "child-flow", "goal": "Look closely", "context": {"scope": "the index", )"
                R"("hint": "HINT-1"}})",
                R"("when": {"workflow": "two-steps"})") +
      complete_line("I looked and saw SEEN-1.",
                    R"("when": {"workflow": "child-flow"}, "expect": {"contains": ["Look at the index.", )"
                    R"("HINT-1", "Look closely"]})") +
      complete_line("The first thing is done.", R"("expect": {"contains": ["SEEN-1", "\"outcome\": \"complete\""]})") +
      complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(SpawnAgent, RunsSeveralInParallelAndReportsOneThatCannotStart) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.add_workflow("child-flow", R"(
id: child-flow
name: Child
description: A child.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{scope}}."}
)");
  place.script(
      call_line("spawn_agent",
                R"({"agents": [{"workflowId": "child-flow", "goal": "A", "context": {"scope": "left"}}, )"
                R"({"workflowId": "child-floww", "goal": "B"}, {"workflowId": "child-flow", "goal": "C", )"
                R"("context": {"scope": "right"}}]})",
                R"("when": {"workflow": "two-steps"})") +
      complete_line("Left is LEFT-1.", R"("when": {"workflow": "child-flow", "contains": "Look at left."})") +
      complete_line("Right is RIGHT-1.", R"("when": {"workflow": "child-flow", "contains": "Look at right."})") +
      complete_line("The first thing is done.",
                    R"("expect": {"contains": ["LEFT-1", "RIGHT-1", "not_started", "child-flow"]})") +
      complete_line("The second thing is done."));
  const WorkResult ended = place.work(place.start("two-steps"));
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(SpawnAgent, DepthIsLimitedAndTheAttemptIsLogged) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.depth = 1;
  const std::string spawn = R"({"workflowId": "two-steps", "goal": "Deeper"})";
  place.script(call_line("spawn_agent", spawn) + call_line("spawn_agent", spawn) +
               complete_line("Done by myself.", R"("expect": {"contains": ["at most 1 deep"]})") +
               complete_line("Done, the second.") + complete_line("The first thing is done.") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  const std::string child = place.events_of(session, "child_began").front().payload.string_at("child").value_or("");
  EXPECT_THAT(place.types(child), Contains("refused"));
}

TEST(SpawnAgent, DepthZeroMeansNoChildren) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.depth = 0;
  place.script(call_line("spawn_agent", R"({"workflowId": "two-steps", "goal": "Deeper"})") +
               complete_line("Done by myself.", R"("expect": {"contains": ["at most 0 deep"]})") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_TRUE(place.events_of(session, "child_began").empty());
}

TEST(SpawnAgent, AChildHasAtMostWhatItsParentHasLeft) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.tokens = 1'000;
  const std::string much = R"("usage": {"input_tokens": 400, "output_tokens": 0})";
  place.script(call_line("spawn_agent", R"({"workflowId": "two-steps", "goal": "Deeper"})", much) +
               complete_line("One.", much) + call_line("signal", R"({"signalKind": "progress", "payload": {}})", much) +
               complete_line("Never."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kTokenLimit) << ended.reason;
  EXPECT_EQ(ended.usage.total(), 1'200);  // the child's tokens count for its parent too
  const auto child = place.events_of(session, "child_ended");
  ASSERT_EQ(child.size(), 1u);
  EXPECT_EQ(child.front().payload.string_at("state"), "token_limit");
}

TEST(SpawnAgent, AllowedToolsAreEnforced) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      call_line("spawn_agent", R"({"workflowId": "two-steps", "goal": "Read only", "allowedTools": ["Read"]})") +
      call_line("Write", R"({"file_path": "a.txt", "content": "x"})") +
      complete_line("Could not write.", R"("expect": {"contains": ["Unknown tool"]})") +
      complete_line("Done, the second.") + complete_line("The first thing is done.") +
      complete_line("The second thing is done."));
  const WorkResult ended = place.work(place.start("two-steps"));
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_FALSE(std::filesystem::exists(place.tree + "/a.txt"));
}

TEST(Ask, SuspendsUntilAPersonAnswersAndPassesOnTheAnswer) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      call_line("ask", R"({"question": "Which of the two?", "options": ["The red one", "The blue one"]})") +
      complete_line("The first thing is done.", R"("expect": {"contains": ["A person answered: The blue one"]})") +
      complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult waits = place.work(session);
  ASSERT_EQ(waits.state, EndState::kAwaiting) << waits.reason;
  place.open();
  EXPECT_EQ(place.work(session).decision, waits.decision);
  place.answer(waits.decision, "the-blue-one");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
}

TEST(Ask, InventsNoAnswerForADeclinedQuestion) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("ask", R"({"question": "Which of the two?"})") +
               complete_line("The first thing is done.",
                             R"("expect": {"contains": ["The question was not answered; it was declined"]})") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult waits = place.work(session);
  ASSERT_EQ(waits.state, EndState::kAwaiting) << waits.reason;
  ASSERT_TRUE(place.home->home().inbox().decline(waits.decision, {inbox::Channel::kTerminal, "ann"}, "no"));
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
}

TEST(Signal, IsLoggedForTheCoordinator) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("signal", R"({"signalKind": "finding", "payload": {"file": "a.txt"}})") +
               complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  ASSERT_EQ(place.events_of(session, "signal").size(), 1u);
  EXPECT_EQ(place.events_of(session, "signal").front().payload["payload"].string_at("file"), "a.txt");
}

TEST(Lineage, AForgedChildIsRejected) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("Never."));
  const std::string session = place.start("two-steps");
  Assignment assignment = place.assignment(session);
  assignment.depth = 4;
  EXPECT_EQ(place.work(assignment).state, EndState::kForbidden);
  EXPECT_EQ(place.events(session).size(), 0u);
}

}  // namespace
}  // namespace sb::agent
