#include "host/loopback_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "net/http_testing.hpp"
#include "net/raw_server.hpp"

namespace sb::host {
namespace {

using agent::ModelError;
using agent::ModelSettings;
using agent::ProxiedExchange;
using testing::HasSubstr;
using testing::Not;

class RecordingDriver final : public agent::ProgramDriver {
 public:
  std::int64_t idle_timeout_ms() override { return silence; }
  void note_activity() override { ++signs; }
  std::vector<agent::ToolDeclaration> tools() override {
    return {{"complete_step", "Delivers.", *parse_json(R"({"type": "object"})")}};
  }
  agent::ToolResult call(const agent::ToolCall& call, const agent::ToolRun&) override {
    return {"called " + call.name + " " + to_json(call.input), false};
  }
  std::string tool_denial(const agent::ToolCall& call) override {
    return call.name == "Write" ? "not in this step: " + to_json(call.input) : "";
  }
  std::optional<ModelError> refusal(const std::function<bool()>&) override { return refused; }
  std::optional<agent::ModelReply> final_reply() override { return parting; }
  agent::ModelResult reply(agent::ModelRequest request) override {
    const std::scoped_lock lock(mutex);
    asked_for = std::move(request);
    return agent::ModelReply{.content = {*parse_json(R"({"type": "tool_use", "id": "t1", "name": "complete_step",
                                                         "input": {"notes": "n"}})")},
                             .stop = agent::StopReason::kToolUse,
                             .usage = {.input = 7, .output = 3},
                             .model = "script",
                             .mark = "s/1"};
  }
  Result<bool> record_exchange(const ProxiedExchange& exchange) override {
    const std::scoped_lock lock(mutex);
    exchanges.push_back(exchange);
    return exchange.final_text && exchange.final_text->contains("discard me") && exchange.attempt <= discards;
  }

  std::atomic<int> signs = 0;
  int discards = 3;
  std::int64_t silence = 90'000;
  std::optional<ModelError> refused;
  std::optional<agent::ModelReply> parting;
  std::mutex mutex;
  agent::ModelRequest asked_for;
  std::vector<ProxiedExchange> exchanges;
};

class Host : public testing::Test {
 protected:
  Host() : seams{files, clock, random, process, environment, streams}, host(make_agent_host(seams, *http)) {}

  void open(std::optional<ModelSettings> wanted) {
    upstream = std::move(wanted);
    auto opened = host->open(driver, upstream ? &*upstream : nullptr);
    ASSERT_TRUE(opened) << opened.error().to_string();
    place = std::move(*opened);
    port = std::atoi(place->mcp_url.c_str() + place->mcp_url.rfind(':') + 1);
  }
  static ModelSettings scripted() {
    ModelSettings model;
    model.provider = agent::provider_named("scripted");
    model.name = "demo";
    return model;
  }
  ModelSettings served(const agent::ModelProvider* provider, int at) {
    ModelSettings model;
    model.provider = provider;
    model.name = "main";
    model.model = "the-model";
    model.key = "$REAL_KEY";
    model.url = "http://127.0.0.1:" + std::to_string(at) + "/v1";
    return model;
  }

  net::TestResponse post(const std::string& path, const std::string& body, const std::string& headers) {
    net::TestClient client(port);
    client.put("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
               "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" + headers +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer();
  }
  std::string bearer() const { return "Authorization: Bearer " + place->mcp_token + "\r\n"; }
  std::string api_key() const { return "x-api-key: " + place->mcp_token + "\r\n"; }

  SystemFiles files;
  SystemClock clock;
  SystemRandom random;
  SystemProcess process;
  Environment environment{{{"REAL_KEY", "sk-real-one"}}};
  FakeStreams streams;
  Seams seams;
  std::unique_ptr<net::HttpClient> http = net::make_http_client();
  RecordingDriver driver;
  std::optional<ModelSettings> upstream;
  std::unique_ptr<agent::AgentHost> host;
  std::unique_ptr<agent::ProgramEndpoint> place;
  int port = 0;
};

constexpr std::string_view kCall =
    R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "complete_step",
        "arguments": {"notes": "done"}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}})";
