#include "mcp/http/endpoint.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"
#include "mcp/http/testing.hpp"
#include "mcp/limits.hpp"
#include "net/testing.hpp"

namespace sb::mcp {
namespace {

// One server; the test plays its clock and threads.
class Endpoint : public testing::Test {
 protected:
  void SetUp() override { start("key"); }

  void start(const std::string& key) { endpoint = std::make_unique<HttpEndpoint>(shared, Seal(key), ParamHeaders{}); }

  FakeExchangePtr incoming(net::HttpRequest request, const std::string& principal = "local") {
    auto exchange = std::make_shared<FakeExchange>();
    endpoint->handle(std::move(request), exchange, Caller{.principal = principal}, {{"X-Always", "here"}});
    scheduler.run_posted();
    return exchange;
  }
  FakeExchangePtr post(const std::string& body, net::Headers headers = {}, const std::string& principal = "local") {
    headers.emplace_back("Content-Type", "application/json");
    headers.emplace_back("Accept", "application/json, text/event-stream");
    return incoming(http_request("POST", std::move(headers), body), principal);
  }
  net::Headers in(const std::string& session) { return {{"Mcp-Session-Id", session}}; }
  FakeExchangePtr get(const std::string& session, const std::string& last = {},
                      const std::string& principal = "local") {
    net::Headers headers = in(session);
    headers.emplace_back("Accept", "text/event-stream");
    if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
    return incoming(http_request("GET", std::move(headers)), principal);
  }

  std::string open(const std::string& version = "2025-11-25", const std::string& principal = "local") {
    const auto opened =
        post(fmt::format(R"({{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{}",)"
                         R"("capabilities":{{"elicitation":{{}}}},"clientInfo":{{"name":"t","version":"1"}}}}}})",
                         version),
             {}, principal);
    EXPECT_EQ(opened->status, 200) << opened->body;
    const std::string id = opened->header("Mcp-Session-Id").value_or("");
    EXPECT_EQ(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", in(id), principal)->status, 202);
    return id;
  }
  static std::string call(int id, const std::string& tool, const std::string& arguments = "{}") {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{},)"
                       R"("_meta":{{"progressToken":"p{}"}}}}}})",
                       id, tool, arguments, id);
  }
  static std::string text_of(const Value& response) {
    const Value& content = response["result"]["content"];
    return content.is_array() && content.size() > 0 ? content.items().front().string_at("text").value_or("") : "";
  }

  FakeClock clock;
  FakeRandom random;
  ServerFacts facts{.info = Value::object({{"name", "tiny"}, {"version", "1"}}), .has_resources = true};
  net::FakeScheduler scheduler;
  net::WorkerPool<Service> workers{[] { return std::make_unique<StubService>(); }, 0, 0};
  RequestStates states{Seal("key"), clock, random, [](std::string_view, TimestampMs) { return true; }};
  ChangeWatcher watch{scheduler, workers};
  PeerShared shared{facts, scheduler, workers, states, random, clock, watch};
  std::unique_ptr<HttpEndpoint> endpoint;
};

TEST_F(Endpoint, AnswersAQuickCallWithJson) {
  const std::string session = open();
  const auto answer = post(call(1, "echo", R"({"text":"hi"})"), in(session));
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->header("Content-Type"), "application/json");
  EXPECT_EQ(answer->header("X-Always"), "here");
  EXPECT_EQ(text_of(answer->json()), "hi");
}

TEST_F(Endpoint, StreamsIfSomethingMustBeSentFirst) {
  const std::string session = open();
  const auto answer = post(call(1, "noisy"), in(session));
  EXPECT_EQ(answer->header("Content-Type"), "text/event-stream");
  EXPECT_TRUE(answer->is_ended);
  const auto events = events_of(answer->body);
  ASSERT_EQ(events.size(), 4u) << answer->body;
  EXPECT_TRUE(events[0].has_retry);
  EXPECT_EQ(events[0].data, "");
  EXPECT_EQ(events[1].json()["method"], Value("notifications/progress"));
  EXPECT_EQ(text_of(events[3].json()), "done");
  std::set<std::string> ids;
  for (const ParsedEvent& event : events) ids.insert(event.id);
  for (const ParsedEvent& event : events_of(post(call(2, "noisy"), in(session))->body)) ids.insert(event.id);
  EXPECT_EQ(ids.size(), 8u);
}

