// A session's questions shown to the person behind a client: asked, answered, left open, answered elsewhere.
#include "mcp/asking/carried_decisions.hpp"

#include <gmock/gmock.h>

#include "mcp/asking/testing.hpp"

namespace sb::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using P = PersonFixture;

class CarryingTest : public testing::Test {
 protected:
  // The question a workflow reaches, as sent to the client; empty if there is none.
  InputRequired asked_of_client(const engine::SessionResponse& answer, const Call& call = P::call()) {
    HandlerResult outcome = place.carry(answer, call);
    InputRequired* ask = std::get_if<InputRequired>(&outcome);
    EXPECT_NE(ask, nullptr) << P::text_of(outcome);
    return ask != nullptr ? std::move(*ask) : InputRequired{};
  }

  PersonFixture place;
};

TEST_F(CarryingTest, GateIsAskedAndItsAnswerReturnsTheNextStepInTheSameCall) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  ASSERT_EQ(ask.requests.size(), 1u);
  EXPECT_EQ(ask.requests[0].method, "elicitation/create");
  const Value& params = ask.requests[0].params;
  EXPECT_THAT(params["message"].as_string(), HasSubstr("Accept the result of this step?"));
  EXPECT_THAT(params["message"].as_string(), HasSubstr("| Done."));
  EXPECT_EQ(to_json(params["requestedSchema"]["properties"]["choice"]["oneOf"]),
            R"([{"const":"approve","title":"1) Approve"},{"const":"reject","title":"2) Reject"}])");
  EXPECT_THAT(ask.bound_to, HasSubstr(P::decision_of(waiting)));
  EXPECT_THAT(ask.bound_to, HasSubstr(waiting.line.string_at("sessionId").value()));
  EXPECT_FALSE(ask.is_moot());

  const HandlerResult next = place.resume(P::answered(P::call(), ask, P::choose("approve")));
  EXPECT_EQ(P::step_of(next), "two");
  const inbox::DecisionState done = place.state(P::decision_of(waiting));
  EXPECT_EQ(done.outcome->channel, inbox::Channel::kElicitation);
  EXPECT_EQ(done.outcome->principal, "a-client (local)");
  EXPECT_EQ(done.outcome->resolved_by, inbox::ResolvedBy::kHuman);
  EXPECT_EQ(done.outcome->raw, R"({"choice":"approve"})");
  EXPECT_TRUE(done.is_consumed);
}

// Anyone can speak the protocol, also the agent: what its dialog answers is not a person's.
Call agents_call() {
  Call call = P::call();
  call.caller.is_installed_client = false;
  return call;
}

TEST_F(CarryingTest, AClientWithoutTheSecretIsNotAsked) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const HandlerResult outcome = place.carry(waiting, agents_call());
  EXPECT_EQ(P::ask_of(outcome), nullptr);
  EXPECT_EQ(P::kind_of(outcome), "awaiting_decision");
  EXPECT_THAT(P::text_of(outcome), HasSubstr("signalbox mcp install --client other --name NAME"));
  EXPECT_THAT(P::text_of(outcome), HasSubstr("signalbox inbox answer"));
  Call claude = agents_call();
  claude.client_name = "Claude-Code";
  EXPECT_THAT(P::text_of(place.carry(waiting, claude)), HasSubstr("signalbox mcp install --client claude-code"));
  Call no_forms = agents_call();
  no_forms.client.has_form_elicitation = false;
  EXPECT_THAT(P::text_of(place.carry(waiting, no_forms)), Not(HasSubstr("mcp install")));
}

TEST_F(CarryingTest, AnAnswerWithoutTheSecretDoesNotCount) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  const HandlerResult next = place.resume(P::answered(agents_call(), ask, P::choose("approve")));
  EXPECT_EQ(P::kind_of(next), "awaiting_decision");
  EXPECT_TRUE(place.state(P::decision_of(waiting)).is_open());
}