constexpr const char* kCallHeaders =
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: complete_step\r\n";
constexpr std::string_view kQuestion =
    R"({"model": "wanted", "stream": true, "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"name": "mcp__signalbox__complete_step", "input_schema": {"type": "object"}}]})";

TEST_F(Host, LetsTheProgramCallTheToolsOfItsSession) {
  open(std::nullopt);
  EXPECT_EQ(place->proxy_url, "");
  const auto answer = post("/mcp", std::string(kCall), bearer() + kCallHeaders);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"(called complete_step {\"notes\":\"done\"})"));
  EXPECT_GT(driver.signs, 0);
}

TEST_F(Host, ReportsWhatTheOpenStepDoesNotAllow) {
  open(scripted());
  EXPECT_EQ(place->hook_url, "http://127.0.0.1:" + std::to_string(port) + "/hook");
  const auto ask = [&](const std::string& event, const std::string& tool) {
    const auto answer = post(
        "/hook",
        R"({"hook_event_name": ")" + event + R"(", "tool_name": ")" + tool + R"(", "tool_input": {"file_path": "a"}})",
        bearer());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  };
  EXPECT_THAT(ask("PreToolUse", "Write"), HasSubstr(R"("permissionDecision":"deny")"));
  EXPECT_THAT(ask("PreToolUse", "Write"), HasSubstr(R"(not in this step: {\"file_path\":\"a\"})"));
  EXPECT_EQ(ask("PreToolUse", "Edit"), "");
  EXPECT_EQ(ask("PreToolUse", "Read"), "");
  EXPECT_EQ(ask("PostToolUse", "Write"), "");
  EXPECT_EQ(post("/hook", "nonsense", bearer()).body, "");
}

TEST_F(Host, RejectsRequestsWithoutTheToken) {
  open(scripted());
  EXPECT_EQ(post("/hook", "{}", "").status, 401);
  EXPECT_EQ(post("/mcp", std::string(kCall), kCallHeaders).status, 401);
  EXPECT_EQ(post("/mcp", std::string(kCall), std::string("Authorization: Bearer other\r\n") + kCallHeaders).status,
            401);
  for (const char* headers : {"", "x-api-key: other\r\n", "Authorization: Bearer other\r\n"}) {
    EXPECT_EQ(post("/model/v1/messages", std::string(kQuestion), headers).status, 401) << headers;
  }
  EXPECT_EQ(driver.exchanges.size(), 0u);
}

TEST_F(Host, OfAnotherProgramHasAnotherToken) {
  open(scripted());
  const std::string first = api_key();
  RecordingDriver other;
  const auto second = host->open(other, &*upstream);
  ASSERT_TRUE(second);
  port = std::atoi((*second)->mcp_url.c_str() + (*second)->mcp_url.rfind(':') + 1);
  EXPECT_EQ(post("/model/v1/messages", std::string(kQuestion), first).status, 401);
}

TEST_F(Host, AnswersFromAScriptInTheProgramsOwnApi) {
  open(scripted());
  const auto answer = post("/model/v1/messages?beta=true", std::string(kQuestion), api_key());
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.head, HasSubstr("text/event-stream"));
  EXPECT_THAT(answer.body, HasSubstr("event: message_stop"));
  EXPECT_THAT(answer.body, HasSubstr(R"("name":"mcp__signalbox__complete_step")"));
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_EQ(driver.exchanges[0].request, kQuestion);
  EXPECT_EQ(driver.exchanges[0].reply, answer.body);
  EXPECT_EQ(driver.exchanges[0].usage, (agent::Usage{.input = 7, .output = 3}));
  EXPECT_EQ(driver.exchanges[0].mark, "s/1");
  EXPECT_EQ(driver.asked_for.messages.size(), 1u);
}

TEST_F(Host, AnswersResponsesAndChatToo) {
  open(scripted());
  const auto responses = post("/model/v1/responses",
                              R"({"model": "m", "stream": true, "input": "hello", "tools": [{"type": "namespace",
                                  "name": "mcp__signalbox",
                                  "tools": [{"type": "function", "name": "complete_step"}]}]})",
                              bearer());
  EXPECT_THAT(responses.body, HasSubstr("event: response.completed"));
  EXPECT_THAT(responses.body, HasSubstr(R"("name":"complete_step","namespace":"mcp__signalbox")"));
  const auto chat = post("/model/v1/chat/completions",
                         R"({"model": "m", "messages": [{"role": "user", "content": "hello"}]})", bearer());
  EXPECT_THAT(chat.body, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_EQ(driver.exchanges.size(), 2u);
}

