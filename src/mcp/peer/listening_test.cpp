// Change notifications: for a session automatically, for a stateless client on the stream it opened.
#include <gtest/gtest.h>

#include "mcp/limits.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

Value listen(Value id, std::string_view notifications) {
  return PeerFixture::stateless(
      net::rpc_request(std::move(id), "subscriptions/listen", Value::object({{"notifications", json(notifications)}})));
}

std::vector<std::string> methods_of(const std::vector<Value>& messages) {
  std::vector<std::string> methods;
  for (const Value& message : messages) methods.push_back(message.string_at("method").value_or("?"));
  return methods;
}

TEST(PeerListening, NotifiesASessionOfAChangedList) {
  PeerFixture talk;
  talk.open();
  talk.wait_ms(5'000);
  EXPECT_TRUE(talk.heard().empty());
  talk.script->fingerprints["list:tools"] = "new";
  talk.wait_ms(limits::kWatchMs);
  EXPECT_EQ(methods_of(talk.heard()), std::vector<std::string>{"notifications/tools/list_changed"});
  talk.wait_ms(5'000);
  EXPECT_TRUE(talk.heard().empty()) << "once per change";
}

TEST(PeerListening, NotifiesSoonAfterTheCallThatMadeTheChange) {
  PeerFixture talk;
  talk.script->tools["change"] = [&](const Value&, Call&) -> HandlerResult {
    talk.script->fingerprints["list:prompts"] = "new";
    return tool_result({});
  };
  talk.open();
  talk.ask(talk.call(1, "change"));
  talk.wait_ms(limits::kWatchSoonMs);
  EXPECT_EQ(methods_of(talk.heard()), std::vector<std::string>{"notifications/prompts/list_changed"});
}

TEST(PeerListening, NotifiesASessionOfSubscribedResources) {
  PeerFixture talk;
  talk.script->resources = {{"test://a", "A"}, {"test://b", "B"}};
  talk.open();
  const auto ask = [&](const char* method) {
    return talk.ask(net::rpc_request(1, method, json(R"({"uri":"test://a"})")));
  };
  EXPECT_EQ(to_json(ask("resources/subscribe")["result"]), "{}");
  talk.script->fingerprints = {{"test://a", "2"}, {"test://b", "2"}};
  talk.wait_ms(limits::kWatchMs);
  const Value notified = talk.one();
  EXPECT_EQ(notified.string_at("method"), "notifications/resources/updated");
  EXPECT_EQ(to_json(notified["params"]), R"({"uri":"test://a"})");
  EXPECT_EQ(to_json(ask("resources/unsubscribe")["result"]), "{}");
  talk.script->fingerprints["test://a"] = "3";
  talk.wait_ms(5'000);
  EXPECT_TRUE(talk.heard().empty());
}

TEST(PeerListening, AcknowledgesFirstAndReportsOnlyWhatWasRequested) {
  PeerFixture talk;
  talk.script->resources["test://a"] = "A";
  const Value acknowledged = talk.ask(listen("l:1", R"({"promptsListChanged":true,"toolsListChanged":false,
                        "resourceSubscriptions":["test://a","test://none"]})"));
  EXPECT_EQ(acknowledged.string_at("method"), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(to_json(acknowledged["params"]["notifications"]),
            R"({"promptsListChanged":true,"resourceSubscriptions":["test://a"]})");
  talk.script->fingerprints = {{"list:tools", "2"}, {"list:prompts", "2"}, {"test://a", "2"}, {"test://none", "2"}};
  talk.wait_ms(limits::kWatchMs);
  const std::vector<Value> notified = talk.heard();
  EXPECT_EQ(methods_of(notified),
            (std::vector<std::string>{"notifications/prompts/list_changed", "notifications/resources/updated"}));
  for (const Value& message : notified)
    EXPECT_EQ(message["params"]["_meta"].string_at("io.modelcontextprotocol/subscriptionId"), "l:1");
}

TEST(PeerListening, EndsAStreamThatIsCancelled) {
  PeerFixture talk;
  talk.ask(listen(1, R"({"toolsListChanged":true})"));
  EXPECT_EQ(talk.ask(listen(1, "{}"))["error"]["code"], Value(-32600)) << "the id is in use";
  talk.say_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  talk.script->fingerprints["list:tools"] = "2";
  talk.wait_ms(5'000);
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_EQ(talk.silent_ends, 1u);
}

TEST(PeerListening, EndsStreamsWithTheirResultWhenTheServerStops) {
  PeerFixture talk;
  talk.ask(listen(7, R"({"toolsListChanged":true})"));
  talk.ask(listen("x", "{}"));
  talk.peer->end_listening();
  const std::vector<Value> ends = talk.heard();
  ASSERT_EQ(ends.size(), 2u);
  for (const Value& end : ends) {
    EXPECT_EQ(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], end["id"]);
    EXPECT_EQ(end["result"].string_at("resultType"), "complete");
  }
}

TEST(PeerListening, LimitsSubscriptions) {
  PeerFixture talk;
  talk.open();
  for (std::size_t i = 0; i <= limits::kSubscriptions; ++i) {
    const std::string uri = "test://" + std::to_string(i);
    talk.script->resources[uri] = "x";
    const Value answer = talk.ask(net::rpc_request(1, "resources/subscribe", Value::object({{"uri", uri}})));
    EXPECT_EQ(answer.find("error") != nullptr, i == limits::kSubscriptions) << i;
  }
  Value many = Value::array();
  for (std::size_t i = 0; i <= limits::kSubscriptions; ++i) many.push_back("test://0");
  const Value params = Value::object({{"notifications", Value::object({{"resourceSubscriptions", many}})}});
  EXPECT_EQ(talk.ask(talk.stateless(net::rpc_request(2, "subscriptions/listen", params)))["error"]["code"],
            Value(-32602));
}

}  // namespace
}  // namespace sb::mcp
