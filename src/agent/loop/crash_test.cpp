// Recovery from crashes: a session is continued from the store as it was after each commit.
#include "agent/loop/testing.hpp"
#include "store/store.hpp"

namespace sb::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGated = R"(
id: gated
name: Gated
description: A gated step, children, and a step behind them.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Do the first thing.", requireConfirmation: true}
  - id: gather
    type: parallel
    title: Gather
    parallelDelegations:
      - {id: wide, workflowId: child-flow, goal: Look wide, args: {scope: the index}, captureAs: wide}
  - {id: two, title: Two, prompt: "Do the second thing: {{wide.notes}}"}
)";
constexpr const char* kChild = R"(
id: child-flow
name: Child
description: A child.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{scope}}."}
)";

// Every line may be used again, selected by what has been said, so that the script works from any starting point.
std::string script() {
  const std::string repeat = R"("repeat": true, "when": )";
  return call_line("Write", R"({"file_path": "a.txt", "content": "one"})",
                   repeat + R"({"workflow": "gated", "step": "one", "lacks": ["Made a.txt", "Replaced a.txt", )"
                            R"("interrupted", "not read it"]})") +
         complete_line("The first thing is done: MARK.", repeat + R"({"workflow": "gated", "step": "one"})") +
         complete_line("Both lists, with all that was looked at in the workspace.",
                       repeat + R"({"workflow": "wr.gate-eval-generic", "step": "check-output"})") +
         call_line("complete_step",
                   R"({"notes": "The verdict rests on the two lists.", )"
                   R"("artifacts": [{"kind": "wr.gate_verdict", "version": 1, "verdict": "approved", )"
                   R"("confidence": "high", "rationale": "All that was asked for is there."}, )"
                   R"({"kind": "wr.assessment", "assessmentId": "gate-basis", )"
                   R"("dimensions": {"evidence": "checked", "criteria": "met"}}]})",
                   repeat + R"({"workflow": "wr.gate-eval-generic", "step": "give-verdict"})") +
         complete_line("Wide it is.", repeat + R"({"workflow": "child-flow"})") +
         complete_line("The second thing is done.",
                       repeat + R"({"workflow": "gated", "step": "two", "contains": "Wide it is."})");
}

TEST(Crash, D04_ASessionContinuedAfterAnyEventEndsTheSame) {
  LoopFixture whole;
  whole.add_workflow("gated", kGated);
  whole.add_workflow("child-flow", kChild);
  whole.script(script());
  const std::string session = whole.start("gated");
  const std::string before = whole.directory + "/before";
  whole.home.reset();
  std::filesystem::copy(whole.directory + "/own", before, std::filesystem::copy_options::recursive);
  whole.open();
  // A copy of the store at each progress report and each look of the watchdog: more moments than there are events.
  std::vector<std::string> copies;
  std::int64_t last = 0;
  Assignment assignment = whole.assignment(session);
  assignment.bundle = *make_bundle({}, identity_text(), {});
  const auto copy = [&] {
    const auto position =
        whole.home->home().store().read([](store::Snapshot& snapshot) { return snapshot.last_position(); });
    if (!position || *position == last) return;
    last = *position;
    copies.push_back(whole.directory + "/copy-" + std::to_string(copies.size()));
    std::filesystem::copy(whole.directory + "/own", copies.back(), std::filesystem::copy_options::recursive);
  };
  whole.on_progress = [&](const Progress&) { copy(); };
  whole.wrap_model = [&](std::unique_ptr<Model> model, const Assignment&, const ModelSettings&) {
    struct Copying final : Model {
      std::unique_ptr<Model> inner;
      std::function<void()> copy;
      std::string name() const override { return inner->name(); }
      ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
        copy();
        auto replied = inner->reply(request, on_delta);
        return replied;
      }
    };
    auto copying = std::make_unique<Copying>();
    copying->inner = std::move(model);
    copying->copy = copy;
    return copying;
  };
  ASSERT_EQ(whole.work(assignment).state, EndState::kComplete);
  ASSERT_GT(copies.size(), 8u);
  whole.on_progress = {};
  whole.wrap_model = {};
  int afresh = 0, resumed = 0;
  for (const std::string& each : copies) {
    whole.home.reset();
    std::filesystem::remove_all(whole.directory + "/own");
    std::filesystem::copy(each, whole.directory + "/own", std::filesystem::copy_options::recursive);
    whole.open();
    const WorkResult ended = whole.work(assignment);
    EXPECT_EQ(ended.state, EndState::kComplete) << each << ": " << ended.reason;
    for (const LoggedEvent& event : whole.events_of(session, "recovered")) {
      (event.payload.string_at("how") == "afresh" ? afresh : resumed) += 1;
    }
    const auto summary = whole.home->sessions().summary(session);
    EXPECT_EQ(summary->nodes, 4) << each;  // no second branch
    EXPECT_EQ(whole.read(whole.tree + "/a.txt"), "one");
    std::set<std::string> children;
    for (const LoggedEvent& event : whole.events_of(session, "child_began")) {
      children.insert(event.payload.string_at("child").value_or(""));
    }
    EXPECT_EQ(children.size(), 2u) << each;
  }
  EXPECT_GT(afresh, 0);
  EXPECT_GT(resumed, 0);
}