TEST_F(CarryingTest, AClientWithoutTheSecretRelaysWhereThatIsAllowed) {
  PersonFixture relaying("confirmations: relay\n");
  const engine::SessionResponse waiting = relaying.asked(kGated);
  const HandlerResult asked = relaying.carry(waiting, agents_call());
  const InputRequired* ask = P::ask_of(asked);
  ASSERT_NE(ask, nullptr) << P::text_of(asked);
  const HandlerResult next = relaying.resume(P::answered(agents_call(), *ask, P::choose("approve")));
  EXPECT_EQ(P::step_of(next), "two");
  const inbox::DecisionState done = relaying.state(P::decision_of(waiting));
  EXPECT_EQ(done.outcome->channel, inbox::Channel::kRelay);
  EXPECT_EQ(done.outcome->resolved_by, inbox::ResolvedBy::kRelayed);
}

TEST_F(CarryingTest, RejectionPassesItsReasonToTheAgent) {
  const InputRequired ask = asked_of_client(place.asked(kGated));
  EXPECT_EQ(ask.requests[0].params["requestedSchema"]["properties"].size(), 1u);
  const HandlerResult why = place.resume(P::answered(P::call(), ask, P::choose("reject")));
  ASSERT_NE(P::ask_of(why), nullptr);
  EXPECT_EQ(to_json(P::ask_of(why)->requests[0].params["requestedSchema"]["required"]), R"(["reason"])");
  const Value content = Value::object({{"reason", "Too short"}});
  const HandlerResult next = place.resume(P::answered(P::call(), *P::ask_of(why), P::accept(content)));
  EXPECT_EQ(P::kind_of(next), "blocked");
  EXPECT_THAT(P::text_of(next), HasSubstr("Too short"));
}

TEST_F(CarryingTest, ARejectionCountsWithoutItsReason) {
  for (const Value& result :
       {P::act("cancel"), P::act("decline"), P::accept(Value::object({{"reason", 7}})), Value()}) {
    const engine::SessionResponse waiting = place.asked(kGated);
    const HandlerResult why = place.resume(P::answered(P::call(), asked_of_client(waiting), P::choose("reject")));
    ASSERT_NE(P::ask_of(why), nullptr);
    const HandlerResult next = place.resume(P::answered(P::call(), *P::ask_of(why), result));
    EXPECT_EQ(P::kind_of(next), "blocked") << to_json(result);
    EXPECT_THAT(place.state(P::decision_of(waiting)).outcome->options, ElementsAre("reject"));
  }
}

TEST_F(CarryingTest, ARejectionThatCameSecondIsReportedAndKept) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  place.answer_elsewhere(P::decision_of(waiting), {"approve"});
  const HandlerResult next = place.resume(P::answered(P::call(), ask, P::choose("reject")));
  EXPECT_EQ(P::step_of(next), "two");
  EXPECT_THAT(P::text_of(next),
              AllOf(HasSubstr("by ann first"), HasSubstr("\"reject\""), HasSubstr("Tell the person")));
  ASSERT_EQ(place.state(P::decision_of(waiting)).late.size(), 1u);
}

TEST_F(CarryingTest, ALateRejectionIsReportedByTheNextCall) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  place.answer_elsewhere(P::decision_of(waiting), {"approve"});
  Call late = P::answered(P::call(), ask, P::choose("reject"));
  late.is_late = true;
  place.resume(late);
  const engine::SessionResponse next = place.sessions().continue_session({.token = P::token_of(waiting)}).value();
  EXPECT_THAT(P::text_of(place.carry(next, P::call())), HasSubstr("Tell the person"));
  EXPECT_THAT(P::text_of(place.carry(next, P::call())), Not(HasSubstr("Tell the person")));
}

TEST_F(CarryingTest, ClientWithoutFormsGetsTheContextAndTheTextBlock) {
  Call call = P::call();
  call.client.has_form_elicitation = false;
  const engine::SessionResponse waiting = place.asked(kGated);
  const HandlerResult outcome = place.carry(waiting, call);
  EXPECT_EQ(P::kind_of(outcome), "awaiting_decision");
  EXPECT_THAT(P::text_of(outcome), HasSubstr("this step?\n\n1) Approve\n2) Reject\n"));
  const Value line = P::line_of(outcome);
  EXPECT_EQ(line["decision"].string_at("id"), P::decision_of(waiting));
  EXPECT_EQ(to_json(line["decision"]["options"]),
            R"([{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}])");
  EXPECT_FALSE(line["decision"]["relay"].as_bool());
  EXPECT_TRUE(line["decision"].find("url") != nullptr);
}

