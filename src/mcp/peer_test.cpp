// Whole conversations in both eras: what a client says, and every message it hears.
#include "mcp/peer.hpp"

#include <gtest/gtest.h>

#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

Outcome greet(const Value& arguments, Call& call) {
  const Input* name = call.input("name");
  if (name == nullptr)
    return Ask{.requests = {{"name", "elicitation/create",
                             json(R"({"message":"Who are you?","requestedSchema":{"type":"object","properties":
                                  {"name":{"type":"string"}},"required":["name"]}})")}},
               .state = Value::object({{"greeting", arguments.string_at("greeting").value_or("Hello")}}),
               .bound_to = "greeting"};
  if (name->kind != Input::Kind::kAnswered) return tool_result({text_content("parked")});
  return tool_result({text_content(call.state.string_at("greeting").value_or("?") + " " +
                                   name->value["content"].string_at("name").value_or("nobody"))});
}

std::string text_of(const Value& response) {
  const Value& content = response["result"]["content"];
  return content.is_array() && content.size() > 0 ? content.items()[0].string_at("text").value_or("") : "";
}

Value accept(const Value& id, std::string_view name) {
  return net::rpc_result(id, Value::object({{"action", "accept"}, {"content", Value::object({{"name", name}})}}));
}

TEST(Peer, OpensASessionAndCallsATool) {
  Conversation talk;
  talk.script->tools["echo"] = [](const Value& arguments, Call&) -> Outcome {
    return tool_result({text_content(arguments.string_at("text").value_or(""))});
  };
  const Value opened = talk.open();
  EXPECT_EQ(opened["result"].string_at("protocolVersion"), "2025-11-25");
  EXPECT_EQ(opened["result"]["serverInfo"].string_at("name"), "test");
  EXPECT_EQ(text_of(talk.ask(talk.call(1, "echo", json(R"({"text":"hi"})")))), "hi");
}

TEST(Peer, AnswersAProbeAndAStatelessCallBesideASession) {
  Conversation talk;
  talk.script->tools["echo"] = [](const Value&, Call& call) -> Outcome {
    return tool_result({text_content(std::string(name_of(call.revision)))});
  };
  const Value found = talk.ask(talk.stateless(json(R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})")));
  EXPECT_EQ(to_json(found["result"]["supportedVersions"]), R"(["2026-07-28"])");
  EXPECT_EQ(found["result"].string_at("resultType"), "complete");
  EXPECT_EQ(found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"].string_at("name"), "test");
  talk.open("2024-11-05");
  EXPECT_EQ(text_of(talk.ask(talk.call(2, "echo"))), "2024-11-05");
  EXPECT_EQ(text_of(talk.ask(talk.stateless(talk.call(3, "echo")))), "2026-07-28");
}

TEST(Peer, AsksInASessionByARequestOfItsOwn) {
  Conversation talk;
  talk.script->tools["greet"] = greet;
  talk.open();
  const Value question = talk.ask(talk.call(1, "greet", json(R"({"greeting":"Good day"})")));
  EXPECT_EQ(question.string_at("method"), "elicitation/create");
  EXPECT_EQ(text_of(talk.ask(accept(question["id"], "Ada"))), "Good day Ada");
  talk.say(accept(question["id"], "Eve"));  // a second answer is nobody's
  EXPECT_TRUE(talk.heard().empty());
}

TEST(Peer, AsksInTheStatelessEraByAResult) {
  Conversation talk;
  talk.script->tools["greet"] = greet;
  const Value asked = talk.ask(talk.stateless(talk.call(1, "greet", json(R"({"greeting":"Good day"})"))));
  EXPECT_EQ(asked["result"].string_at("resultType"), "input_required");
  EXPECT_EQ(asked["result"]["inputRequests"]["name"].string_at("method"), "elicitation/create");
  Value again = talk.stateless(talk.call(2, "greet", json(R"({"greeting":"Good day"})")));
  again.find("params")->set("inputResponses", json(R"({"name":{"action":"accept","content":{"name":"Ada"}},"x":{}})"));
  again.find("params")->set("requestState", asked["result"]["requestState"]);
  EXPECT_EQ(text_of(talk.ask(again)), "Good day Ada");
  again.set("id", 3);
  EXPECT_EQ(talk.ask(again)["error"]["code"], Value(-32602)) << "a state is good for one use";
}

}  // namespace
}  // namespace sb::mcp
