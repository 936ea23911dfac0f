// Agents working on a session, from the first turn to the end.
#include "agent/loop/testing.hpp"

namespace sb::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(AgentLoop, CompletesASession) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      complete_line("The first thing is done.", R"("expect": {"contains": ["Do the first thing.", "complete_step"]})") +
      complete_line("The second thing is done.", R"("expect": {"contains": ["Do the second thing."]})"));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(ended.turns, 2);
  EXPECT_EQ(place.status(session), "complete");
  EXPECT_THAT(place.types(session), ElementsAre("began", "turn", "tool_started", "tool_ended", "turn", "tool_started",
                                                "tool_ended", "ended"));
  // A session that is over causes no more requests.
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_EQ(place.types(session).size(), 8u);
}

// A model's private blocks stay with it: another model could not read them.
TEST(AgentLoop, UsesTheModelOfEachStepsTier) {
  LoopFixture place;
  place.add_workflow("tiers", R"(
id: tiers
name: Tiers
description: Three steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Do the first thing."}
  - {id: two, title: Two, prompt: "Do the second thing.", modelTier: heavy}
  - {id: three, title: Three, prompt: "Do the third thing."}
)");
  ModelSettings big = place.settings.models["m"];
  big.name = "big";
  big.script = place.directory + "/big.jsonl";
  big.output_price = 7;
  place.settings.models["big"] = big;
  place.settings.roles["default"] = "m";
  place.settings.tiers["heavy"] = "big";
  place.script(R"({"content": [{"type": "thinking", "thinking": "SMALL-THOUGHT", "signature": "s"}, )"
               R"({"type": "tool_use", "name": "complete_step", "input": {"notes": "The first thing is done."}}]})"
               "\n" +
               complete_line("The third thing is done.",
                             R"("expect": {"contains": ["SMALL-THOUGHT", "second thing is done"]})"));
  place.write(big.script,
              complete_line("The second thing is done.",
                            R"("expect": {"contains": ["The first thing is done."], "lacks": ["SMALL-THOUGHT"]}, )"
                            R"("usage": {"input_tokens": 0, "output_tokens": 3})"));
  const std::string session = place.start("tiers");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(ended.micro_cents, 21);
  std::vector<std::string> by;
  for (const LoggedEvent& turn : place.events_of(session, "turn")) {
    by.push_back(turn.payload.string_at("by").value_or(""));
  }
  EXPECT_THAT(by, ElementsAre("m", "big", "m"));
}

TEST(AgentLoop, NeverShowsTokens) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      complete_line("The first thing is done.",
                    R"("expect": {"lacks": ["ontinueToken", "ct_0", "st_0", "same token"]})") +
      complete_line("", R"("expect": {"lacks": ["ontinueToken", "ct_0", "st_0", "same token"]})") +
      complete_line("Second thing done.", R"("expect": {"lacks": ["ontinueToken", "ct_0", "st_0", "same token"]})"));
  EXPECT_EQ(place.work(place.start("two-steps")).state, EndState::kComplete);
}

TEST(AgentLoop, ReportsUnknownToolsAndInvalidArguments) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("complete_stepp", R"({"notes": "x"})") + call_line("complete_step", R"({"note": 1})") +
               call_line("complete_step", R"("not an object")") + complete_line("The first thing is done.") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  const auto ends = place.events_of(session, "tool_ended");
  EXPECT_THAT(place.result_text(session, ends[0]), HasSubstr("did you mean complete_step?"));
  EXPECT_THAT(place.result_text(session, ends[1]), HasSubstr("notes"));
  EXPECT_THAT(place.result_text(session, ends[2]), HasSubstr("takes an object"));
}

