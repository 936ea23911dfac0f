// Whole conversations in both eras: what a client sends, and every message it receives.
#include "mcp/peer/peer.hpp"

#include <gtest/gtest.h>

#include <new>

#include "mcp/limits.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

TEST(Peer, OpensASessionAndCallsATool) {
  PeerFixture talk;
  talk.script->tools["echo"] = [](const Value& arguments, Call&) -> HandlerResult {
    return tool_result({text_content(arguments.string_at("text").value_or(""))});
  };
  const Value opened = talk.open();
  EXPECT_EQ(opened["result"].string_at("protocolVersion"), "2025-11-25");
  EXPECT_EQ(opened["result"]["serverInfo"].string_at("name"), "test");
  EXPECT_EQ(text_of(talk.ask(talk.call(1, "echo", json(R"({"text":"hi"})")))), "hi");
}

TEST(Peer, AnswersAProbeAndAStatelessCallDuringASession) {
  PeerFixture talk;
  talk.script->tools["echo"] = [](const Value&, Call& call) -> HandlerResult {
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

TEST(Peer, AsksInASessionWithARequest) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  talk.open();
  const Value question = talk.ask(talk.call(1, "greet", json(R"({"greeting":"Good day"})")));
  EXPECT_EQ(question.string_at("method"), "elicitation/create");
  EXPECT_EQ(text_of(talk.ask(accept(question["id"], "Ada"))), "Good day Ada");
  talk.say(accept(question["id"], "Eve"));  // a second answer is ignored
  EXPECT_TRUE(talk.heard().empty());
}

TEST(Peer, AsksInTheStatelessEraWithAResult) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  const Value asked = talk.ask(talk.stateless(talk.call(1, "greet", json(R"({"greeting":"Good day"})"))));
  EXPECT_EQ(asked["result"].string_at("resultType"), "input_required");
  EXPECT_EQ(asked["result"]["inputRequests"]["name"].string_at("method"), "elicitation/create");
  Value again = talk.stateless(talk.call(2, "greet", json(R"({"greeting":"Good day"})")));
  again.find("params")->set("inputResponses", json(R"({"name":{"action":"accept","content":{"name":"Ada"}},"x":{}})"));
  again.find("params")->set("requestState", asked["result"]["requestState"]);
  EXPECT_EQ(text_of(talk.ask(again)), "Good day Ada");
  again.set("id", 3);
  EXPECT_EQ(talk.ask(again)["error"]["code"], Value(-32602)) << "a state can be used once";
}

TEST(Peer, UsesTheRequestedVersionOrTheNewestOfTheSessionEra) {
  for (const auto& [wanted, given] : std::vector<std::pair<std::string, std::string>>{{"2024-11-05", "2024-11-05"},
                                                                                      {"2025-03-26", "2025-03-26"},
                                                                                      {"2025-06-18", "2025-06-18"},
                                                                                      {"2025-11-25", "2025-11-25"},
                                                                                      {"2026-07-28", "2025-11-25"},
                                                                                      {"2024-10-07", "2025-11-25"},
                                                                                      {"", "2025-11-25"}}) {
    PeerFixture talk;
    EXPECT_EQ(talk.open(wanted)["result"].string_at("protocolVersion"), given) << wanted;
    EXPECT_EQ(name_of(talk.peer->revision()), given);
  }
}

struct Refused {
  std::string name;
  bool is_open;
  std::string line;
  int code;
};