// A log as left by a process that dies in the middle of a call.
void crash_in(LoopFixture& place, const std::string& session, const std::string& tool) {
  const auto all = place.events(session);
  std::int64_t cut = 0;
  for (const LoggedEvent& event : all) {
    if (event.type == "tool_started" && event.payload.string_at("tool") == tool) cut = event.seq;
  }
  ASSERT_GT(cut, 0);
  const auto done = place.home->home().store().write([&](store::Transaction& transaction) -> Status {
    const std::string stream = agent_stream(session);
    const auto events = SB_TRY(transaction.events(stream, 1, 10'000));
    SB_TRY(transaction.remove_stream(stream));
    std::vector<store::NewEvent> kept;
    for (const auto& event : events) {
      if (event.seq <= cut) kept.push_back({event.type, event.time_ms, event.payload});
    }
    SB_TRY(transaction.append(stream, {}, kept));
    return {};
  });
  ASSERT_TRUE(done) << done.error().to_string();
}

TEST(Crash, AnInterruptedWriteIsReportedAndNotRepeated) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") + call_line("Bash", R"({"command": "echo x >> a.txt"})") +
               R"({"error": {"kind": "auth", "message": "no"}})" + "\n" +
               complete_line("The second thing is done.", R"("expect": {"contains": ["This call was interrupted"]})"));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  ASSERT_EQ(place.read(place.tree + "/a.txt"), "x\n");
  crash_in(place, session, "Bash");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(place.read(place.tree + "/a.txt"), "x\n");
  EXPECT_EQ(place.events_of(session, "recovered").front().payload.string_at("how"), "resumed");
}

TEST(Crash, ASessionThatHadHardlyBegunStartsAgain) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("Bash", R"({"command": "echo x >> a.txt"})") +
               R"({"error": {"kind": "auth", "message": "no"}})" + "\n" +
               complete_line("The first thing is done.",
                             R"("expect": {"contains": ["An earlier attempt at this step was interrupted", )"
                             R"("interrupted during Bash"], "lacks": ["echo x"]})") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  crash_in(place, session, "Bash");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(place.events_of(session, "recovered").front().payload.string_at("how"), "afresh");
}

TEST(Crash, AnInterruptedSubmissionIsSafelyRepeated) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") + R"({"error": {"kind": "auth", "message": "no"}})" + "\n" +
               complete_line("The second thing is done.", R"("expect": {"contains": ["Do the second thing."]})"));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  crash_in(place, session, "complete_step");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(place.home->sessions().summary(session)->nodes, 3);
}

TEST(Crash, ATamperedLogIsRejected) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done."));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  place.append(session, "tool_ended", Value::object({{"turn", 9}, {"call", "none"}, {"result", "00"}}));
  EXPECT_EQ(place.work(session).state, EndState::kInternalError);
}

TEST(Crash, ALogWithAMemberOfTheWrongKindIsRefused) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done."));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  place.append(session, "steered", Value::object({{"text", 1}}));
  EXPECT_THAT(place.work(session).reason,
              HasSubstr(R"((steered) of an agent's log is damaged: "text" is not a string)"));
}

TEST(Crash, ALogWithAnEventOfANewerVersionIsRefused) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done."));
  const std::string session = place.start("two-steps");
  ASSERT_EQ(place.work(session).state, EndState::kModelFailed);
  const auto head = [&] {
    return place.home->home().store().read(
        [&](store::Snapshot& snapshot) { return snapshot.head(agent_stream(session)); });
  };
  place.append(session, "something_new", Value::object());
  const std::int64_t before = head()->seq;
  const auto events = AgentLog(place.home->home().store(), place.clock, session).read();
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::kUnsupported);
  const std::string why = R"(has the unknown type "something_new" and was written by a newer version of Signalbox)";
  EXPECT_THAT(events.error().message, testing::HasSubstr(why));
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kInternalError);
  EXPECT_THAT(ended.reason, testing::HasSubstr(why));
  EXPECT_EQ(head()->seq, before);
}

}  // namespace
}  // namespace sb::agent