TEST(AgentLoop, D24_AnAgentThatStopsEarlyIsRemindedTwiceAndThenFails) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      R"({"content": "All done!"})"
      "\n" +
      complete_line("The first thing is done.", R"("expect": {"contains": ["The workflow is not complete"]})") +
      R"({"content": "I am done."})"
      "\n"
      R"({"content": "Really."})"
      "\n"
      R"({"content": "Yes."})"
      "\n");
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kStoppedEarly);
  EXPECT_EQ(place.events_of(session, "nudged").size(), 3u);
  EXPECT_EQ(place.status(session), "open");
  EXPECT_EQ(place.work(session).state, EndState::kStoppedEarly);
}

TEST(AgentLoop, ContinuesAfterACutReply) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(R"({"content": "A long", "stop_reason": "max_tokens"})"
               "\n" +
               complete_line("The first thing is done.", R"("expect": {"contains": ["cut off"]})") +
               complete_line("The second thing is done."));
  EXPECT_EQ(place.work(place.start("two-steps")).state, EndState::kComplete);
}

TEST(AgentLoop, ReportsTheLimitItReached) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  const std::string issue = R"({"kind": "blocked", "severity": "info", "summary": "N"})";
  std::string lines;
  for (int i = 0; i < 12; ++i) {
    std::string input = issue;
    input.replace(input.find("\"N\""), 3, "\"" + std::to_string(i) + "\"");
    lines += call_line("report_issue", input, R"("usage": {"input_tokens": 100, "output_tokens": 10})");
  }
  const auto end_with = [&](WorkLimits limits) {
    place.script(lines);
    place.limits = limits;
    Assignment assignment = place.assignment(place.start("two-steps"));
    assignment.run = assignment.session;
    return place.work(assignment).state;
  };
  EXPECT_EQ(end_with({.turns = 3}), EndState::kTurnLimit);
  EXPECT_EQ(end_with({.turns = 10}), EndState::kNoProgress);
  EXPECT_EQ(end_with({.tokens = 300}), EndState::kTokenLimit);
  place.settings.models["m"].input_price = 1'000;
  EXPECT_EQ(end_with({.micro_cents = 250'000}), EndState::kMoneyLimit);
  EXPECT_EQ(end_with({}), EndState::kModelFailed);  // the script has no more lines
}

TEST(AgentLoop, WarnsOnceAboutRepetitionThenEnds) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("nothing", "{}", R"("repeat": true)"));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kRepeating) << ended.reason;
  EXPECT_EQ(ended.turns, 4);
  EXPECT_EQ(place.events_of(session, "nudged").size(), 1u);
}

TEST(AgentLoop, ASilentModelIsAStall) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.stall_ms = 300;
  place.script(complete_line("Done, I think.", R"("delay_ms": 60000)"));
  EXPECT_EQ(place.work(place.start("two-steps")).state, EndState::kStalled);
}

// Sends something now and then before it replies.
class EndlessModel final : public Model {
 public:
  EndlessModel(std::unique_ptr<Model> inner, Clock& clock) : inner_(std::move(inner)), clock_(clock) {}
  std::string name() const override { return inner_->name(); }
  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    for (int i = 0; i < 8; ++i) {
      clock_.sleep_ms(100);
      if (!on_delta("") || !request.should_continue()) {
        return std::unexpected(
            ModelError{ModelError::Kind::kStopped, {ErrorCode::kUnavailable, "Interrupted", {}, {}}});
      }
    }
    return inner_->reply(request, on_delta);
  }

 private:
  std::unique_ptr<Model> inner_;
  Clock& clock_;
};

TEST(AgentLoop, D21_ALongCommandOrASlowButActiveModelIsNotAStall) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.stall_ms = 500;
  place.wrap_model = [&](std::unique_ptr<Model> model, const Assignment&, const ModelSettings&) {
    return std::make_unique<EndlessModel>(std::move(model), place.clock);
  };
  place.script(call_line("Bash", R"({"command": "sleep 2; echo awake"})") +
               complete_line("The first thing is done.", R"("expect": {"contains": ["awake"]})") +
               complete_line("The second thing is done."));
  const WorkResult ended = place.work(place.start("two-steps"));
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