TEST_F(CarryingTest, SignedDecisionIsNeverAskedInADialog) {
  const engine::SessionResponse waiting = place.asked(kSigned);
  const HandlerResult outcome = place.carry(waiting, P::call());
  EXPECT_EQ(P::kind_of(outcome), "awaiting_decision");
  EXPECT_THAT(P::text_of(outcome), HasSubstr("needs an operator's signature"));
  // Not even with a state that claims it was asked.
  const Value state = Value::object({{"session", waiting.line["sessionId"]},
                                     {"token", P::token_of(waiting)},
                                     {"decision", P::decision_of(waiting)},
                                     {"page", 1},
                                     {"round", 1}});
  const InputRequired forged{.requests = {{P::decision_of(waiting), "elicitation/create", {}}}, .state = state};
  const HandlerResult after = place.resume(P::answered(P::call(), forged, P::choose("approve")));
  EXPECT_EQ(P::kind_of(after), "awaiting_decision");
  EXPECT_TRUE(place.state(P::decision_of(waiting)).is_open());
}

TEST_F(CarryingTest, EveryKindOfMissingAnswerLeavesTheDecisionInTheInbox) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const std::string id = P::decision_of(waiting);
  const auto left = [&](const Call& call, std::optional<inbox::HostResult> trace) {
    const HandlerResult outcome = place.resume(call);
    EXPECT_EQ(P::kind_of(outcome), "awaiting_decision");
    EXPECT_THAT(P::text_of(outcome), HasSubstr("1) Approve"));
    EXPECT_TRUE(place.state(id).is_open());
    EXPECT_EQ(place.state(id).last_no_answer, trace);
  };
  const InputRequired ask = asked_of_client(waiting);
  left(P::without_answer(P::call(), ask, Input::Kind::kFailed), std::nullopt);
  left(P::without_answer(P::call(), ask, Input::Kind::kUnanswered), inbox::HostResult::kTimedOut);
  left(P::answered(P::call(), ask, P::act("cancel")), inbox::HostResult::kCancelled);
  // Some clients decline without asking a person; that must not reject the submission.
  left(P::answered(P::call(), ask, P::act("decline")), inbox::HostResult::kDeclined);
  // The next call asks again, and it can still be answered.
  const HandlerResult next = place.resume(P::answered(P::call(), asked_of_client(waiting), P::choose("approve")));
  EXPECT_EQ(P::step_of(next), "two");
}

TEST_F(CarryingTest, InvalidAnswerIsAskedOnceMoreThenLeftInTheInbox) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  const HandlerResult again = place.resume(P::answered(P::call(), ask, P::choose("approved")));
  const InputRequired* second = P::ask_of(again);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second->requests[0].key, ask.requests[0].key);
  EXPECT_THAT(second->requests[0].params["message"].as_string(), HasSubstr("Not accepted: choice: is not one of"));
  const HandlerResult left = place.resume(P::answered(P::call(), *second, P::accept(Value::object())));
  EXPECT_EQ(P::kind_of(left), "awaiting_decision");
  EXPECT_TRUE(place.state(P::decision_of(waiting)).is_open());
}

TEST_F(CarryingTest, ContinuesImmediatelyWithAnAnswerFromElsewhere) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  place.answer_elsewhere(P::decision_of(waiting), {"approve"});
  EXPECT_TRUE(ask.is_moot());
  // The waiting call continues, and so does a call that arrives with the old answer.
  EXPECT_EQ(P::step_of(place.resume(P::without_answer(P::call(), ask, Input::Kind::kUnanswered))), "two");
  EXPECT_EQ(P::step_of(place.carry(waiting, P::call())), "two");
  // A later answer from the dialog changes nothing.
  EXPECT_EQ(P::step_of(place.resume(P::answered(P::call(), ask, P::choose("reject")))), "two");
  EXPECT_EQ(place.state(P::decision_of(waiting)).outcome->principal, "ann");
  EXPECT_THAT(place.events(P::decision_of(waiting)), ElementsAre("opened", "answered", "taken", "late"));
}