TEST_F(Endpoint, SendsOldRevisionsNoEventWithoutData) {
  const auto events = events_of(post(call(1, "noisy"), in(open("2025-06-18")))->body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_NE(events[0].data, "");
  EXPECT_NE(events[0].id, "");
}

TEST_F(Endpoint, StreamsACallThatTakesLong) {
  const std::string session = open();
  const auto answer = post(call(1, "ask"), in(session));
  const auto events = events_of(answer->body);
  ASSERT_EQ(events.size(), 2u);
  const Value question = events[1].json();
  EXPECT_EQ(question["method"], Value("elicitation/create"));
  EXPECT_FALSE(answer->is_ended);
  scheduler.advance_ms(30'000);
  EXPECT_NE(answer->body.find("\n\n:\n\n"), std::string::npos) << "no comment on a silent stream";
  const auto taken =
      post(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}})", to_json(question["id"])),
           in(session));
  EXPECT_EQ(taken->status, 202);
  EXPECT_EQ(taken->body, "");
  EXPECT_TRUE(answer->is_ended);
  EXPECT_EQ(text_of(events_of(answer->body).back().json()), "decline");
}

TEST_F(Endpoint, ReplaysAStreamAfterAConnectionLoss) {
  const std::string session = open();
  const auto answer = post(call(1, "ask"), in(session));
  const Value question = events_of(answer->body)[1].json();
  const std::string seen = events_of(answer->body)[0].id;
  answer->disconnect();
  post(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"action":"accept"}}}})", to_json(question["id"])),
       in(session));
  const auto again = get(session, seen);
  EXPECT_EQ(again->status, 200);
  const auto events = events_of(again->body);
  ASSERT_EQ(events.size(), 3u) << again->body;
  EXPECT_EQ(events[0].id, seen);
  EXPECT_EQ(events[1].json(), question);
  EXPECT_EQ(text_of(events[2].json()), "accept");
  EXPECT_TRUE(again->is_ended);
  EXPECT_EQ(get(session, events[2].id)->status, 204) << "all seen: no reason to reconnect";
}

TEST_F(Endpoint, KeepsTheResponseOfAStreamTheToolClosed) {
  const std::string session = open();
  const auto answer = post(call(1, "close"), in(session));
  EXPECT_TRUE(answer->is_ended);
  const auto events = events_of(answer->body);
  ASSERT_EQ(events.size(), 1u);
  const auto again = get(session, events[0].id);
  EXPECT_EQ(text_of(events_of(again->body).back().json()), "kept for you");
}

TEST_F(Endpoint, TakesOverAStreamThatIsStillOpen) {
  const std::string session = open();
  const auto first = post(call(1, "ask"), in(session));
  const auto second = get(session, events_of(first->body)[0].id);
  EXPECT_TRUE(first->is_ended);
  EXPECT_FALSE(second->is_ended);
  EXPECT_EQ(events_of(second->body).size(), 2u);
}

TEST_F(Endpoint, ReplaysNothingOfOtherStreams) {
  const std::string session = open();
  const auto one = post(call(1, "noisy"), in(session));
  post(call(2, "noisy"), in(session));
  const auto again = get(session, events_of(one->body)[0].id);
  for (const ParsedEvent& event : events_of(again->body)) EXPECT_EQ(event.data.find("p2"), std::string::npos);
}

TEST_F(Endpoint, LimitsKeptEvents) {
  const std::string session = open();
  const auto answer = post(call(1, "close"), in(session));
  const std::string seen = events_of(answer->body)[0].id;
  // Far more than is kept, sent and read: unread events stay.
  for (int i = 2; i < 10; ++i) post(call(i, "noisy", R"({"count":400,"bytes":4000})"), in(session));
  EXPECT_EQ(text_of(events_of(get(session, seen)->body).back().json()), "kept for you");
}

TEST_F(Endpoint, KeepsUnreadResponsesOverReadOnes) {
  const std::string session = open();
  const std::string seen = events_of(post(call(1, "close"), in(session))->body)[0].id;
  const auto read = post(call(2, "noisy"), in(session));
  for (std::size_t i = 0; i < limits::kKeptStreams; ++i) post(call(3 + static_cast<int>(i), "noisy"), in(session));
  EXPECT_EQ(text_of(events_of(get(session, seen)->body).back().json()), "kept for you");
  const auto lost = get(session, events_of(read->body)[0].id);
  EXPECT_TRUE(events_of(lost->body).back().json().find("error") != nullptr) << lost->body;
}

TEST_F(Endpoint, DisconnectsASlowReader) {
  const std::string session = open();
  auto slow = std::make_shared<FakeExchange>();
  slow->room = 500;
  endpoint->handle(http_request("POST", {{"Mcp-Session-Id", session}, {"Content-Type", "application/json"}},
                                call(1, "noisy", R"({"count":20,"bytes":100})")),
                   slow, Caller{}, {});
  scheduler.run_posted();
  const auto seen = events_of(slow->body).back().id;
  const auto again = get(session, seen);
  EXPECT_EQ(text_of(events_of(again->body).back().json()), "done");
}