TEST(Peer, RejectsInvalidMessages) {
  const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":{}})";
  const auto request = [](const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":{)" + params + "}}";
  };
  const std::vector<Refused> table{
      {"no such method", true, request("tools/destroy", ""), -32601},
      {"no such method before a session", false, request("tools/destroy", ""), -32601},
      {"a call before the session", false, request("tools/list", ""), -32600},
      {"a level before the session", false, request("logging/setLevel", R"("level":"info")"), -32600},
      {"a second initialize", true, request("initialize", R"("protocolVersion":"2025-11-25","capabilities":{})"),
       -32600},
      {"initialize without a version", false, request("initialize", R"("capabilities":{})"), -32602},
      {"initialize with invalid capabilities", false,
       request("initialize", R"("protocolVersion":"2025-11-25","capabilities":[])"), -32602},
      {"an unknown level", true, request("logging/setLevel", R"("level":"loud")"), -32602},
      {"a level that is a number", true, request("logging/setLevel", R"("level":3)"), -32602},
      {"_meta that is not an object", true, request("tools/list", R"("_meta":[])"), -32602},
      {"_meta that is null", true, request("tools/list", R"("_meta":null)"), -32602},
      {"a progress token that is an object", true, request("tools/call", R"("name":"x","_meta":{"progressToken":{}})"),
       -32602},
      {"no tool name", true, request("tools/call", ""), -32602},
      {"an unknown tool", true, request("tools/call", R"("name":"x")"), -32602},
      {"invalid arguments", true, request("tools/call", R"("name":"x","arguments":[])"), -32602},
      {"a batch", true, "[" + request("ping", "") + "]", -32600},
      {"a batch before the session", false, "[" + request("ping", "") + "]", -32600},
      {"discover without _meta", false, request("server/discover", ""), -32602},
      {"discover in a session, without _meta", true, request("server/discover", ""), -32602},
      {"a version that is a number", false,
       request("tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":1})"), -32602},
      {"no version", false, request("tools/list", R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{}})"),
       -32602},
      {"no capabilities", false,
       request("tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"), -32602},
      {"an unknown log level", false,
       request("tools/list", meta.substr(0, meta.size() - 1) + R"(,"io.modelcontextprotocol/logLevel":"loud"})"),
       -32602},
      {"a client that is not an object", false,
       request("tools/list", meta.substr(0, meta.size() - 1) + R"(,"io.modelcontextprotocol/clientInfo":"me"})"),
       -32602},
      {"a version of the other era", false,
       request("tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"})"), -32022},
      {"invalid answers", false, request("tools/call", R"("name":"x","inputResponses":null,)" + meta), -32602},
      {"an answer that is a number", false, request("tools/call", R"("name":"x","inputResponses":{"a":12345},)" + meta),
       -32602},
      {"a state that is not a string", false, request("tools/call", R"("name":"x","requestState":{},)" + meta), -32602},
      {"a state that is not ours", false, request("tools/call", R"("name":"x","requestState":"e30.e30",)" + meta),
       -32602},
      {"listening without a filter", false, request("subscriptions/listen", meta), -32602},
      {"listening with an invalid flag", false,
       request("subscriptions/listen", R"("notifications":{"toolsListChanged":1},)" + meta), -32602},
      {"subscribing to nothing", true, request("resources/subscribe", ""), -32602},
      {"subscribing to an unknown resource", true, request("resources/subscribe", R"("uri":"test://no")"), -32002},
  };
  for (const Refused& refused : table) {
    PeerFixture talk;
    if (refused.is_open) talk.open();
    talk.say_line(refused.line);
    const Value answer = talk.one();
    EXPECT_EQ(answer["error"]["code"], Value(refused.code)) << refused.name << ": " << to_json(answer);
    EXPECT_FALSE(answer["error"].string_at("message").value_or("").empty());
    if (refused.line.front() == '{') {
      EXPECT_EQ(answer["id"], Value(7)) << refused.name;
    }
  }
}

TEST(Peer, ReportsItsVersions) {
  PeerFixture talk;
  Value request = talk.stateless(net::rpc_request(1, "server/discover", Value::object()));
  request.find("params")->find("_meta")->set("io.modelcontextprotocol/protocolVersion", "v999.0.0");
  EXPECT_EQ(to_json(talk.ask(request)["error"]["data"]), R"({"requested":"v999.0.0","supported":["2026-07-28"]})");
}

TEST(Peer, HasNoSessionMethodsInTheStatelessEra) {
  PeerFixture talk;
  talk.open();
  for (const char* method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "unknown/method"})
    EXPECT_EQ(talk.ask(talk.stateless(net::rpc_request(1, method, Value::object())))["error"]["code"], Value(-32601))
        << method;
}

TEST(Peer, TreatsEveryMessageAsStatelessIfTheTransportSaysSo) {
  PeerFixture talk({.is_single_request = true});
  for (const char* method : {"initialize", "tools/list", "ping"})
    EXPECT_EQ(talk.ask(net::rpc_request(1, method, Value::object()))["error"]["code"], Value(-32602)) << method;
}

TEST(Peer, RejectsAnIdInUse) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  talk.open();
  const Value question = talk.ask(talk.call(1, "greet"));
  EXPECT_EQ(talk.ask(talk.call(1, "greet"))["error"]["code"], Value(-32600));
  EXPECT_EQ(talk.ask(talk.call("1", "greet")).string_at("method"), "elicitation/create") << "another id";
  EXPECT_EQ(text_of(talk.ask(accept(question["id"], "Ada"))), "Hello Ada");
  EXPECT_EQ(talk.ask(talk.call(1, "greet")).string_at("method"), "elicitation/create") << "free again";
}

