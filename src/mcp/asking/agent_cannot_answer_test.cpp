// No tool, with any arguments, lets an agent answer: never what needs a signature, and nothing else unless the user's
// own configuration allows it.
#include <gmock/gmock.h>

#include "mcp/asking/testing.hpp"
#include "mcp/tools/tool_service.hpp"

namespace sb::mcp {
namespace {

using testing::HasSubstr;
using P = PersonFixture;

// Everything an agent could try for this decision and this token.
std::vector<Value> answers_to(const std::string& id) {
  const Value list = Value::array({"approve"});
  std::vector<Value> answers{Value::object({{"decision", id}, {"options", list}}),
                             Value::object({{"decision", id}, {"options", "approve"}}),
                             Value::object({{"decision", id}, {"values", Value::object({{"", "approve"}})}}),
                             Value::object({{"decision", id}, {"text", "approve"}}),
                             Value::object({{"decision", id}, {"options", list}, {"channel", "terminal"}}),
                             Value::object({{"decision", id}, {"options", list}, {"reason", "ann said so"}}),
                             Value::object({{"id", id}, {"options", list}, {"signature", "AAAA"}}),
                             list,
                             Value("approve")};
  answers.push_back(Value(to_json(answers.front())));
  return answers;
}

class AgentCannotAnswer : public testing::Test {
 protected:
  // Everything, with every tool. The client claims to have dialogs, and the agent sends forged "answers".
  void try_all_answers(PersonFixture& place, const engine::SessionResponse& waiting) {
    ToolService service(place.worker->seams());
    const std::string id = P::decision_of(waiting);
    const Value source = place.state(id).opened.source;
    std::vector<Value> arguments;
    for (const Value& answer : answers_to(id)) {
      for (const auto* intent : {"", "advance", "rehydrate"}) {
        Value each = Value::object({{"continueToken", P::token_of(waiting)}, {"answer", answer}});
        if (*intent != '\0') each.set("intent", intent);
        if (std::string(intent) == "rehydrate") each.set("workspacePath", place.directory);
        each.set("declaration", source);
        arguments.push_back(each);
        each.erase("declaration");
        arguments.push_back(std::move(each));
      }
      arguments.push_back(Value::object({{"declaration", source}, {"answer", answer}}));
      arguments.push_back(Value::object({{"declaration", source}, {"workspacePath", place.directory}}));
    }
    arguments.push_back(Value::object({{"continueToken", P::token_of(waiting)}}));
    arguments.push_back(Value::object({{"continueToken", P::token_of(waiting)},
                                       {"context", Value::object({{"answer", "approve"}, {"decision", id}})}}));
    const Value tools = service.tools();
    for (const Value& tool : tools.items()) {
      const std::string name = tool["name"].as_string();
      // Tools that could affect a decision get all attempts, the others a sample.
      const std::size_t stride = name == "continue_workflow" || name == "ask" ? 1 : 20;
      for (std::size_t i = 0; i < arguments.size(); i += stride) {
        call_with_stray_answers(service, name, arguments[i], id);
      }
    }
    const inbox::DecisionState after = place.state(id);
    EXPECT_TRUE(after.is_open());
    EXPECT_TRUE(after.free_texts.empty());
    EXPECT_THAT(after.rejected, testing::IsEmpty());
  }

  static void call_with_stray_answers(ToolService& service, const std::string& tool, const Value& arguments,
                                      const std::string& id) {
    Call call = P::call();
    call.inputs[id] = {Input::Kind::kAnswered, P::choose("approve"), {}};
    service.call_tool(tool, arguments, call);
    call.client.has_form_elicitation = false;
    if (tool == "continue_workflow") service.call_tool(tool, arguments, call);
  }
};

TEST_F(AgentCannotAnswer, GateWithoutRelaying) {
  PersonFixture place;
  // A project's file cannot switch it on.
  ASSERT_TRUE(place.files.make_directories(place.directory + "/project"));
  for (const auto* name : {"/signalbox.yaml", "/.signalbox/config.yaml", "/project/signalbox.yaml", "/config.yml"}) {
    (void)place.files.make_directories(parent_path(place.directory + name));
    ASSERT_TRUE(place.files.write_atomic(place.directory + name, "confirmations: relay\n"));
  }
  try_all_answers(place, place.asked(kGated));
}

TEST_F(AgentCannotAnswer, SignedGateEvenIfRelayingIsAllowed) {
  PersonFixture place("confirmations: relay\n");
  try_all_answers(place, place.asked(kSigned));
}

TEST_F(AgentCannotAnswer, AnythingUnderStrict) {
  PersonFixture place("strict: true\nconfirmations: relay\n");
  try_all_answers(place, place.asked(kGated));
}

TEST_F(AgentCannotAnswer, AnotherSessionsGate) {
  PersonFixture place("confirmations: relay\n");
  ToolService service(place.worker->seams());
  const engine::SessionResponse mine = place.asked(kGated);
  const engine::SessionResponse other = place.asked(kGated);
  Call call = P::call();
  const Value relayed = Value::object({{"decision", P::decision_of(other)}, {"options", Value::array({"approve"})}});
  const HandlerResult outcome = service.call_tool(
      "continue_workflow", Value::object({{"continueToken", P::token_of(mine)}, {"answer", relayed}}), call);
  EXPECT_THAT(P::text_of(outcome), HasSubstr(P::decision_of(mine)));
  EXPECT_TRUE(place.state(P::decision_of(other)).is_open());
  EXPECT_TRUE(place.state(P::decision_of(mine)).is_open());
}

TEST_F(AgentCannotAnswer, ExceptRelayingAPersonsAnswerIfTheUserAllowsIt) {
  PersonFixture place("confirmations: relay\n");
  ToolService service(place.worker->seams());
  const engine::SessionResponse waiting = place.asked(kGated);
  EXPECT_TRUE(waiting.line["decision"]["relay"].as_bool());
  Call call = P::call();
  const Value relayed = Value::object({{"decision", P::decision_of(waiting)}, {"options", Value::array({"approve"})}});
  const HandlerResult outcome = service.call_tool(
      "continue_workflow", Value::object({{"continueToken", P::token_of(waiting)}, {"answer", relayed}}), call);
  EXPECT_EQ(P::step_of(outcome), "two") << P::text_of(outcome);
  const inbox::DecisionState done = place.state(P::decision_of(waiting));
  EXPECT_EQ(to_json_value(done).string_at("resolved_by"), "relayed");
  EXPECT_EQ(to_json_value(done).string_at("channel"), "relay");
  EXPECT_EQ(done.outcome->principal, "a-client (local)");
}

}  // namespace
}  // namespace sb::mcp
