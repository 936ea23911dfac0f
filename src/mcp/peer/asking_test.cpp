// Questions inside calls: asked, given up after 45 s, answered late, withdrawn, and mistakes of clients.
#include <gtest/gtest.h>

#include "mcp/limits.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

// A decision as the engine stores one: the first answer is stored, and later calls find it there.
struct Decision {
  std::optional<std::string> stored;
  int calls = 0;
  int late_calls = 0;

  ScriptedService::Tool tool() {
    return [this](const Value&, Call& call) -> HandlerResult {
      ++calls;
      if (call.is_late) ++late_calls;
      const Input* answer = call.input("approval");
      if (!stored && answer != nullptr && answer->kind == Input::Kind::kAnswered && call.state == Value("d1"))
        stored = answer->value["content"].string_at("name").value_or("declined");
      if (stored) return tool_result({text_content("decided: " + *stored)});
      if (answer != nullptr) return tool_result({text_content("awaiting_decision")});
      return InputRequired{
          .requests = {{"approval", "elicitation/create",
                        json(R"({"message":"Ship?","requestedSchema":{"type":"object","properties":{}}})")}},
          .state = "d1",
          .bound_to = "session/d1",
          .is_moot = [this] { return stored.has_value(); }};
    };
  }
};

TEST(PeerAsking, ParksAQuestionAfter45SecondsAndAcceptsALateAnswer) {
  PeerFixture talk;
  Decision decision;
  talk.script->tools["advance"] = decision.tool();
  talk.open();
  const Value question = talk.ask(talk.call(1, "advance"));
  EXPECT_EQ(question.string_at("method"), "elicitation/create");
  talk.wait_ms(limits::kHoldMs - 1);
  EXPECT_TRUE(talk.heard().empty());
  talk.wait_ms(1);
  const Value parked = talk.one();  // and no notifications/cancelled: the dialog stays open
  EXPECT_EQ(parked["id"], Value(1));
  EXPECT_EQ(text_of(parked), "awaiting_decision");

  talk.wait_ms(3'600'000);
  talk.say(accept(question["id"], "Ada"));
  EXPECT_TRUE(talk.heard().empty()) << "the call already has its response";
  EXPECT_EQ(decision.stored, "Ada");
  EXPECT_EQ(decision.late_calls, 1);
  talk.say(accept(question["id"], "Eve"));
  EXPECT_EQ(decision.stored, "Ada") << "a second answer is ignored";
  EXPECT_EQ(text_of(talk.ask(talk.call(2, "advance"))), "decided: Ada");
}

TEST(PeerAsking, HoldsACallAsLongAsTheClientWasSetUpFor) {
  PeerFixture talk;
  talk.shared.hold_ms = limits::kLongestHoldMs;
  Decision decision;
  talk.script->tools["advance"] = decision.tool();
  talk.open();
  const Value question = talk.ask(talk.call(1, "advance"));
  talk.wait_ms(10 * limits::kHoldMs);
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_EQ(text_of(talk.ask(accept(question["id"], "Ada"))), "decided: Ada");
  EXPECT_EQ(decision.late_calls, 0);
}

TEST(PeerAsking, ForgetsAQuestionAfterADay) {
  PeerFixture talk;
  Decision decision;
  talk.script->tools["advance"] = decision.tool();
  talk.open();
  const Value question = talk.ask(talk.call(1, "advance"));
  talk.wait_ms(limits::kHoldMs);
  talk.clock.sleep_ms(limits::kLateMs + 1);
  talk.say(accept(question["id"], "Ada"));
  EXPECT_EQ(decision.stored, std::nullopt);
}

TEST(PeerAsking, LimitsLateQuestions) {
  PeerFixture talk;
  talk.checks_schema = false;
  int late = 0;
  talk.script->tools["ask"] = [&](const Value&, Call& call) -> HandlerResult {
    late += call.is_late ? 1 : 0;
    return call.inputs.empty() ? HandlerResult(InputRequired{{{"a", "elicitation/create", Value::object()}}})
                               : HandlerResult(tool_result({}));
  };
  talk.open();
  std::vector<Value> questions;
  for (std::size_t i = 0; i <= limits::kLateQuestions; ++i) {
    questions.push_back(talk.ask(talk.call(i, "ask"))["id"]);
    talk.wait_ms(limits::kHoldMs);
    talk.heard();
  }
  talk.say(accept(questions[0], "x"));
  EXPECT_EQ(late, 0) << "the oldest was dropped";
  talk.say(accept(questions[1], "x"));
  EXPECT_EQ(late, 1);
}