TEST_F(CarryingTest, LateAnswerCountsAndTheNextCallContinues) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const InputRequired ask = asked_of_client(waiting);
  EXPECT_EQ(P::kind_of(place.resume(P::without_answer(P::call(), ask, Input::Kind::kUnanswered))), "awaiting_decision");
  Call late = P::answered(P::call(), ask, P::choose("approve"));
  late.is_late = true;
  place.resume(late);
  const inbox::DecisionState done = place.state(P::decision_of(waiting));
  EXPECT_TRUE(done.is_answered());
  EXPECT_FALSE(done.is_consumed);
  // A second one changes nothing.
  late.inputs.begin()->second.value = P::choose("reject");
  place.resume(late);
  EXPECT_EQ(P::step_of(place.carry(place.deliver(waiting, {}), P::call())), "two");
}

TEST_F(CarryingTest, InvalidLateAnswerIsIgnored) {
  const engine::SessionResponse waiting = place.asked(kGated);
  Call late = P::answered(P::call(), asked_of_client(waiting), P::choose("maybe"));
  late.is_late = true;
  EXPECT_EQ(P::ask_of(place.resume(late)), nullptr);
  EXPECT_THAT(place.events(P::decision_of(waiting)), ElementsAre("opened"));
}

TEST_F(CarryingTest, RejectsAnAnswerToAnotherSessionsQuestion) {
  const engine::SessionResponse mine = place.asked(kGated);
  const engine::SessionResponse other = place.asked(kGated);
  InputRequired ask = asked_of_client(mine);
  // The same question in another session, with its key and state mixed with ours.
  ask.state.set("decision", P::decision_of(other));
  ask.requests[0].key = P::decision_of(other);
  const HandlerResult outcome = place.resume(P::answered(P::call(), ask, P::choose("approve")));
  EXPECT_THAT(P::text_of(outcome), HasSubstr("another session"));
  EXPECT_TRUE(place.state(P::decision_of(other)).is_open());
  EXPECT_TRUE(place.state(P::decision_of(mine)).is_open());
  // An answer under a key that was not asked is not an answer.
  Call stray = P::call();
  stray.state = asked_of_client(mine).state;
  stray.inputs["approval"] = {Input::Kind::kAnswered, P::choose("approve"), {}};
  EXPECT_EQ(P::kind_of(place.resume(stray)), "awaiting_decision");
}

TEST_F(CarryingTest, AnswersWithoutTheStateAreIgnored) {
  const engine::SessionResponse waiting = place.asked(kGated);
  Call call = P::call();
  call.inputs[P::decision_of(waiting)] = {Input::Kind::kAnswered, P::choose("approve"), {}};
  EXPECT_FALSE(resume_pending_call(*place.worker, call).has_value());
  EXPECT_NE(P::ask_of(place.carry(waiting, call)), nullptr);
  EXPECT_TRUE(place.state(P::decision_of(waiting)).is_open());
}

TEST_F(CarryingTest, TwoClientsAskTheSamePersonAndTheFirstAnswerCounts) {
  const engine::SessionResponse waiting = place.asked(kGated);
  Call other = P::call(Revision::k2025_06_18);
  other.client_name = "another";
  const InputRequired one = asked_of_client(waiting);
  const InputRequired two = asked_of_client(waiting, other);
  // The rejection counts before its reason is given.
  const HandlerResult why = place.resume(P::answered(other, two, P::choose("reject")));
  ASSERT_NE(P::ask_of(why), nullptr);
  EXPECT_EQ(P::kind_of(place.resume(P::answered(P::call(), one, P::choose("approve")))), "blocked");
  EXPECT_EQ(place.state(P::decision_of(waiting)).outcome->principal, "another (local)");
}

TEST_F(CarryingTest, OneQuestionAfterAnotherInOneCall) {
  const engine::SessionResponse waiting = place.asked(workflow_of(
      "[{id: aaa, type: decision, title: A, decision: {instruction: \"A?\", options: [x, y]}, captureAs: a}, "
      "{id: bbb, type: decision, title: B, decision: {instruction: \"B?\", options: [z, w], select: many}, captureAs: "
      "b}, "
      "{id: two, title: Two, prompt: \"{{a}}\"}]"));
  const InputRequired first = asked_of_client(waiting);
  const HandlerResult next = place.resume(P::answered(P::call(), first, P::choose("y")));
  const InputRequired* second = P::ask_of(next);
  ASSERT_NE(second, nullptr) << P::text_of(next);
  EXPECT_NE(second->state["token"], first.state["token"]);
  const Value content = Value::object({{"choices", Value::array({"w", "z"})}});
  const HandlerResult done = place.resume(P::answered(P::call(), *second, P::accept(content)));
  EXPECT_EQ(P::step_of(done), "two");
  EXPECT_THAT(P::text_of(done), HasSubstr("y"));
}