// A model whose replies cannot be stored while the disk is full.
class UnsavableModel final : public Model {
 public:
  UnsavableModel(std::unique_ptr<Model> inner, bool& is_full) : inner_(std::move(inner)), is_full_(is_full) {}
  std::string name() const override { return inner_->name(); }
  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    if (!is_full_) return inner_->reply(request, on_delta);
    return std::unexpected(ModelError{ModelError::Kind::kRequest, {ErrorCode::kIo, "the disk is full", {}, {}}});
  }

 private:
  std::unique_ptr<Model> inner_;
  bool& is_full_;
};

TEST(AgentLoop, AFailedWriteDoesNotEndTheSession) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  bool is_full = true;
  place.wrap_model = [&](std::unique_ptr<Model> model, const Assignment&, const ModelSettings&) {
    return std::make_unique<UnsavableModel>(std::move(model), is_full);
  };
  place.script(complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult broke = place.work(session);
  EXPECT_EQ(broke.state, EndState::kInternalError) << broke.reason;
  EXPECT_TRUE(broke.reason.contains("the disk is full"));
  EXPECT_TRUE(place.events_of(session, "ended").empty());
  is_full = false;
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

std::string text_line(const std::string& text) {
  return R"({"content": [{"type": "text", "text": ")" + text +
         R"("}], "usage": {"input_tokens": 10, "output_tokens": 5}})" + "\n";
}

// Keeps every request as it would be sent.
class ListeningModel final : public Model {
 public:
  ListeningModel(std::unique_ptr<Model> inner, std::vector<std::string>& sent)
      : inner_(std::move(inner)), sent_(sent) {}
  std::string name() const override { return inner_->name(); }
  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    sent_.push_back(to_json(to_value(request)));
    return inner_->reply(request, on_delta);
  }

 private:
  std::unique_ptr<Model> inner_;
  std::vector<std::string>& sent_;
};

TEST(AgentLoop, AFinalTextThatOffersIsDiscardedAndAskedForAgain) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  std::vector<std::string> sent;
  place.wrap_model = [&](std::unique_ptr<Model> model, const Assignment&, const ModelSettings&) {
    return std::make_unique<ListeningModel>(std::move(model), sent);
  };
  place.script(text_line("Let me know if you want more.") + text_line("Please confirm that I may drop the table.") +
               complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  const auto discarded = place.events_of(session, "discarded");
  ASSERT_EQ(discarded.size(), 2u);
  EXPECT_EQ(discarded[0].payload.string_at("rule"), "INT020-SOFT-OFFER");
  EXPECT_EQ(discarded[1].payload.string_at("rule"), "INT023-PROSE-APPROVAL");
  EXPECT_EQ(discarded[1].payload["attempt"], Value(2));
  EXPECT_EQ(discarded[1].payload["turn"], Value(1));
  EXPECT_EQ(usage_from(discarded[0].payload["usage"]).total(), 15);
  const auto turns = place.events_of(session, "turn");
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].payload["attempt"], Value(3));
  EXPECT_EQ(turns[1].payload.find("attempt"), nullptr);
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[0], sent[1]);
  EXPECT_EQ(sent[0], sent[2]);
  EXPECT_FALSE(sent[3].contains("Let me know"));
  EXPECT_GE(ended.usage.total(), 30) << "what was discarded is paid for";
}

TEST(AgentLoop, AfterThreeDiscardedTextsTheNextIsKeptAndMarked) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  std::string lines;
  for (int i = 1; i <= 4; ++i) lines += text_line("Let me know if you want version " + std::to_string(i) + ".");
  place.script(lines + complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_EQ(place.events_of(session, "discarded").size(), 3u);
  const auto turns = place.events_of(session, "turn");
  ASSERT_GE(turns.size(), 2u);
  EXPECT_EQ(turns[0].payload["attempt"], Value(4));
  EXPECT_EQ(turns[0].payload.string_at("breaks"), "INT020-SOFT-OFFER");
  EXPECT_EQ(place.events_of(session, "nudged").size(), 1u) << "the kept one ended the turn early";
}

