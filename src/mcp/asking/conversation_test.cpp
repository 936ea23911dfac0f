// Whole conversations of both eras in which a person is asked: messages in, messages out, time moved by hand.
#include <gmock/gmock.h>

#include "mcp/asking/ask.hpp"
#include "mcp/asking/testing.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

using testing::HasSubstr;
using P = PersonFixture;

class AskingConversation : public testing::Test {
 protected:
  AskingConversation() {
    // Like the tools: resume if it asked before, otherwise do the work, then ask what comes up.
    talk.script->tools["start"] = [this](const Value&, Call& call) -> HandlerResult {
      if (auto carried = resume_pending_call(*place.worker, call)) return std::move(*carried);
      ++started;
      return ask_for_decision(*place.worker, place.asked(kGated), call);
    };
    talk.script->tools["continue"] = [this](const Value& arguments, Call& call) -> HandlerResult {
      if (auto carried = resume_pending_call(*place.worker, call)) return std::move(*carried);
      auto answer = place.sessions().continue_session({.token = arguments.string_at("continueToken").value_or("")});
      EXPECT_TRUE(answer);
      return ask_for_decision(*place.worker, std::move(*answer), call);
    };
    talk.script->tools["ask"] = [this](const Value& arguments, Call& call) {
      return ask(*place.worker, arguments, call);
    };
  }