TEST_F(Endpoint, LimitsEventsQueuedForALostReader) {
  const std::string session = open();
  const auto lose_at_once = [&](const std::string& arguments) {
    auto slow = std::make_shared<FakeExchange>();
    slow->room = 200;
    endpoint->handle(http_request("POST", {{"Mcp-Session-Id", session}, {"Content-Type", "application/json"}},
                                  call(1, "noisy", arguments)),
                     slow, Caller{}, {});
    scheduler.run_posted();
    return get(session, events_of(slow->body).back().id)->body;
  };
  const auto many = events_of(lose_at_once(R"({"count":400})"));
  EXPECT_EQ(many.size(), 1 + limits::kKeptEvents);
  EXPECT_EQ(text_of(many.back().json()), "done");
  const std::string large = lose_at_once(R"({"count":100,"bytes":100000})");
  EXPECT_LE(large.size(), limits::kKeptBytes + 1'000);
  EXPECT_GT(large.size(), limits::kKeptBytes - 200'000);
  EXPECT_EQ(text_of(events_of(large).back().json()), "done");
}

TEST_F(Endpoint, HasOneStreamForNotifications) {
  const std::string session = open();
  const auto first = get(session);
  EXPECT_EQ(first->status, 200);
  EXPECT_FALSE(first->is_ended);
  EXPECT_EQ(get(session)->status, 409);
  first->disconnect();
  EXPECT_EQ(get(session)->status, 200);
}

TEST_F(Endpoint, RejectsInvalidRequests) {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  EXPECT_EQ(incoming(http_request("PUT"))->status, 405);
  EXPECT_EQ(incoming(http_request("OPTIONS"))->status, 405);
  EXPECT_EQ(incoming(http_request("GET", {{"Accept", "text/event-stream"}}))->status, 405);
  EXPECT_EQ(incoming(http_request("GET", {{"Accept", "application/json"}}))->status, 406);
  EXPECT_EQ(incoming(http_request("DELETE"))->status, 400);
  EXPECT_EQ(incoming(http_request("DELETE", {{"MCP-Protocol-Version", "2026-07-28"}}))->status, 405);
  EXPECT_EQ(incoming(http_request("POST", {{"Content-Type", "application/json"}, {"Accept", "application/json"}}, ping))
                ->status,
            406);
  EXPECT_EQ(incoming(http_request("POST", {{"Content-Type", "text/plain"}}, ping))->status, 415);
  EXPECT_EQ(incoming(http_request("POST", {}, ping))->status, 415);
  EXPECT_EQ(post("{")->status, 400);
  EXPECT_EQ(post("")->status, 400);
  EXPECT_EQ(post("[]")->status, 400);
  EXPECT_EQ(post(ping)->status, 400);
  EXPECT_EQ(post(ping, in("nonsense"))->status, 404);
  EXPECT_EQ(post(ping, in(std::string(100'000, 'a')))->status, 404);
  const std::string session = open();
  EXPECT_EQ(post(ping, {{"Mcp-Session-Id", session}, {"Mcp-Session-Id", session}})->status, 400);
  EXPECT_EQ(post(ping, {{"Mcp-Session-Id", session}, {"MCP-Protocol-Version", "1999-01-01"}})->status, 400);
  EXPECT_EQ(post(ping, {{"Mcp-Session-Id", session}, {"MCP-Protocol-Version", "2025-11-25"}})->status, 200);
  EXPECT_EQ(post("[" + ping + "]", in(session))->status, 400);
  EXPECT_EQ(get(session, "what")->status, 400);
}

TEST_F(Endpoint, AcceptsBatchesIfTheRevisionHasThem) {
  const std::string session = open("2025-03-26");
  const auto answer =
      post(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])", in(session));
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->json().size(), 2u) << answer->body;
  EXPECT_EQ(post(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])", in(session))->status, 202);
}

TEST_F(Endpoint, EndsASessionOnDelete) {
  const std::string session = open();
  const auto stream = get(session);
  EXPECT_EQ(incoming(http_request("DELETE", in(session)))->status, 204);
  EXPECT_TRUE(stream->is_ended);
  EXPECT_EQ(post(call(1, "echo"), in(session))->status, 404);
  EXPECT_EQ(get(session)->status, 404);
  EXPECT_EQ(incoming(http_request("DELETE", in(session)))->status, 404);
}

TEST_F(Endpoint, EndsAnIdleSession) {
  const std::string idle = open(), streaming = open();
  const auto stream = get(streaming);
  scheduler.advance_ms(limits::kSessionIdleMs / 2);
  EXPECT_EQ(post(call(1, "echo"), in(idle))->status, 200);
  scheduler.advance_ms(limits::kSessionIdleMs - 10'000);
  EXPECT_EQ(post(call(2, "echo"), in(idle))->status, 200);
  scheduler.advance_ms(limits::kSessionIdleMs + 10'000);
  EXPECT_EQ(post(call(3, "echo"), in(idle))->status, 404);
  EXPECT_EQ(post(call(1, "echo"), in(streaming))->status, 200);
}

TEST_F(Endpoint, SeparatesSessionsOfDifferentPrincipals) {
  const std::string session = open("2025-11-25", "ada");
  EXPECT_EQ(post(call(1, "echo"), in(session), "ada")->status, 200);
  EXPECT_EQ(post(call(1, "echo"), in(session), "bob")->status, 404);
  EXPECT_EQ(get(session, {}, "bob")->status, 404);
  EXPECT_EQ(incoming(http_request("DELETE", in(session)), "bob")->status, 404);
}

TEST_F(Endpoint, RestoresSessionsOfAnEarlierProcess) {
  const std::string session = open("2025-06-18", "ada"), other = open();
  start("key");
  EXPECT_EQ(post(call(1, "echo"), in(session), "bob")->status, 404);
  EXPECT_EQ(text_of(post(call(1, "echo", R"({"text":"again"})"), in(session), "ada")->json()), "again");
  EXPECT_EQ(events_of(post(call(2, "noisy"), in(session), "ada")->body).size(), 3u) << "the revision is known";
  EXPECT_EQ(incoming(http_request("DELETE", in(session)), "ada")->status, 204);
  EXPECT_EQ(post(call(3, "echo"), in(session), "ada")->status, 404) << "ended here, so not restored again";
  clock.sleep_ms(limits::kSessionLifeMs + 1);
  EXPECT_EQ(post(call(1, "echo"), in(other))->status, 404) << "too old";
  start("another key");
  EXPECT_EQ(post(call(1, "echo"), in(session), "ada")->status, 404);
}

TEST_F(Endpoint, ReportsALostCallToACallerOfAnEarlierProcess) {
  const std::string session = open();
  const auto answer = post(call(7, "ask"), in(session));
  const std::string seen = events_of(answer->body)[0].id;
  start("key");
  const auto again = get(session, seen);
  EXPECT_EQ(again->status, 200);
  EXPECT_TRUE(again->is_ended);
  const Value response = events_of(again->body).back().json();
  EXPECT_EQ(response["id"], Value(7));
  EXPECT_TRUE(response.find("error") != nullptr) << again->body;
}

TEST_F(Endpoint, EndsTheLongestIdleSessionToMakeRoom) {
  const std::string first = open(), second = open();
  scheduler.advance_ms(10'000);
  post(call(1, "echo"), in(first));
  for (std::size_t i = 2; i < limits::kSessions; ++i) open();
  EXPECT_EQ(endpoint->sessions(), limits::kSessions);
  scheduler.advance_ms(10'000);
  open();
  EXPECT_EQ(endpoint->sessions(), limits::kSessions);
  EXPECT_EQ(post(call(1, "echo"), in(second))->status, 404);
  EXPECT_EQ(post(call(2, "echo"), in(first))->status, 200);
}

std::string stateless(const std::string& method, const std::string& more = {},
                      const std::string& version = "2026-07-28") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":9,"method":"{}","params":{{{}"_meta":{{)"
                     R"("io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientCapabilities":)"
                     R"({{"elicitation":{{}}}},"io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},)"
                     R"("progressToken":"p"}}}}}})",
                     method, more, version);
}
net::Headers saying(const std::string& method, const std::string& name = {},
                    const std::string& version = "2026-07-28") {
  net::Headers headers = {{"MCP-Protocol-Version", version}, {"Mcp-Method", method}};
  if (!name.empty()) headers.emplace_back("Mcp-Name", name);
  return headers;
}

TEST_F(Endpoint, AnswersStatelessRequestsOneByOne) {
  const auto answer =
      post(stateless("tools/call", R"("name":"echo","arguments":{"text":"hi"},)"), saying("tools/call", "echo"));
  EXPECT_EQ(answer->status, 200) << answer->body;
  EXPECT_EQ(text_of(answer->json()), "hi");
  EXPECT_FALSE(answer->header("Mcp-Session-Id"));
  const auto noisy = post(stateless("tools/call", R"("name":"noisy","arguments":{},)"), saying("tools/call", "noisy"));
  const auto events = events_of(noisy->body);
  ASSERT_EQ(events.size(), 3u) << noisy->body;
  EXPECT_EQ(events[0].id, "");
  EXPECT_EQ(text_of(events[2].json()), "done");
}

TEST_F(Endpoint, ReportsStatelessErrorsByStatusToo) {
  const auto answer = [&](const std::string& body, net::Headers headers) {
    const auto exchange = post(body, std::move(headers));
    const Value response = exchange->json();
    const Value& code = response["error"]["code"];
    EXPECT_EQ(response["id"], Value(9)) << exchange->body;
    return std::pair(exchange->status, code.is_integer() ? code.as_integer() : 0);
  };
  using StatusAndCode = std::pair<int, std::int64_t>;
  EXPECT_EQ(answer(stateless("unknown/method"), saying("unknown/method")), StatusAndCode(404, -32601));
  EXPECT_EQ(answer(stateless("initialize"), saying("initialize")), StatusAndCode(404, -32601));
  EXPECT_EQ(answer(stateless("tools/list"), saying("prompts/list")), StatusAndCode(400, -32020));
  EXPECT_EQ(answer(stateless("tools/list"), {}), StatusAndCode(400, -32020));
  EXPECT_EQ(answer(stateless("tools/list", "", "v999"), saying("tools/list", "", "v999")), StatusAndCode(400, -32022));
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","id":9,"method":"server/discover","params":{}})", saying("server/discover")),
            StatusAndCode(400, -32602));
  EXPECT_EQ(answer(stateless("tools/call", R"("name":"none","arguments":{},)"), saying("tools/call", "none")),
            StatusAndCode(200, -32602));
}

TEST_F(Endpoint, AcceptsStatelessNotificationsAndNothingElse) {
  const net::Headers headers = {{"MCP-Protocol-Version", "2026-07-28"}};
  EXPECT_EQ(post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})", headers)->status, 202);
  EXPECT_EQ(post(R"({"jsonrpc":"2.0","id":1,"result":{}})", headers)->status, 400);
  EXPECT_EQ(post("[" + stateless("tools/list") + "]", headers)->status, 400);
  EXPECT_EQ(incoming(http_request("GET", headers))->status, 405);
}

TEST_F(Endpoint, KeepsListenersUntilTheyDisconnectOrItStops) {
  const std::string body = stateless("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)");
  const auto one = post(body, saying("subscriptions/listen")), two = post(body, saying("subscriptions/listen"));
  EXPECT_EQ(one->header("Content-Type"), "text/event-stream") << one->body;
  EXPECT_EQ(events_of(one->body)[0].json()["method"], Value("notifications/subscriptions/acknowledged"));
  EXPECT_EQ(endpoint->listeners(), 2u);
  one->disconnect();
  EXPECT_EQ(endpoint->listeners(), 1u);
  scheduler.advance_ms(limits::kKeepAliveMs * 2);
  EXPECT_NE(two->body.find("\n:\n\n"), std::string::npos);
  endpoint->end_of_input();
  scheduler.run_posted();
  EXPECT_TRUE(two->is_ended);
  EXPECT_EQ(endpoint->listeners(), 0u);
  EXPECT_EQ(post(body, saying("subscriptions/listen"))->status, 503);
}

TEST_F(Endpoint, LimitsListeners) {
  const std::string body = stateless("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)");
  std::vector<FakeExchangePtr> all;
  for (std::size_t i = 0; i < limits::kListeners; ++i) all.push_back(post(body, saying("subscriptions/listen")));
  EXPECT_EQ(all.back()->status, 200);
  EXPECT_EQ(post(body, saying("subscriptions/listen"))->status, 503);
  EXPECT_EQ(get(open())->status, 503);
  all.front()->disconnect();
  EXPECT_EQ(get(open())->status, 200);
}

TEST_F(Endpoint, FinishesRunningCallsBeforeItStops) {
  const std::string session = open();
  const auto general = get(session);
  const auto asked = post(call(1, "ask"), in(session));
  endpoint->end_of_input();
  scheduler.run_posted();
  EXPECT_TRUE(general->is_ended);
  EXPECT_TRUE(asked->is_ended);
  EXPECT_EQ(text_of(events_of(asked->body).back().json()), "parked");
  EXPECT_EQ(post(call(2, "echo"), in(session))->status, 503);
}

}  // namespace
}  // namespace sb::mcp