TEST(AgentLoop, OffersInGermanAreDiscardedIfConfigured) {
  for (const bool is_configured : {false, true}) {
    LoopFixture place;
    if (is_configured) place.settings.block_offers = {"de"};
    place.add_workflow("two-steps", kTwoSteps);
    place.script(text_line("Gib mir Bescheid, wenn ich weitermachen soll.") + complete_line("One.") +
                 complete_line("Two."));
    const std::string session = place.start("two-steps");
    EXPECT_EQ(place.work(session).state, EndState::kComplete);
    EXPECT_EQ(place.events_of(session, "discarded").size(), is_configured ? 1u : 0u);
  }
}

// Replies until `left` is used up; then the disk is full.
class ModelUntil final : public Model {
 public:
  ModelUntil(std::unique_ptr<Model> inner, int& left) : inner_(std::move(inner)), left_(left) {}
  std::string name() const override { return inner_->name(); }
  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    if (left_-- > 0) return inner_->reply(request, on_delta);
    return std::unexpected(ModelError{ModelError::Kind::kRequest, {ErrorCode::kIo, "the disk is full", {}, {}}});
  }

 private:
  std::unique_ptr<Model> inner_;
  int& left_;
};

TEST(AgentLoop, AnInterruptedWorkerContinuesWithTheNextAttempt) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  int left = 1;
  place.wrap_model = [&](std::unique_ptr<Model> model, const Assignment&, const ModelSettings&) {
    return std::make_unique<ModelUntil>(std::move(model), left);
  };
  place.script(text_line("Let me know if you want more.") + complete_line("One.") + complete_line("Two."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kInternalError);
  EXPECT_EQ(place.events_of(session, "discarded").size(), 1u);
  left = 100;
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_EQ(place.events_of(session, "discarded").size(), 1u);
  EXPECT_EQ(place.events_of(session, "turn")[0].payload["attempt"], Value(2));
}

TEST(AgentLoop, CommitsTheReadsOfATurnTogetherInCallOrder) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  std::string calls;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "f" + std::to_string(i) + ".txt";
    place.write(place.tree + "/" + name, "content-" + std::to_string(i) + "\n");
    calls += (i == 0 ? "" : ", ") +
             std::string(R"({"type": "tool_use", "id": "same", "name": "Read", "input": {"file_path": ")") + name +
             R"("}})";
  }
  place.script("{\"content\": [" + calls + "]}\n" + complete_line("The first thing is done.") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  const auto ends = place.events_of(session, "tool_ended");
  ASSERT_EQ(ends.size(), 14u);
  std::set<std::string> ids;
  for (int i = 0; i < 12; ++i) {
    const LoggedEvent& end = ends[static_cast<std::size_t>(i)];
    EXPECT_THAT(place.result_text(session, end), HasSubstr("content-" + std::to_string(i)));
    ids.insert(end.payload.string_at("call").value_or(""));
  }
  EXPECT_EQ(ids.size(), 12u);
  EXPECT_EQ(place.types(session)[2], "tool_ended");
}

TEST(AgentLoop, LeavesAStoppedSessionAlone) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") + complete_line("Never."));
  const std::string session = place.start("two-steps");
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::kStep && progress.step == "two") {
      EXPECT_TRUE(place.home->sessions().stop(session, "enough", "ann"));
    }
  };
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kSessionStopped) << ended.reason;
}

TEST(AgentLoop, ToolsHaveNoSecretsInTheirEnvironment) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      call_line("Bash", R"({"command": "env; echo k-0123456789-secret"})") +
      complete_line("The first thing is done.", R"("expect": {"lacks": ["MODEL_KEY", "k-0123456789-secret"]})") +
      complete_line("The second thing is done."));
  const WorkResult ended = place.work(place.start("two-steps"));
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(AgentLoop, LimitsTheTime) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.limits.time_ms = 300;
  place.script(complete_line("Done, I think.", R"("delay_ms": 60000)"));
  EXPECT_EQ(place.work(place.start("two-steps")).state, EndState::kTimeLimit);
}

