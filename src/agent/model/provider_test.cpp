#include <algorithm>

#include "agent/limits.hpp"
#include "agent/model/make_model.hpp"
#include "agent/model/provider_testing.hpp"

namespace sb::agent {
namespace {

using Kind = ModelError::Kind;
using net::RawServer;

class ProviderTest : public testing::TestWithParam<TestApi> {
 protected:
  ModelSettings settings(const RawServer& server) const {
    ModelSettings settings;
    settings.provider = GetParam().provider;
    settings.api = GetParam().api;
    settings.name = "main";
    settings.model = "model-x";
    settings.key = "$MODEL_KEY";
    settings.url = server.url("/v1");
    return settings;
  }
  ModelResult ask(const RawServer& server, ModelRequest request = plain_request()) {
    ModelResult replied =
        at.make(settings(server))->reply(request, [&](std::string_view text) { return heard += text, true; });
    EXPECT_TRUE(replied || !replied.error().error.to_string().contains(kTestKey));
    return replied;
  }
  // Sends these bytes and closes.
  ModelResult ask(const std::string& bytes, ModelRequest request = plain_request()) {
    RawServer server([&](auto& peer, const auto&) { return peer.put(bytes), false; });
    return ask(server, std::move(request));
  }
  ModelResult ask_status(int status, const std::string& body, const std::string& headers = {}) {
    RawServer server([&](auto& peer, const auto&) { return peer.answer(status, body, headers), false; });
    return ask(server);
  }
  static std::string describe(const ModelResult& replied) {
    return replied ? to_json(to_value(*replied))
                   : std::string(to_string(replied.error().kind)) + ": " + replied.error().error.to_string();
  }
  static void expect_kind(const ModelResult& replied, Kind kind, std::string_view what = {}) {
    ASSERT_FALSE(replied) << what << describe(replied);
    EXPECT_EQ(to_string(replied.error().kind), to_string(kind)) << what << " " << describe(replied);
  }
  std::string good() const { return stream_head() + sse(GetParam().events); }