TEST_F(CarryingTest, PagesTextsAndFormsWork) {
  const engine::SessionResponse paged =
      place.asked(deciding("{instruction: \"Which?\", options: [a1, a2, a3, a4, a5, a6, a7, a8, a9]}"));
  const InputRequired first = asked_of_client(paged);
  const auto options_in = [](const InputRequired& asked) {
    return asked.requests[0].params["requestedSchema"]["properties"]["choice"]["oneOf"].size();
  };
  const HandlerResult forth = place.resume(P::answered(P::call(), first, P::choose("more")));
  ASSERT_NE(P::ask_of(forth), nullptr);
  EXPECT_EQ(options_in(*P::ask_of(forth)), 4u) << "three, and the way back";
  const HandlerResult back = place.resume(P::answered(P::call(), *P::ask_of(forth), P::choose("previous-page")));
  ASSERT_NE(P::ask_of(back), nullptr);
  EXPECT_EQ(P::ask_of(back)->requests[0].params, first.requests[0].params);
  const HandlerResult turned = place.resume(P::answered(P::call(), *P::ask_of(back), P::choose("more")));
  const InputRequired* second = P::ask_of(turned);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(P::step_of(place.resume(P::answered(P::call(), *second, P::choose("a8")))), "two");
  EXPECT_THAT(place.state(P::decision_of(paged)).outcome->options, ElementsAre("a8"));

  const engine::SessionResponse text = place.asked(deciding("{instruction: \"What name?\", select: text}"));
  const Value named = P::accept(Value::object({{"text", "Ada"}}));
  EXPECT_EQ(P::step_of(place.resume(P::answered(P::call(), asked_of_client(text), named))), "two");
  EXPECT_EQ(place.state(P::decision_of(text)).outcome->values["text"].as_string(), "Ada");

  const engine::SessionResponse form = place.asked(
      deciding("{instruction: \"Who?\", select: form, fields: [{key: name, title: Name, required: true}, {key: age, "
               "type: integer, title: Age}]}"));
  const Value filled = P::accept(Value::object({{"name", "Ada"}, {"age", 36}}));
  EXPECT_EQ(P::step_of(place.resume(P::answered(P::call(), asked_of_client(form), filled))), "two");
  EXPECT_EQ(to_json(place.state(P::decision_of(form)).outcome->values), R"({"name":"Ada","age":36})");
}

TEST_F(CarryingTest, CircuitBreakerIsAskedAfterTheAttemptEnded) {
  engine::SessionResponse answer = place.start(workflow_of(
      "[{id: one, title: One, prompt: P, validationCriteria: {type: contains, value: magic, message: No magic}}]"));
  for (int i = 0; i < 40 && answer.line.string_at("kind") != "awaiting_decision"; ++i) answer = place.deliver(answer);
  ASSERT_EQ(answer.line.string_at("kind"), "awaiting_decision");
  const InputRequired ask = asked_of_client(answer);
  EXPECT_EQ(ask.requests[0].params["requestedSchema"]["properties"].find("reason"), nullptr);
  const HandlerResult next = place.resume(P::answered(P::call(), ask, P::choose("again")));
  EXPECT_EQ(P::kind_of(next), "ok");
  EXPECT_EQ(P::step_of(next), "one");
}