TEST(AgentLoop, SuspendsDuringAnOutageAndContinuesLater) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") +
               R"({"error": {"kind": "overloaded", "message": "try later", "retry_after_ms": 5}})"
               "\n" +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kOutage);
  EXPECT_GT(ended.retry_at_ms, 0);
  while (place.clock.now_ms() < ended.retry_at_ms) place.clock.sleep_ms(1);
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_THAT(place.types(session), Not(Contains("recovered")));
}

TEST(AgentLoop, CompactsBetweenSteps) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.settings.models["m"].context_tokens = 1'000;
  place.script(
      complete_line("The first thing is done: MARK.", R"("usage": {"input_tokens": 700, "output_tokens": 10})") +
      complete_line("The second thing is done.",
                    R"("expect": {"contains": ["Do the second thing.", "MARK", "Make it faster"], )"
                    R"("lacks": ["Do the first thing."]})"));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_EQ(place.events_of(session, "compacted").size(), 1u);
}

TEST(AgentLoop, CompactsWhenTheModelReportsTooLongAContext) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") +
               R"({"error": {"kind": "too_long", "message": "200001 tokens"}})"
               "\n" +
               complete_line("The second thing is done.", R"("expect": {"lacks": ["Do the first thing."]})"));
  EXPECT_EQ(place.work(place.start("two-steps")).state, EndState::kComplete);
}

TEST(AgentLoop, AfterARejectedStepShowsWhatIsMissingThenAnExample) {
  LoopFixture place;
  place.add_workflow("hand-over", R"(
id: hand-over
name: Hand over
description: One step with a contract.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Hand over.", outputContract: {contractRef: wr.contracts.coding_handoff}}
)");
  const std::string good =
      R"({"notes": "All is handed over now.", "artifacts": [{"kind": "wr.coding_handoff", "version": 1, )"
      R"("keyDecisions": [], "knownLimitations": [], "testsAdded": [], "filesChanged": ["a.txt"]}]})";
  place.script(
      complete_line("I have done it all.") +
      complete_line(
          "I have done it, really.",
          R"("expect": {"contains": ["The step was rejected. Still missing", "wr.contracts.coding_handoff"]})") +
      call_line("complete_step", good,
                R"("expect": {"contains": ["A valid submission looks like this", "\"filesChanged\""]})"));
  const std::string session = place.start("hand-over");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(AgentLoop, RefusesSeveralSubmissionsInOneReply) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  const auto submit = [](const std::string& notes) {
    return R"({"type": "tool_use", "name": "complete_step", "input": {"notes": ")" + notes + R"("}})";
  };
  place.script(R"({"content": [)" + submit("The first thing is done.") + ", " + submit("It is not, after all.") +
               "]}\n" +
               complete_line("The first thing is half done.",
                             R"("expect": {"contains": ["several complete_step calls", "Do the first thing."]})") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  const auto attempt = place.home->sessions().attempt(session, 1, 1);
  EXPECT_EQ(place.home->sessions().output(session, **attempt)->notes, "The first thing is half done.");
}

TEST(AgentLoop, KeepsKnownSecretsOutOfLogsAndNotes) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The key is k-0123456789-secret, as I found out.") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  const auto attempt = place.home->sessions().attempt(session, 1, 1);
  const auto output = place.home->sessions().output(session, **attempt);
  EXPECT_THAT(output->notes, HasSubstr("[redacted: secret]"));
  for (const LoggedEvent& event : place.events(session)) {
    EXPECT_THAT(to_json(event.payload), Not(HasSubstr("k-0123456789-secret")));
    for (const std::string name : {"reply", "result"}) {
      const auto hash = event.payload.string_at(name);
      if (!hash) continue;
      EXPECT_THAT(place.result_text(session, {0, 0, "", Value::object({{"result", *hash}})}),
                  Not(HasSubstr("k-0123456789-secret")));
    }
  }
}

}  // namespace
}  // namespace sb::agent