  static Value line_of(const Value& response) { return P::line_of(HandlerResult(response["result"])); }
  // The client's response to one of our requests.
  static Value reply(const Value& request, Value result) {
    return Value::object({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", std::move(result)}});
  }
  // The same call again, with the input that a question of the stateless era required.
  static Value retry(Value request, Value id, const Value& asked, Value result) {
    const Value& wanted = asked["result"]["inputRequests"];
    Value& params = *request.find("params");
    params.set("inputResponses", Value::object({{wanted.members().front().name, std::move(result)}}));
    params.set("requestState", asked["result"]["requestState"]);
    request.set("id", std::move(id));
    return request;
  }
  Value continue_session(const Value& line) {
    return PeerFixture::call("next", "continue", Value::object({{"continueToken", line["continueToken"]}}));
  }

  PersonFixture place;
  PeerFixture talk{PeerOrigin{.caller = {.is_installed_client = true}}};
  int started = 0;
};

TEST_F(AskingConversation, SessionEraAnswersInTheDialog) {
  talk.open();
  talk.say(PeerFixture::call(1, "start"));
  const Value question = talk.one();
  EXPECT_EQ(question.string_at("method"), "elicitation/create");
  const Value answer = talk.ask(reply(question, P::choose("approve")));
  EXPECT_EQ(line_of(answer)["pending"].string_at("stepId"), "two");
  EXPECT_EQ(started, 1);
}

TEST_F(AskingConversation, QuestionIsParkedAfter45SecondsAndAnsweredLate) {
  talk.open();
  talk.say(PeerFixture::call(1, "start"));
  const Value question = talk.one();
  talk.wait_ms(44'999);
  EXPECT_TRUE(talk.heard().empty());
  talk.wait_ms(1);
  const Value parked = line_of(talk.one());
  EXPECT_EQ(parked.string_at("kind"), "awaiting_decision");
  const std::string id = parked["decision"].string_at("id").value();
  EXPECT_EQ(place.state(id).last_no_answer, inbox::HostResult::kTimedOut);
  // The dialog is still open in the client, and its answer counts.
  talk.wait_ms(600'000);
  talk.say(reply(question, P::choose("approve")));
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_TRUE(place.state(id).is_answered());
  EXPECT_EQ(place.state(id).outcome->channel, inbox::Channel::kElicitation);
  // A second answer matches no question.
  talk.say(reply(question, P::choose("reject")));
  const Value next = talk.ask(continue_session(parked));
  EXPECT_EQ(line_of(next)["pending"].string_at("stepId"), "two");
}

TEST_F(AskingConversation, AnswerInTheTerminalEndsTheWait) {
  talk.open();
  talk.say(PeerFixture::call(1, "start"));
  const Value question = talk.one();
  const std::string id = place.inbox().list(false)->front().id;
  talk.wait_ms(1'000);
  EXPECT_TRUE(talk.heard().empty());
  place.answer_elsewhere(id, {"approve"});
  talk.wait_ms(1'000);
  const std::vector<Value> heard = talk.heard();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].string_at("method"), "notifications/cancelled");
  EXPECT_EQ(line_of(heard[1])["pending"].string_at("stepId"), "two");
  talk.say(reply(question, P::choose("reject")));
  EXPECT_EQ(place.state(id).outcome->principal, "ann");
}

TEST_F(AskingConversation, StatelessEraAsksWithAResult) {
  const Value request = PeerFixture::stateless(PeerFixture::call(1, "start"));
  const Value asked = talk.ask(request);
  ASSERT_EQ(asked["result"].string_at("resultType"), "input_required");
  const Value again = retry(request, 2, asked, P::choose("approve"));
  EXPECT_EQ(line_of(talk.ask(again))["pending"].string_at("stepId"), "two");
  EXPECT_EQ(started, 1);
  // The state is used up: it cannot answer anything a second time.
  Value third = again;
  third.set("id", 3);
  EXPECT_NE(talk.ask(third).find("error"), nullptr);
}

TEST_F(AskingConversation, StateIsValidOnlyForItsOwnQuestion) {
  const Value request = PeerFixture::stateless(PeerFixture::call(1, "start"));
  const Value mine = talk.ask(request);
  const Value other = talk.ask(PeerFixture::stateless(PeerFixture::call(2, "start")));
  // Our answer with the other state: that key was not asked there, so nothing is answered.
  Value mixed = retry(request, 3, mine, P::choose("approve"));
  mixed.find("params")->set("requestState", other["result"]["requestState"]);
  talk.ask(mixed);
  Value forged = retry(request, 4, mine, P::choose("approve"));
  std::string state = mine["result"]["requestState"].as_string();
  state[state.size() / 3] = state[state.size() / 3] == 'A' ? 'B' : 'A';
  forged.find("params")->set("requestState", state);
  EXPECT_NE(talk.ask(forged).find("error"), nullptr);
  for (const inbox::DecisionState& state_of : *place.inbox().list(true)) EXPECT_TRUE(state_of.is_open());
}

TEST_F(AskingConversation, StatelessEraMayAnswerLateToo) {
  const Value request = PeerFixture::stateless(PeerFixture::call(1, "start"));
  const Value asked = talk.ask(request);
  talk.wait_ms(3'600'000);
  EXPECT_EQ(line_of(talk.ask(retry(request, 2, asked, P::choose("approve"))))["pending"].string_at("stepId"), "two");
}

TEST_F(AskingConversation, ClientWithoutElicitationIsNotAsked) {
  talk.open("2025-03-26");
  const Value answer = talk.ask(PeerFixture::call(1, "start"));
  EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision");
  EXPECT_THAT(to_json(answer), HasSubstr("1) Approve"));
}

TEST_F(AskingConversation, ClientThatRejectsTheRequestGetsText) {
  talk.open();
  talk.say(PeerFixture::call(1, "start"));
  const Value question = talk.one();
  const Value error = Value::object({{"code", -32601}, {"message", "no such method"}});
  const Value answer = talk.ask(Value::object({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"error", error}}));
  EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision");
}

const Value& question_of_env() {
  static const Value arguments = json(R"({"declaration":{"decision":"env","instruction":"Which environment?",
      "options":["staging","production"]}})");
  return arguments;
}

TEST_F(AskingConversation, AskReturnsTheOutcomeAsTheCommandPrintsIt) {
  talk.open();
  talk.say(PeerFixture::call(1, "ask", question_of_env()));
  const Value question = talk.one();
  EXPECT_EQ(question["params"].string_at("message"), "Which environment?");
  const Value outcome = line_of(talk.ask(reply(question, P::choose("production"))));
  EXPECT_EQ(outcome.string_at("state"), "closed");
  EXPECT_EQ(outcome.string_at("outcome"), "answered");
  EXPECT_EQ(to_json(outcome["options"]), R"(["production"])");
  EXPECT_EQ(outcome.string_at("channel"), "elicitation");
  EXPECT_EQ(outcome.string_at("principal"), "tester (local)");
  std::vector<std::string> names;
  for (const Value::Member& member : outcome.members()) names.push_back(member.name);
  EXPECT_THAT(names, testing::ElementsAre("decision", "state", "outcome", "resolved_by", "options", "values",
                                          "principal", "channel", "at"));
}

TEST_F(AskingConversation, AskWaitsInTheInboxAndIsPickedUpByTheSameDeclaration) {
  talk.open("2025-11-25", "{}");
  const Value answer = talk.ask(PeerFixture::call(1, "ask", question_of_env()));
  const Value waiting = line_of(answer);
  EXPECT_EQ(waiting.string_at("kind"), "awaiting");
  const std::string id = waiting.string_at("decision").value();
  EXPECT_EQ(waiting.string_at("command"), "signalbox inbox answer " + id + " staging|production");
  EXPECT_THAT(to_json(answer), HasSubstr("1) staging"));
  EXPECT_EQ(line_of(talk.ask(PeerFixture::call(2, "ask", question_of_env()))).string_at("decision"), id);
  place.answer_elsewhere(id, {"staging"});
  const Value as_text = Value::object({{"declaration", to_json(question_of_env()["declaration"])}});
  const Value outcome = line_of(talk.ask(PeerFixture::call(3, "ask", as_text)));
  EXPECT_EQ(outcome.string_at("decision"), id);
  EXPECT_EQ(to_json(outcome["options"]), R"(["staging"])");
}

TEST_F(AskingConversation, LostResultIsReturnedAgainInsteadOfAskingTwice) {
  talk.open("2025-11-25", "{}");
  const auto asked = [&](bool again = false) {
    Value arguments = question_of_env();
    if (again) arguments.set("again", true);
    return talk.ask(PeerFixture::call(1, "ask", arguments));
  };
  const std::string id = line_of(asked()).string_at("decision").value();
  place.answer_elsewhere(id, {"staging"});
  const Value first = line_of(asked());
  EXPECT_EQ(first.string_at("outcome"), "answered");
  const Value repeated = asked();
  EXPECT_EQ(to_json(line_of(repeated)), to_json(first));
  EXPECT_THAT(to_json(repeated), HasSubstr("already received"));
  EXPECT_THAT(to_json(repeated), HasSubstr("again: true"));
  // `again` asks the person again, and later calls join that question until it is answered.
  const std::string second = line_of(asked(true)).string_at("decision").value();
  EXPECT_NE(second, id);
  EXPECT_EQ(line_of(asked(true)).string_at("decision"), second);
  EXPECT_EQ(line_of(asked()).string_at("decision"), second);
  place.answer_elsewhere(second, {"production"});
  EXPECT_EQ(to_json(line_of(asked())["options"]), R"(["production"])");
  place.clock.sleep_ms(24LL * 3'600'000);
  EXPECT_EQ(line_of(asked()).string_at("decision"), second);
  place.clock.sleep_ms(1);
  EXPECT_EQ(line_of(asked()).string_at("kind"), "awaiting");
}

TEST_F(AskingConversation, OutcomeReturnedToAnotherClientIsAskedAgain) {
  talk.open("2025-11-25", "{}");
  const Value request = PeerFixture::call(1, "ask", question_of_env());
  const std::string id = line_of(talk.ask(request)).string_at("decision").value();
  place.answer_elsewhere(id, {"staging"});
  ASSERT_TRUE(place.inbox().consume(id, "ask (ann)"));
  EXPECT_NE(line_of(talk.ask(request)).string_at("decision"), id);
}

TEST_F(AskingConversation, DeclinedAskReportsIt) {
  talk.open();
  talk.say(PeerFixture::call(1, "ask", question_of_env()));
  const Value outcome = line_of(talk.ask(reply(talk.one(), P::act("decline"))));
  EXPECT_EQ(outcome.string_at("outcome"), "declined");
}

TEST_F(AskingConversation, AgentDeclarationIsNotPolicyAndFaultsAreNamed) {
  talk.open();
  const auto refused = [&](std::string_view declaration) {
    const Value answer = talk.ask(PeerFixture::call(1, "ask", Value::object({{"declaration", Value(declaration)}})));
    EXPECT_TRUE(answer["result"]["isError"].as_bool()) << to_json(answer);
    EXPECT_THAT(to_json(answer), HasSubstr("retryable_immediate"));
    return to_json(answer);
  };
  EXPECT_THAT(refused("decision: env\nprofile: gstack\ninstruction: Which?\noptions: [a, b]\non_timeout: default\n"
                      "default: a\ndeadline: 1h\n"),
              HasSubstr("default"));
  EXPECT_THAT(refused("decision: env\ninstruction: Which?\noption: [a, b]\n"), HasSubstr("options"));
  EXPECT_THAT(refused("decision: key\ninstruction: What key?\nselect: text\nsecret: true\n"), HasSubstr("secret"));
  EXPECT_THAT(refused("- not\n- one"), HasSubstr("VALIDATION_ERROR"));
  EXPECT_THAT(refused(""), HasSubstr("VALIDATION_ERROR"));
  for (const auto* arguments : {"{}", R"({"declaration":7})", R"({"declaration":[]})", R"({"declaration":null})",
                                R"({"declaration":{},"workspacePath":"relative"})"}) {
    const Value answer = talk.ask(PeerFixture::call(1, "ask", json(arguments)));
    EXPECT_TRUE(answer["result"]["isError"].as_bool()) << to_json(answer);
  }
  EXPECT_TRUE(place.inbox().list(true)->empty());
}

TEST_F(AskingConversation, SignedQuestionIsLeftToTheTerminal) {
  talk.open();
  const Value drop = json(R"({"declaration":{"decision":"drop","instruction":"Drop the table?","door":"one-way",
      "irreversible_note":"Gone.","options":["keep","drop"]}})");
  const Value answer = talk.ask(PeerFixture::call(1, "ask", drop));
  EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting");
  EXPECT_THAT(to_json(answer), HasSubstr("operator init"));
}

}  // namespace
}  // namespace sb::mcp