TEST(PeerAsking, Waits45SecondsForAllRoundsInTotal) {
  PeerFixture talk;
  talk.script->tools["rounds"] = [](const Value&, Call& call) -> HandlerResult {
    for (const char* key : {"a", "b", "c"}) {
      const Input* input = call.input(key);
      if (input == nullptr)
        return InputRequired{{{key, "elicitation/create",
                               json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")}}};
      if (input->kind == Input::Kind::kUnanswered) return tool_result({text_content(std::string("no ") + key)});
    }
    return tool_result({text_content("all")});
  };
  talk.open();
  Value question = talk.ask(talk.call(1, "rounds"));
  talk.wait_ms(20'000);
  question = talk.ask(accept(question["id"], "x"));
  talk.wait_ms(24'999);
  EXPECT_TRUE(talk.heard().empty());
  talk.wait_ms(1);
  EXPECT_EQ(text_of(talk.one()), "no b");
}

TEST(PeerAsking, AsksNothingNewAfterTheTimeout) {
  PeerFixture talk;
  talk.script->tools["stubborn"] = [](const Value&, Call& call) -> HandlerResult {
    const std::string key = std::to_string(call.inputs.size());
    if (call.inputs.size() == 3) return tool_result({text_content("enough")});
    return InputRequired{
        {{key, "elicitation/create", json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")}}};
  };
  talk.open();
  talk.ask(talk.call(1, "stubborn"));
  talk.wait_ms(limits::kHoldMs);
  EXPECT_EQ(text_of(talk.one()), "enough");
}

TEST(PeerAsking, EndsACallThatAsksForever) {
  PeerFixture talk;
  talk.script->tools["again"] = [](const Value&, Call&) -> HandlerResult {
    return InputRequired{
        {{"a", "elicitation/create", json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")}}};
  };
  talk.open();
  Value message = talk.ask(talk.call(1, "again"));
  std::size_t rounds = 0;
  for (; message.string_at("method") == "elicitation/create"; ++rounds) message = talk.ask(accept(message["id"], "x"));
  EXPECT_EQ(rounds, limits::kAskRounds);
  EXPECT_EQ(message["error"]["code"], Value(-32603));
  talk.open();
  talk.heard();
  EXPECT_EQ(talk.ask(talk.call(2, "again")).string_at("method"), "elicitation/create") << "and the peer continues";
}

TEST(PeerAsking, WithdrawsTheQuestionWhenItIsAnsweredElsewhere) {
  PeerFixture talk;
  Decision decision;
  talk.script->tools["advance"] = decision.tool();
  talk.open();
  const Value question = talk.ask(talk.call(1, "advance"));
  talk.wait_ms(5'000);
  EXPECT_TRUE(talk.heard().empty());
  decision.stored = "by mail";
  talk.wait_ms(1'000);
  const std::vector<Value> heard = talk.heard();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].string_at("method"), "notifications/cancelled");
  EXPECT_EQ(heard[0]["params"]["requestId"], question["id"]);
  EXPECT_EQ(text_of(heard[1]), "decided: by mail");
  talk.say(accept(question["id"], "Ada"));
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_EQ(decision.stored, "by mail");
  EXPECT_EQ(decision.late_calls, 1) << "the handler keeps what was chosen in the meantime";
}

TEST(PeerAsking, ParksTheQuestionOfACancelledCall) {
  PeerFixture talk;
  Decision decision;
  talk.script->tools["advance"] = decision.tool();
  talk.open();
  const Value question = talk.ask(talk.call(1, "advance"));
  talk.say_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  const Value taken_back = talk.one();
  EXPECT_EQ(taken_back["params"]["requestId"], question["id"]);
  EXPECT_EQ(decision.calls, 2) << "the handler learns that there is no answer";
  EXPECT_EQ(talk.peer->running(), 0u);
  EXPECT_EQ(talk.silent_ends, 1u);
}

TEST(PeerAsking, PassesAClientErrorToTheHandler) {
  PeerFixture talk;
  talk.script->tools["ask"] = [](const Value&, Call& call) -> HandlerResult {
    const Input* input = call.input("a");
    if (input == nullptr)
      return InputRequired{{{"a", "elicitation/create",
                             json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")}}};
    EXPECT_EQ(input->kind, Input::Kind::kFailed);
    return tool_result({text_content(input->error.message)});
  };
  talk.open();
  const Value question = talk.ask(talk.call(1, "ask"));
  EXPECT_EQ(text_of(talk.ask(net::rpc_error(question["id"], {-32601, "no dialogs here"}))), "no dialogs here");
}

TEST(PeerAsking, AsksSeveralQuestionsAndWaitsForAll) {
  PeerFixture talk;
  std::string late;
  talk.script->tools["ask"] = [&](const Value&, Call& call) -> HandlerResult {
    if (call.inputs.empty())
      return InputRequired{
          {{"a", "elicitation/create", json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")},
           {"r", "roots/list", {}}}};
    std::string text;
    for (const auto& [key, input] : call.inputs) text += key + (input.kind == Input::Kind::kAnswered ? "+" : "-");
    if (call.is_late) late = text;
    return tool_result({text_content(text)});
  };
  talk.open("2025-11-25", R"({"elicitation":{},"roots":{}})");
  talk.say(talk.call(1, "ask"));
  std::vector<Value> questions = talk.heard();
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_NE(questions[0]["id"], questions[1]["id"]);
  talk.say(net::rpc_result(questions[1]["id"], json(R"({"roots":[]})")));
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_EQ(text_of(talk.ask(accept(questions[0]["id"], "x"))), "a+r+");

  talk.say(talk.call(2, "ask"));
  questions = talk.heard();
  talk.say(net::rpc_result(questions[1]["id"], json(R"({"roots":[]})")));
  talk.wait_ms(limits::kHoldMs);
  EXPECT_EQ(text_of(talk.one()), "a-r+") << "answers that arrived in time are kept";
  talk.say(accept(questions[0]["id"], "x"));
  EXPECT_EQ(late, "a+r+") << "and are there for the late answer";
}

TEST(PeerAsking, ReportsUnsupportedQuestionsToTheHandler) {
  for (const bool is_new : {false, true}) {
    PeerFixture talk;
    talk.script->tools["ask"] = [](const Value&, Call& call) -> HandlerResult {
      if (call.inputs.empty())
        return InputRequired{{{"s", "sampling/createMessage", json(R"({"messages":[],"maxTokens":1})")},
                              {"u", "elicitation/create", json(R"({"mode":"url"})")},
                              {"x", "made/up", {}}},
                             "kept"};
      EXPECT_EQ(call.state, Value("kept"));
      EXPECT_EQ(call.input("x")->error.code, -32601);
      EXPECT_EQ(to_json(call.input("u")->error.data), R"({"requiredCapabilities":{"elicitation":{"url":{}}}})");
      return call.input("s")->error;
    };
    talk.open();
    const Value answer = talk.ask(is_new ? talk.stateless(talk.call(1, "ask")) : talk.call(1, "ask"));
    EXPECT_EQ(answer["error"]["code"], Value(-32021));
    EXPECT_EQ(to_json(answer["error"]["data"]), R"({"requiredCapabilities":{"sampling":{}}})");
  }
}

TEST(PeerAsking, AsksAStatelessClientOnlyWhatItDeclared) {
  PeerFixture talk;
  talk.script->tools["ask"] = [](const Value&, Call& call) -> HandlerResult {
    std::vector<InputRequest> requests;
    if (call.input("e") == nullptr)
      requests.push_back(
          {"e", "elicitation/create", json(R"({"message":"?","requestedSchema":{"type":"object","properties":{}}})")});
    if (call.input("s") == nullptr)
      requests.push_back(
          {"s", "sampling/createMessage",
           json(R"({"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1})")});
    if (requests.empty()) return tool_result({});
    return InputRequired{std::move(requests)};
  };
  const Value answer = talk.ask(talk.stateless(talk.call(1, "ask"), R"({"sampling":{}})"));
  const Value& requests = answer["result"]["inputRequests"];
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_NE(requests.find("s"), nullptr);
  EXPECT_EQ(answer["result"].find("requestState"), nullptr) << "no state, nothing to return";
}

TEST(PeerAsking, AsksAgainForAnswersAStatelessClientOmitted) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  Value again = talk.stateless(talk.call(1, "greet"));
  again.find("params")->set("requestState", talk.ask(again)["result"]["requestState"]);
  again.find("params")->set("inputResponses", json(R"({"wrong":{"action":"accept"}})"));
  const Value asked = talk.ask(again);
  EXPECT_EQ(asked["result"].string_at("resultType"), "input_required");
  EXPECT_NE(asked["result"].find("requestState"), nullptr);
}

TEST(PeerAsking, AcceptsAStateOnlyWithItsRequest) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  talk.script->tools["other"] = greet;
  const auto state_for = [&] {
    return talk.ask(talk.stateless(talk.call(1, "greet", json(R"({"greeting":"A"})"))))["result"]["requestState"];
  };
  const auto code_of = [&](std::string_view tool, std::string_view arguments, Value state) {
    Value again = talk.stateless(talk.call(2, tool, json(arguments)));
    again.find("params")->set("inputResponses", json(R"({"name":{"action":"accept","content":{"name":"Ada"}}})"));
    again.find("params")->set("requestState", std::move(state));
    const Value answer = talk.ask(again);
    return answer.find("error") != nullptr ? answer["error"]["code"].as_integer() : 0;
  };
  EXPECT_EQ(code_of("greet", R"({"greeting":"A"})", state_for()), 0);
  EXPECT_EQ(code_of("greet", R"({"greeting":"B"})", state_for()), -32602);
  EXPECT_EQ(code_of("other", R"({"greeting":"A"})", state_for()), -32602);
  EXPECT_EQ(code_of("greet", R"({"greeting":"A"})", state_for().as_string() + "-TAMPERED"), -32602);
  const Value old = state_for();
  talk.clock.sleep_ms(limits::kStateLifeMs);
  EXPECT_EQ(code_of("greet", R"({"greeting":"A"})", old), -32602);
}

TEST(PeerAsking, IgnoresAnswersToOtherQuestions) {
  PeerFixture one, two;
  two.random = FakeRandom(2);
  two.peer = std::make_shared<Peer>(two.shared, PeerOrigin{});
  one.script->tools["greet"] = greet;
  two.script->tools["greet"] = greet;
  one.open();
  two.open();
  const Value question = one.ask(one.call(1, "greet"));
  two.ask(two.call(1, "greet"));
  two.say(accept(question["id"], "Eve"));
  EXPECT_TRUE(two.heard().empty());
}

}  // namespace
}  // namespace sb::mcp