TEST(Peer, LimitsConcurrentCalls) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  talk.open();
  for (std::size_t i = 0; i < limits::kCallsAtOnce; ++i)
    ASSERT_EQ(talk.ask(talk.call(i, "greet")).string_at("method"), "elicitation/create");
  EXPECT_EQ(talk.peer->running(), limits::kCallsAtOnce);
  EXPECT_EQ(talk.ask(talk.call("more", "greet"))["error"]["code"], Value(-32603));
  EXPECT_EQ(to_json(talk.ask(net::rpc_request("ping", "ping", Value::object()))["result"]), "{}");
}

TEST(Peer, AnswersBatchesIfTheRevisionHasThem) {
  PeerFixture talk;
  talk.checks_schema = false;
  talk.script->tools["greet"] = greet;
  talk.open("2025-03-26");
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::string note = R"({"jsonrpc":"2.0","method":"notifications/progress"})";
  talk.say_line("[" + ping + "," + note + R"(,{"jsonrpc":"2.0","id":2,"method":"nothing"},{"id":3}])");
  const Value answers = talk.one();
  ASSERT_TRUE(answers.is_array());
  EXPECT_EQ(answers.size(), 3u);
  talk.say_line("[" + note + "]");
  EXPECT_TRUE(talk.heard().empty()) << "notifications alone get no response";
  talk.say_line(R"([{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}])");
  EXPECT_EQ(talk.one().items()[0]["error"]["code"], Value(-32600));
  talk.say_line("[" + to_json(talk.call(5, "greet")) + "," + to_json(talk.call(6, "greet")) +
                R"(,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}])");
  const Value left = talk.one();
  ASSERT_EQ(left.size(), 1u) << "a cancelled call is omitted";
  EXPECT_EQ(left.items()[0]["id"], Value(6));
  EXPECT_EQ(text_of(left.items()[0]), "parked") << "this revision cannot ask";
}

TEST(Peer, ReportsIncreasingProgressIfRequested) {
  PeerFixture talk;
  talk.script->tools["work"] = [](const Value&, Call& call) -> HandlerResult {
    for (const double at : {0.0, 50.0, 20.0, 100.0}) call.sink->progress(at, 100.0, "working");
    return tool_result({text_content("done")});
  };
  talk.open();
  EXPECT_EQ(text_of(talk.ask(talk.call(1, "work"))), "done") << "not requested: not reported";
  for (const bool is_new : {false, true}) {
    Value request = talk.call(2, "work");
    request.find("params")->set("_meta", json(R"({"progressToken":"t"})"));
    talk.say(is_new ? talk.stateless(request) : request);
    const std::vector<Value> heard = talk.heard();
    ASSERT_EQ(heard.size(), 4u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(heard[i]["params"].string_at("progressToken"), "t");
      EXPECT_EQ(heard[i]["params"]["progress"].as_number(), static_cast<double>(i) * 50);
    }
    EXPECT_EQ(text_of(heard[3]), "done") << "the response comes last";
  }
}

TEST(Peer, LogsFromTheConfiguredLevel) {
  PeerFixture talk;
  talk.script->tools["work"] = [](const Value&, Call& call) -> HandlerResult {
    for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kError})
      call.sink->log(level, "worker", "text");
    return tool_result({});
  };
  const auto levels = [&](const Value& request) {
    talk.say(request);
    std::string text;
    for (const Value& message : talk.heard())
      text += message.find("method") != nullptr ? message["params"].string_at("level").value_or("?") + " " : "result";
    return text;
  };
  talk.open();
  EXPECT_EQ(levels(talk.call(1, "work")), "info error result");
  EXPECT_EQ(to_json(talk.ask(net::rpc_request(2, "logging/setLevel", json(R"({"level":"error"})")))["result"]), "{}");
  EXPECT_EQ(levels(talk.call(3, "work")), "error result");
  Value request = talk.stateless(talk.call(4, "work"));
  EXPECT_EQ(levels(request), "result") << "stateless: only when the request asks for it";
  request.find("params")->find("_meta")->set("io.modelcontextprotocol/logLevel", "debug");
  EXPECT_EQ(levels(request), "debug info error result");
}

TEST(Peer, ReportsAFailedHandler) {
  PeerFixture talk;
  talk.script->tools["throw"] = [](const Value&, Call&) -> HandlerResult { throw std::bad_alloc(); };
  talk.open();
  EXPECT_EQ(talk.ask(talk.call(1, "throw"))["error"]["code"], Value(-32603));
  EXPECT_EQ(talk.ask(talk.stateless(talk.call(2, "throw")))["error"]["code"], Value(-32603));
  talk.script->tools["list"] = [](const Value&, Call&) -> HandlerResult { return Value::array(); };
  EXPECT_EQ(talk.ask(talk.call(3, "list"))["error"]["code"], Value(-32603)) << "not a valid result";
}