TEST_F(Host, ReportsRefusalsInTheFormatOfTheApi) {
  open(scripted());
  driver.refused = ModelError{ModelError::Kind::kBudget, {ErrorCode::kForbidden, "all 10 tokens are used", {}, {}}, {}};
  const auto answer = post("/model/v1/messages", std::string(kQuestion), api_key());
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr(R"({"type":"error","error":{"type":"permission_error","message":"all 10)"));
  EXPECT_EQ(driver.exchanges.size(), 0u);
}

TEST_F(Host, EndsAProgramsTurnWithoutCallingItsModel) {
  open(scripted());
  driver.parting = agent::ModelReply{.content = {*parse_json(R"({"type": "text", "text": "Over."})")}};
  const auto answer = post("/model/v1/messages", std::string(kQuestion), api_key());
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("Over."));
  EXPECT_THAT(answer.body, HasSubstr("end_turn"));
  EXPECT_EQ(driver.exchanges.size(), 0u);
}

TEST_F(Host, RejectsOtherPathsAndBadBodies) {
  open(scripted());
  for (const char* path : {"/model/v1/files", "/model/v1/messages/batches", "/model/v1/../v1/other", "/model", "/other",
                           "/model/http://example.org/v1/messages"}) {
    EXPECT_EQ(post(path, std::string(kQuestion), api_key()).status, 404) << path;
  }
  std::string deep(10'000, '[');
  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string("{}"), std::string("\xff\xfe"), deep}) {
    EXPECT_EQ(post("/model/v1/messages", body, api_key()).status, 400) << body.substr(0, 20);
  }
  EXPECT_EQ(driver.exchanges.size(), 0u);
}

// A fake provider: records the request and answers with a stream.
class Provider {
 public:
  explicit Provider(std::string body, int status = 200)
      : server_({}, [this, body = std::move(body), status](net::HttpRequest request, const net::ExchangePtr& exchange) {
          {
            const std::scoped_lock lock(mutex_);
            request_ = std::move(request);
          }
          exchange->respond({.status = status,
                             .headers = {{"Content-Type", status == 200 ? "text/event-stream" : "application/json"},
                                         {"Retry-After", "7"}},
                             .body = body});
        }) {}
  net::HttpRequest request() {
    const std::scoped_lock lock(mutex_);
    return request_;
  }
  int port() const { return server_.port(); }

 private:
  std::mutex mutex_;
  net::HttpRequest request_;
  net::TestServer server_;
};

constexpr const char* kStream =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"the-model-1\",\"usage\":"
    "{\"input_tokens\":11,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\"}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
    "{\"output_tokens\":9}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