  ProviderFixture at;
  std::string heard;
};

class AnthropicTest : public ProviderTest {};

TEST_P(ProviderTest, ReadsTextCallsAndTokensFromAStream) {
  RawServer server([&](auto& peer, const auto&) { return peer.put(good()), false; });
  const ModelResult replied = ask(server);
  ASSERT_TRUE(replied) << describe(replied);
  EXPECT_EQ(heard, "Hi there");
  ASSERT_EQ(replied->content.size(), 2u) << describe(replied);
  EXPECT_EQ(replied->content[0].string_at("text"), "Hi there");
  EXPECT_EQ(to_json(replied->content[1]),
            R"({"type":"tool_use","id":"call_1","name":"Read","input":{"path":"a.txt"}})");
  EXPECT_EQ(replied->stop, StopReason::kToolUse);
  EXPECT_EQ(replied->usage.input, 11);
  EXPECT_EQ(replied->usage.cache_read, 7);
  EXPECT_EQ(replied->usage.output, 9);
  EXPECT_TRUE(replied->model.ends_with("-x")) << replied->model;
  const auto sent = server.requests().front();
  EXPECT_TRUE(sent.head.starts_with("POST " + GetParam().path + " HTTP/1.1\r\n")) << sent.head;
  EXPECT_TRUE(sent.head.contains(kTestKey)) << sent.head;
  EXPECT_FALSE(sent.body.contains(kTestKey));
  const auto body = parse_json(sent.body);
  ASSERT_TRUE(body) << sent.body;
  EXPECT_EQ(body->string_at("model"), "model-x");
  EXPECT_EQ((*body)["stream"], Value(true));
}

TEST_P(ProviderTest, ReadsTheSameHoweverTheBytesAreSplit) {
  const std::string expected = describe(ask(good()));
  RawServer server([&](auto& peer, const auto&) {
    peer.put("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char c : sse(GetParam().events)) {
      if (!peer.put("1\r\n" + std::string(1, c) + "\r\n")) return false;
    }
    return peer.put("0\r\n\r\n"), false;
  });
  EXPECT_EQ(describe(ask(server)), expected);
}

TEST_P(ProviderTest, DetectsAStreamThatIsCutAtAnyEvent) {
  const std::string expected = describe(ask(good()));
  for (std::size_t count = 0; count < GetParam().events.size(); ++count) {
    const std::vector<std::string> part(GetParam().events.begin(), GetParam().events.begin() + count);
    for (const std::string half : {"", "data: {\"ty"}) {
      const ModelResult replied = ask(stream_head() + sse(part) + half);
      if (replied) {
        // Only the token count and the end marker may be missing.
        EXPECT_GE(count + 2, GetParam().events.size());
        EXPECT_EQ(replied->content.size(), 2u);
      } else {
        EXPECT_EQ(replied.error().kind, Kind::kTruncated) << count << describe(replied);
        EXPECT_TRUE(replied.error().is_retryable());
      }
    }
  }
}

TEST_P(ProviderTest, DetectsALostConnection) {
  for (const bool has_length : {false, true}) {
    RawServer server([&](auto& peer, const auto&) {
      peer.put("HTTP/1.1 200 OK\r\n" +
               std::string(has_length ? "Content-Length: 99999" : "Transfer-Encoding: chunked") + "\r\n\r\n");
      peer.put((has_length ? "" : "fff\r\n") + sse({GetParam().events.begin(), GetParam().events.begin() + 3}));
      peer.will_reset();
      return false;
    });
    expect_kind(ask(server), Kind::kTruncated);
  }
  RawServer silent([](auto&, const auto&) { return false; });
  expect_kind(ask(silent), Kind::kTruncated);
  std::unique_ptr<RawServer> gone = std::make_unique<RawServer>([](auto&, const auto&) { return false; });
  const ModelSettings there = settings(*gone);
  gone.reset();
  expect_kind(at.make(there)->reply(plain_request(), {}), Kind::kUnreachable);
}

TEST_P(ProviderTest, MapsEveryErrorStatus) {
  const std::string body = R"({"error":{"message":"what it says"}})";
  const std::vector<std::pair<int, Kind>> table = {
      {400, Kind::kRequest},     {401, Kind::kAuth},       {403, Kind::kAuth},           {404, Kind::kRequest},
      {408, Kind::kOverloaded},  {409, Kind::kOverloaded}, {413, Kind::kContextTooLong}, {422, Kind::kRequest},
      {429, Kind::kRateLimited}, {500, Kind::kOverloaded}, {502, Kind::kOverloaded},     {503, Kind::kOverloaded},
      {529, Kind::kOverloaded},  {302, Kind::kRequest}};
  for (const auto& [status, kind] : table) {
    const ModelResult replied = ask_status(status, body);
    expect_kind(replied, kind, std::to_string(status));
    EXPECT_TRUE(replied.error().error.message.contains("what it says")) << describe(replied);
    expect_kind(ask_status(status, "<html>gateway</html>"), kind);
    expect_kind(ask_status(status, ""), kind);
  }
  expect_kind(ask_status(400, GetParam().context_error), Kind::kContextTooLong);
  expect_kind(ask_status(429, GetParam().quota_error), Kind::kAuth);
}

TEST_P(ProviderTest, HonoursRetryAfter) {
  at.clock.set(*parse_rfc3339("2026-11-15T08:00:00.000Z"));
  EXPECT_EQ(ask_status(429, "", "Retry-After: 7\r\n").error().retry_after_ms, 7'000);
  EXPECT_EQ(ask_status(529, "", "Retry-After: 1.5\r\n").error().retry_after_ms, 1'500);
  EXPECT_EQ(ask_status(429, "", "Retry-After: Sun, 15 Nov 2026 08:00:30 GMT\r\n").error().retry_after_ms, 30'000);
  EXPECT_EQ(ask_status(429, "", "Retry-After: Sun, 15 Nov 2026 07:00:00 GMT\r\n").error().retry_after_ms, 0);
  EXPECT_EQ(ask_status(429, "", "Retry-After: 99999999999999999999\r\n").error().retry_after_ms, 604'800'000);
  for (const char* nonsense : {"soon", "-5", "1e9x", ".", "Sun, 99 Foo"}) {
    EXPECT_EQ(ask_status(429, "", "Retry-After: " + std::string(nonsense) + "\r\n").error().retry_after_ms,
              std::nullopt)
        << nonsense;
  }
  EXPECT_EQ(ask_status(401, "", "Retry-After: 7\r\n").error().retry_after_ms, std::nullopt);
}

TEST_P(ProviderTest, ReportsAnErrorInTheStream) {
  const std::vector<std::string> events{GetParam().events[0], GetParam().error_event};
  const ModelResult replied = ask(stream_head() + sse(events));
  expect_kind(replied, Kind::kOverloaded);
  EXPECT_TRUE(replied.error().error.message.contains("Overloaded")) << describe(replied);
}

TEST_P(ProviderTest, RejectsABodyThatIsNotAMessage) {
  for (const char* body : {"<html>Sign in</html>", "{\"object\": \"list\"}", "null", "hello\n\nworld\n\n"}) {
    expect_kind(ask_status(200, body), Kind::kMalformed, body);
  }
  expect_kind(ask_status(200, ""), Kind::kTruncated);
  for (const char* event : {"nonsense", "{\"a\": ", "[]", "3", "null", "{\"a\":1,\"a\":2}"}) {
    expect_kind(ask(stream_head() + sse({GetParam().events[0], event})), Kind::kMalformed, event);
  }
}

TEST_P(ProviderTest, ReportsAnErrorInASuccessfulResponse) {
  const std::vector<std::pair<std::string, Kind>> table = {
      {R"({"type":"error","error":{"type":"overloaded_error","message":"what it says"}})", Kind::kOverloaded},
      {"{\n  \"error\": {\n    \"message\": \"what it says\",\n    \"code\": 429\n  }\n}\n", Kind::kRateLimited},
      {R"({"error":{"message":"what it says","code":"invalid_api_key"}})", Kind::kAuth},
      {R"({"error":"what it says: maximum context length is 10"})", Kind::kContextTooLong},
      {R"({"error":{"message":"what it says"}})", Kind::kRequest}};
  for (const auto& [body, kind] : table) {
    const ModelResult replied = ask_status(200, body, "Retry-After: 7\r\n");
    expect_kind(replied, kind, body);
    EXPECT_TRUE(replied.error().error.message.contains("what it says")) << describe(replied);
    EXPECT_EQ(replied.error().retry_after_ms.has_value(), replied.error().is_retryable());
  }
}

// Other providers report it only at the end.
TEST_P(AnthropicTest, ReportsTheUsageOfAReplyThatBrokeOff) {
  const ModelResult cut = ask(stream_head() + sse({GetParam().events[0]}));
  expect_kind(cut, Kind::kTruncated);
  EXPECT_EQ(cut.error().usage, (Usage{.input = 11, .output = 1, .cache_read = 7, .cache_write = 5}));
  const ModelResult broken = ask(stream_head() + sse({GetParam().events[0], "nonsense"}));
  EXPECT_EQ(broken.error().usage.input, 11);
}

TEST_P(ProviderTest, DropsAHangingConnection) {
  for (const std::size_t events : {0u, 1u}) {
    RawServer server([&](auto& peer, const auto&) {
      if (events > 0) peer.put(stream_head() + sse({GetParam().events[0]}));
      return peer.be_silent(), false;
    });
    ModelRequest request = plain_request();
    request.idle_timeout_ms = 200;
    expect_kind(ask(server, request), Kind::kTruncated);
  }
}

TEST_P(ProviderTest, StopsAnEndlessResponse) {
  std::string large =
      *std::ranges::find_if(GetParam().events, [](const std::string& event) { return event.contains("Hi "); });
  large.replace(large.find("Hi "), 3, std::string(60'000, 'x'));
  RawServer server([&](auto& peer, const auto&) {
    peer.put(stream_head() + sse({GetParam().events[0], GetParam().events[1]}));
    while (peer.put("data: " + large + "\n\n")) {
    }
    return false;
  });
  expect_kind(ask(server), Kind::kTooLarge);
  RawServer no_end([&](auto& peer, const auto&) {
    peer.put(stream_head() + "data: ");
    while (peer.put(std::string(60'000, 'x'))) {
    }
    return false;
  });
  expect_kind(ask(no_end), Kind::kTooLarge);
  RawServer pings([&](auto& peer, const auto&) {
    peer.put(stream_head());
    while (peer.put(": " + std::string(60'000, 'p') + "\n\n")) {
    }
    return false;
  });
  expect_kind(ask(pings), Kind::kTooLarge);
}

TEST_P(ProviderTest, IsInterruptedByEitherCallback) {
  RawServer server([&](auto& peer, const auto&) {
    peer.put(stream_head() + sse({GetParam().events.begin(), GetParam().events.begin() + 4}));
    return peer.be_silent(), false;
  });
  expect_kind(at.make(settings(server))->reply(plain_request(), [](auto text) { return text.empty(); }),
              Kind::kStopped);
  ModelRequest request = plain_request();
  int looks = 0;
  request.should_continue = [&] { return ++looks < 3; };
  expect_kind(at.make(settings(server))->reply(request, {}), Kind::kStopped);
}

TEST_P(ProviderTest, SurvivesASeriesOfErrors) {
  RawServer server([&](auto& peer, const auto& request) {
    if (request.number == 1) return peer.answer(529, "");
    if (request.number == 2) return peer.answer(429, "", "Retry-After: 30\r\n");
    if (request.number == 3) return peer.put(stream_head() + sse({GetParam().events[0]})), false;
    return peer.put(good()), false;
  });
  const auto before = at.clock.now_ms();
  EXPECT_TRUE(at.make(settings(server), 5)->reply(plain_request(), {}));
  EXPECT_EQ(server.requests().size(), 4u);
  EXPECT_GE(at.clock.now_ms() - before, 30'000);
}

TEST_P(ProviderTest, DoesNotWaitForTheEndAfterACompleteMessage) {
  RawServer server([&](auto& peer, const auto&) { return peer.put(good()), peer.be_silent(), false; });
  EXPECT_TRUE(ask(server));
}

TEST_P(ProviderTest, KeepsInvalidJsonInputUnchanged) {
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  for (const std::string& input : {std::string("{\"path\": \"a"), std::string("[1]"), std::string("7"),
                                   "{\"a\":" + deep + "}", std::string("{\"a\":1,\"a\":2}")}) {
    std::string stream = good();
    for (const std::string& from : {std::string(R"({\"path\": \"a.txt\"})"), std::string(R"({\"path\": \"a)")}) {
      std::string quoted = quote_json(input);
      quoted = quoted.substr(1, quoted.size() - 2);
      for (std::size_t at_ = 0; (at_ = stream.find(from, at_)) != std::string::npos; at_ += quoted.size()) {
        stream.replace(at_, from.size(), quoted);
      }
    }
    if (const std::size_t rest = stream.find(R"(.txt\"})"); rest != std::string::npos) stream.erase(rest, 7);
    const ModelResult replied = ask(stream);
    ASSERT_TRUE(replied) << describe(replied);
    EXPECT_EQ(replied->content.back()["input"], Value(input)) << describe(replied);
    // Such a reply can be sent again safely.
    ModelRequest next = plain_request();
    next.messages.push_back({Message::From::kAssistant, replied->content});
    next.messages.push_back(
        {Message::From::kUser,
         {Value::object(
             {{"type", "tool_result"}, {"tool_use_id", "call_1"}, {"content", "no JSON"}, {"is_error", true}})}});
    RawServer server([&](auto& peer, const auto&) { return peer.put(good()), false; });
    ASSERT_TRUE(ask(server, next));
    EXPECT_TRUE(parse_json(server.requests().front().body));
  }
}

TEST_P(ProviderTest, ReplacesInvalidBytesAndKeepsControlSequences) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                                 {"\\ud83d", "\xEF\xBF\xBD"},
                                 {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
                                 {"\\u001b[31m", "\x1b[31m"}}) {
    std::string stream = good();
    for (std::size_t at_ = 0; (at_ = stream.find("there", at_)) != std::string::npos;) stream.replace(at_, 5, from);
    const ModelResult replied = ask(stream);
    ASSERT_TRUE(replied) << describe(replied);
    EXPECT_EQ(replied->content[0].string_at("text"), "Hi " + to) << describe(replied);
  }
}

TEST_P(ProviderTest, ShowsNoControlSequenceAndNoKeyInAnError) {
  const ModelResult replied =
      ask_status(400, std::string(R"({"error":{"message":"\u001b[2Jbad key )") + kTestKey + "\\nmore" + R"("}})");
  expect_kind(replied, Kind::kRequest);
  EXPECT_FALSE(replied.error().error.message.contains('\x1b'));
  EXPECT_FALSE(replied.error().error.message.contains('\n'));
  EXPECT_TRUE(replied.error().error.message.contains("bad key [key]")) << describe(replied);
  const ModelResult huge = ask_status(500, std::string(100'000, 'x'));
  expect_kind(huge, Kind::kOverloaded);
  EXPECT_LT(huge.error().error.message.size(), 1'000u);
}

TEST_P(ProviderTest, NeedsAKeyOnlyWhereOneIsNamed) {
  RawServer server([&](auto& peer, const auto&) { return peer.put(good()), false; });
  ModelSettings keyless = settings(server);
  keyless.key = "$NOT_SET";
  expect_kind(at.make(keyless)->reply(plain_request(), {}), Kind::kAuth);
  EXPECT_EQ(server.connections(), 0);
  keyless.key = "";
  EXPECT_TRUE(at.make(keyless)->reply(plain_request(), {}));
  const std::string head = server.requests().front().head;
  EXPECT_FALSE(head.contains("x-api-key") || head.contains("Authorization")) << head;
}

INSTANTIATE_TEST_SUITE_P(Apis, ProviderTest, testing::ValuesIn(test_apis()),
                         [](const auto& api) { return api.param.name; });
INSTANTIATE_TEST_SUITE_P(Apis, AnthropicTest, testing::Values(test_apis().front()),
                         [](const auto& api) { return api.param.name; });

TEST(MakeModelTest, RejectsAProgram) {
  ProviderFixture at;
  ModelSettings settings;
  settings.provider = provider_named("command");
  settings.name = "cc";
  const auto made = make_model(settings, {at.seams(), *at.http, *at.store, "run-1"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sb::agent