TEST(Peer, SendsNothingForACancelledCall) {
  for (const bool is_new : {false, true}) {
    PeerFixture talk;
    bool was_cancelled = false;
    talk.script->tools["work"] = [&](const Value&, Call& call) -> HandlerResult {
      talk.peer->receive(
          net::read_rpc(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"), nullptr);
      was_cancelled = *call.is_cancelled;
      call.sink->log(LogLevel::kError, "", "no one receives this");
      return tool_result({text_content("too late")});
    };
    talk.open();
    talk.say(is_new ? talk.stateless(talk.call(1, "work")) : talk.call(1, "work"));
    EXPECT_TRUE(was_cancelled);
    EXPECT_TRUE(talk.heard().empty());
    EXPECT_EQ(talk.silent_ends, 1u);
    EXPECT_EQ(talk.peer->running(), 0u);
  }
}

TEST(Peer, IgnoresCancelsOfUnknownRequests) {
  PeerFixture talk;
  talk.open();
  for (const char* params : {"{}", R"({"requestId":99})", R"({"requestId":{"a":[]}})", R"({"requestId":null})"})
    talk.say_line(std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)") + params + "}");
  talk.say_line(R"({"jsonrpc":"2.0","method":"notifications/unheard_of"})");
  talk.say_line(R"({"jsonrpc":"2.0","id":5,"result":{}})");
  talk.say_line(R"({"jsonrpc":"2.0","id":"sb-1","error":{"code":1,"message":"x"}})");
  EXPECT_TRUE(talk.heard().empty());
}

TEST(Peer, IsRestoredFromSavedState) {
  PeerFixture before, after;
  before.open("2025-06-18", R"({"elicitation":{},"roots":{}})");
  after.checks_schema = false;
  after.script->tools["who"] = [](const Value&, Call& call) -> HandlerResult {
    return tool_result(
        {text_content(std::string(name_of(call.revision)) + " " + call.client_name +
                      (call.client.has_form_elicitation ? " form" : "") +
                      (call.client.has_sampling ? " sampling" : "") + (call.client.has_roots ? " roots" : ""))});
  };
  EXPECT_TRUE(after.peer->restore(json(to_json(before.peer->saved()))));
  EXPECT_FALSE(after.peer->restore(before.peer->saved())) << "it is already open";
  EXPECT_EQ(text_of(after.ask(after.call(1, "who"))), "2025-06-18 tester form roots");
  PeerFixture another;
  for (const char* bad : {"{}", "[]", "null", R"({"version":"2026-07-28"})", R"({"version":7})"})
    EXPECT_FALSE(another.peer->restore(json(bad))) << bad;
}

TEST(Peer, RejectsRequestsAfterClose) {
  PeerFixture talk;
  talk.script->tools["greet"] = greet;
  talk.open();
  talk.ask(talk.call(1, "greet"));
  talk.peer->close();
  talk.scheduler.run_posted();
  EXPECT_EQ(talk.peer->running(), 0u);
  talk.heard();
  EXPECT_EQ(talk.ask(talk.call(2, "greet"))["error"]["code"], Value(-32600));
}

TEST(WireSchemas, FindFaultsInTheEnvelopeWithoutTheSchemas) {
  for (const char* good : {R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","method":"ping"})",
                           R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}})"}) {
    EXPECT_EQ(WireSchemas::envelope_fault(json(good)), "") << good;
  }
  for (const char* bad : {R"({"id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","result":{}})",
                          R"({"jsonrpc":"2.0","method":7})", R"({"jsonrpc":"2.0","id":1,"error":{"code":"x"}})",
                          R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})"}) {
    EXPECT_NE(WireSchemas::envelope_fault(json(bad)), "") << bad;
  }
}

TEST(WireSchemas, FindFaults) {
  WireSchemas& schemas = WireSchemas::shared();
  if (!schemas.is_there(Revision::k2026_07_28)) GTEST_SKIP() << "the protocol's schemas are not available";
  const Value bare = json(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
  EXPECT_EQ(schemas.fault(Revision::k2025_11_25, bare, "tools/call"), "");
  EXPECT_NE(schemas.fault(Revision::k2026_07_28, bare, "tools/call"), "") << "resultType is missing";
  EXPECT_NE(schemas.fault(Revision::k2025_11_25, bare, "initialize"), "");
  EXPECT_NE(schemas.fault(Revision::k2025_11_25, json(R"({"jsonrpc":"2.0","id":1,"method":"made/up"})"), ""), "");
}

}  // namespace
}  // namespace sb::mcp