TEST_F(Host, AddsTheKeyAndCountsTheTokensReturned) {
  Provider provider(kStream);
  open(served(agent::provider_named("anthropic"), provider.port()));
  const auto answer = post("/model/v1/messages?beta=true", std::string(kQuestion),
                           api_key() + "anthropic-version: 2023-06-01\r\nX-Spy: home\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, kStream);
  const net::HttpRequest sent = provider.request();
  EXPECT_EQ(sent.path, "/v1/messages");
  EXPECT_EQ(sent.query, "beta=true");
  EXPECT_EQ(sent.header("x-api-key"), "sk-real-one");
  EXPECT_EQ(sent.header("anthropic-version"), "2023-06-01");
  EXPECT_FALSE(sent.header("X-Spy"));
  EXPECT_EQ(parse_json(sent.body)->string_at("model"), "the-model") << "whatever the program named";
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_EQ(driver.exchanges[0].request, sent.body);
  EXPECT_EQ(driver.exchanges[0].reply, kStream);
  EXPECT_EQ(driver.exchanges[0].model, "the-model-1");
  EXPECT_EQ(driver.exchanges[0].usage, (agent::Usage{.input = 11, .output = 9, .cache_read = 5}));
  EXPECT_EQ(driver.exchanges[0].stop, agent::StopReason::kEndTurn);
  EXPECT_THAT(driver.exchanges[0].request + driver.exchanges[0].reply + answer.head, Not(HasSubstr("sk-real-one")));
}

// One stream per request, the last one again and again.
class ProviderOfMany {
 public:
  explicit ProviderOfMany(std::vector<std::string> bodies)
      : bodies_(std::move(bodies)), server_({}, [this](net::HttpRequest request, const net::ExchangePtr& exchange) {
          const std::scoped_lock lock(mutex_);
          requests_.push_back(request.body);
          const std::string& body = bodies_[std::min(requests_.size(), bodies_.size()) - 1];
          const char* type = body.starts_with('{') ? "application/json" : "text/event-stream";
          exchange->respond({.status = 200, .headers = {{"Content-Type", type}}, .body = body});
        }) {}
  std::vector<std::string> requests() {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  int port() const { return server_.port(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> bodies_, requests_;
  net::TestServer server_;
};

std::string message_stream(const std::string& text, const std::string& block = "") {
  return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":11}}}\n\n"
         "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
         "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"" +
         text + "\"}}\n\n" + block + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" +
         (block.empty() ? "end_turn" : "tool_use") +
         "\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
}

TEST_F(Host, ADiscardedReplyIsAskedForAgainAndNotSeen) {
  ProviderOfMany provider({message_stream("discard me"), message_stream("discard me too"), message_stream("Fine.")});
  open(served(agent::provider_named("anthropic"), provider.port()));
  const auto answer = post("/model/v1/messages", std::string(kQuestion), api_key());
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, message_stream("Fine."));
  const auto requests = provider.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0], requests[1]) << "the model does not learn of it";
  EXPECT_EQ(requests[0], requests[2]);
  ASSERT_EQ(driver.exchanges.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(driver.exchanges[static_cast<std::size_t>(i)].attempt, i + 1);
    EXPECT_EQ(driver.exchanges[static_cast<std::size_t>(i)].usage, (agent::Usage{.input = 11, .output = 9}));
  }
  EXPECT_EQ(driver.exchanges[0].final_text, "discard me");
}

TEST_F(Host, AReplyThatCallsAToolIsPassedOn) {
  const std::string call =
      "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"name\":\"Read\"}}\n\n";
  ProviderOfMany provider({message_stream("discard me", call)});
  open(served(agent::provider_named("anthropic"), provider.port()));
  EXPECT_EQ(post("/model/v1/messages", std::string(kQuestion), api_key()).body, message_stream("discard me", call));
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_EQ(driver.exchanges[0].final_text, std::nullopt);
}

TEST_F(Host, ARequestWithoutToolsIsNotATurnOfTheAgent) {
  ProviderOfMany provider({message_stream("discard me")});
  open(served(agent::provider_named("anthropic"), provider.port()));
  const std::string title = R"({"model": "m", "stream": true, "messages": [{"role": "user", "content": "a title"}]})";
  EXPECT_EQ(post("/model/v1/messages", title, api_key()).body, message_stream("discard me"));
  EXPECT_EQ(provider.requests().size(), 1u);
}

TEST_F(Host, WholeRepliesOfTheOtherApisAreDiscardedToo) {
  const auto chat = [](const std::string& text) {
    return R"({"model":"m","choices":[{"message":{"content":")" + text + R"("},"finish_reason":"stop"}]})";
  };
  const auto responses = [](const std::string& text) {
    return R"({"model":"m","output":[{"type":"message","content":[{"type":"output_text","text":")" + text + R"("}]}]})";
  };
  ProviderOfMany provider({chat("discard me"), chat("Fine."), responses("discard me"), responses("Good.")});
  open(served(agent::provider_named("openai"), provider.port()));
  const std::string tools = R"("tools": [{"type": "function", "name": "x"}]})";
  EXPECT_EQ(post("/model/v1/chat/completions", R"({"model": "m", "messages": [], )" + tools, bearer()).body,
            chat("Fine."));
  EXPECT_EQ(post("/model/v1/responses", R"({"model": "m", "input": "x", )" + tools, bearer()).body, responses("Good."));
  EXPECT_EQ(driver.exchanges.size(), 4u);
}

TEST_F(Host, PassesErrorsThroughWithoutTheKey) {
  Provider provider(R"({"error": {"message": "slow down"}})", 429);
  open(served(agent::provider_named("openai"), provider.port()));
  const auto answer = post("/model/v1/responses", R"({"model": "m", "stream": true, "input": "x"})", bearer());
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.head, HasSubstr("Retry-After: 7"));
  EXPECT_THAT(answer.body, HasSubstr("slow down"));
  EXPECT_EQ(provider.request().header("Authorization"), "Bearer sk-real-one");
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_EQ(driver.exchanges[0].failure->kind, ModelError::Kind::kRateLimited);
  EXPECT_EQ(driver.exchanges[0].failure->retry_after_ms, 7'000);
}

TEST_F(Host, DistinguishesErrorsFromReplies) {
  Provider fine(R"({"error": {"message": "slow down, sk-real-one", "code": 429}})");
  open(served(agent::provider_named("openai"), fine.port()));
  const auto answer = post("/model/v1/chat/completions", R"({"model": "m", "messages": []})", bearer());
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.body, HasSubstr("slow down, [key]"));
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_EQ(driver.exchanges[0].failure->kind, ModelError::Kind::kRateLimited);
  const std::string whole(kStream);
  Provider cut(whole.substr(0, whole.find("event: message_stop")));
  open(served(agent::provider_named("anthropic"), cut.port()));
  post("/model/v1/messages", std::string(kQuestion), api_key());
  ASSERT_EQ(driver.exchanges.size(), 2u);
  ASSERT_TRUE(driver.exchanges[1].failure);
  EXPECT_EQ(driver.exchanges[1].failure->kind, ModelError::Kind::kTruncated);
  EXPECT_EQ(driver.exchanges[1].usage, (agent::Usage{.input = 11, .output = 9, .cache_read = 5}));
}