TEST_F(CarryingTest, HostileContentAnswersNothing) {
  const engine::SessionResponse waiting = place.asked(kGated);
  const std::string id = P::decision_of(waiting);
  const std::vector<Value> hostile{
      Value(),
      Value("accept"),
      Value::array(),
      Value::object(),
      P::act("ACCEPT"),
      P::accept({}),
      P::accept("approve"),
      P::accept(Value::array({"approve"})),
      P::accept(Value::object({{"choice", 1}})),
      P::accept(Value::object({{"choice", Value::array({"approve"})}})),
      P::accept(Value::object({{"choice", "approve"}, {"extra", true}})),
      P::accept(Value::object({{"choice", "approve"}, {"choices", Value::array({"approve"})}})),
      P::accept(Value::object({{"choice", "again"}})),
      P::accept(Value::object({{"choice", "Approve"}})),
      P::accept(Value::object({{"choice", "approve\xff"}})),
      P::accept(Value::object({{"choice", "approve"}, {"reason", std::string(1u << 20, 'x')}})),
      P::accept(Value::object({{"choice", "reject"}, {"reason", "Too short"}})),
      P::accept(Value::object({{std::string(1u << 20, 'k'), "approve"}}))};
  for (const Value& result : hostile) {
    const InputRequired ask = asked_of_client(waiting);
    const HandlerResult outcome = place.resume(P::answered(P::call(), ask, result));
    if (const InputRequired* again = P::ask_of(outcome)) {
      EXPECT_LT(again->requests[0].params["message"].as_string().size(), 2'000u);
    } else {
      EXPECT_EQ(P::kind_of(outcome), "awaiting_decision");
    }
    EXPECT_TRUE(place.state(id).is_open());
    EXPECT_THAT(place.state(id).free_texts, testing::IsEmpty());
  }
}

TEST_F(CarryingTest, ClientNameIsShortenedAndSanitized) {
  Call call = P::call();
  call.client_name = "evil\n\x1b[31m" + std::string(100'000, 'n');
  const engine::SessionResponse waiting = place.asked(kGated);
  place.resume(P::answered(call, asked_of_client(waiting, call), P::choose("approve")));
  const std::string principal = place.state(P::decision_of(waiting)).outcome->principal;
  EXPECT_LT(principal.size(), 200u);
  EXPECT_THAT(principal, Not(HasSubstr("\n")));
  EXPECT_THAT(principal, Not(HasSubstr("\x1b")));
}

TEST_F(CarryingTest, OldRevisionsGetEnumNamesAndRows) {
  const Call old = P::call(Revision::k2025_06_18);
  const InputRequired one = asked_of_client(place.asked(kGated), old);
  EXPECT_EQ(
      to_json(one.requests[0].params["requestedSchema"]["properties"]["choice"]),
      R"({"type":"string","title":"Your choice","enum":["approve","reject"],"enumNames":["1) Approve","2) Reject"]})");
  const engine::SessionResponse many =
      place.asked(deciding("{instruction: \"Which?\", options: [a, b, c], select: many}"));
  const InputRequired rows = asked_of_client(many, old);
  EXPECT_EQ(to_json(rows.requests[0].params["requestedSchema"]["properties"]["choices:02:b"]),
            R"({"type":"boolean","title":"2) b","default":false})");
  const Value chosen =
      P::accept(Value::object({{"choices:01:a", true}, {"choices:02:b", false}, {"choices:03:c", true}}));
  EXPECT_EQ(P::step_of(place.resume(P::answered(old, rows, chosen))), "two");
  EXPECT_THAT(place.state(P::decision_of(many)).outcome->options, ElementsAre("a", "c"));
}

TEST(RelayedAnswer, IsParsedStrictly) {
  const Call call = P::call();
  const auto read = [&](std::string_view json) { return relayed_answer(*parse_json(json), call); };
  const auto good = read(R"({"decision":"d-1","options":["a","b"],"reason":"so"})");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->decision, "d-1");
  EXPECT_THAT(good->given.options, ElementsAre("a", "b"));
  EXPECT_EQ(good->remark, "so");
  EXPECT_EQ(good->by, "a-client (local)");
  EXPECT_EQ(read(R"({"decision":"d-1","text":"Ada"})")->given.values["text"].as_string(), "Ada");
  EXPECT_THAT(read(R"({"decision":"d-1","option":["a"]})").error().to_string(), HasSubstr("Did you mean \"options\"?"));
  for (const auto* bad :
       {"[]", "\"d-1\"", "{}", R"({"decision":7})", R"({"decision":"d","options":{}})",
        R"({"decision":"d","options":[1]})", R"({"decision":"d","values":[]})", R"({"decision":"d","text":1})"}) {
    EXPECT_FALSE(read(bad)) << bad;
  }
}

}  // namespace
}  // namespace sb::mcp