TEST_F(Host, ReportsAProviderThatHangs) {
  net::RawServer silent([](auto& peer, const auto&) { return peer.be_silent(), false; });
  driver.silence = 200;
  open(served(agent::provider_named("anthropic"), silent.port()));
  EXPECT_EQ(post("/model/v1/messages", std::string(kQuestion), api_key()).status, 529);
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_TRUE(driver.exchanges[0].failure->is_retryable());
}

TEST_F(Host, RejectsAnApiTheUpstreamDoesNotSupport) {
  Provider provider(kStream);
  open(served(agent::provider_named("anthropic"), provider.port()));
  EXPECT_EQ(post("/model/v1/responses", R"({"input": "x"})", bearer()).status, 404);
  EXPECT_EQ(provider.request().path, "");
}

TEST_F(Host, SendsAnAddedProvidersKeyToItsOwnAddress) {
  Provider server(kStream);
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  const std::string_view passed[] = {"acme-mode"};
  const agent::ModelProvider acme{.name = "acme",
                                  .kind = agent::ModelProvider::Kind::kHttp,
                                  .url = url,
                                  .key_header = "acme-key",
                                  .api = "anthropic",
                                  .program_headers = passed};
  ModelSettings model = served(&acme, 0);
  model.url.clear();
  open(model);
  EXPECT_EQ(post("/model/v1/responses", R"({"input": "x"})", bearer()).status, 404);
  EXPECT_EQ(server.request().path, "");
  const std::string headers = api_key() + "acme-mode: fast\r\nopenai-beta: x\r\n";
  EXPECT_EQ(post("/model/v1/messages", std::string(kQuestion), headers).status, 200);
  const net::HttpRequest sent = server.request();
  EXPECT_EQ(sent.path, "/v1/messages");
  EXPECT_EQ(sent.header("acme-key"), "sk-real-one");
  EXPECT_EQ(sent.header("acme-mode"), "fast");
  for (const char* other : {"x-api-key", "Authorization", "openai-beta"}) EXPECT_FALSE(sent.header(other)) << other;
}

TEST_F(Host, ReportsAnUnreachableProvider) {
  int gone = 0;
  {
    Provider provider(kStream);
    gone = provider.port();
  }
  open(served(agent::provider_named("anthropic"), gone));
  const auto answer = post("/model/v1/messages", std::string(kQuestion), api_key());
  EXPECT_EQ(answer.status, 529);
  ASSERT_EQ(driver.exchanges.size(), 1u);
  EXPECT_TRUE(driver.exchanges[0].failure->is_retryable());
}

}  // namespace
}  // namespace sb::host
