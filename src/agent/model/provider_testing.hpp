// For tests of providers: seams with a key, a server that sends raw bytes, and a sample stream of each API.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/model/make_model.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "net/raw_server.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::agent {

inline constexpr const char* kTestKey = "sk-very-secret-key-1234";

struct ProviderFixture {
  store::TempSqliteStore place;
  std::unique_ptr<store::Store> store = std::move(*place.open());
  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) -> Result<ProcessResult> { return fail(ErrorCode::kInternal, "none"); }};
  Environment environment{{{"MODEL_KEY", kTestKey}}};
  FakeStreams streams;
  std::unique_ptr<net::HttpClient> http = net::make_http_client();

  Seams seams() { return {files, clock, random, process, environment, streams}; }
  std::unique_ptr<Model> make(const ModelSettings& settings, int tries = 1) {
    auto made = make_model(settings, {seams(), *http, *store, "run-1", {}, {.tries = tries}});
    EXPECT_TRUE(made) << (made ? "" : made.error().to_string());
    return made ? std::move(*made) : nullptr;
  }
};

inline Value text_block(std::string text) {
  return Value::object({{"type", "text"}, {"text", std::move(text)}});
}

inline ModelRequest plain_request() {
  ModelRequest request;
  request.system = {"You are it.", "Rules.", "This turn."};
  request.messages.push_back({Message::From::kUser, {text_block("Hello")}});
  request.tools.push_back({"Read", "Reads.", Value::object({{"type", "object"}})});
  request.requester.turn = 4;
  return request;
}

inline std::string sse(const std::vector<std::string>& events) {
  std::string bytes;
  for (const std::string& event : events) bytes += "data: " + event + "\n\n";
  return bytes;
}

inline std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
}

// Each says "Hi there" and calls Read with {"path": "a.txt"}.
struct TestApi {
  std::string name;
  const ModelProvider* provider;
  std::string api, path;
  std::vector<std::string> events;
  std::string context_error, quota_error;
  std::string error_event;  // overloaded, in a stream
};

inline void PrintTo(const TestApi& api, std::ostream* out) {
  *out << api.name;
}

inline std::vector<TestApi> test_apis() {
  return {
      {"anthropic",
       provider_named("anthropic"),
       "",
       "/v1/messages",
       {R"({"type":"message_start","message":{"id":"m","type":"message","role":"assistant",)"
        R"("content":[],"model":"claude-x","usage":{"input_tokens":11,)"
        R"("cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}})",
        R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})", R"({"type":"ping"})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi "}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"there"}})",
        R"({"type":"content_block_stop","index":0})",
        R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use",)"
        R"("id":"call_1","name":"Read","input":{}}})",
        R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}})",
        R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta",)"
        R"("partial_json":"{\"path\": \"a"}})",
        R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":".txt\"}"}})",
        R"({"type":"content_block_stop","index":1})",
        R"({"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},)"
        R"("usage":{"output_tokens":9}})",
        R"({"type":"message_stop"})"},
       R"({"type":"error","error":{"type":"invalid_request_error",)"
       R"("message":"prompt is too long: 205001 tokens > 200000 maximum"}})",
       R"({"type":"error","error":{"type":"billing_error","message":"No credit"}})",
       R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"},
      {"responses",
       provider_named("openai"),
       "responses",
       "/v1/responses",
       {R"({"type":"response.created","response":{"id":"r","model":"gpt-x","output":[]}})",
        R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}})",
        R"({"type":"response.output_text.delta","output_index":0,"delta":"Hi "})",
        R"({"type":"response.output_text.delta","output_index":0,"delta":"there"})",
        R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message",)"
        R"("role":"assistant","content":[{"type":"output_text","text":"Hi there",)"
        R"("annotations":[]}]}})",
        R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"path\": \"a.txt\"}"})",
        R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call",)"
        R"("id":"fc","call_id":"call_1","name":"Read","arguments":"{\"path\": \"a.txt\"}"}})",
        R"({"type":"response.completed","response":{"id":"r","status":"completed","model":"gpt-x",)"
        R"("usage":{"input_tokens":18,"input_tokens_details":{"cached_tokens":7},)"
        R"("output_tokens":9}}})"},
       R"({"error":{"message":"Your input exceeds the context window of this model.",)"
       R"("type":"invalid_request_error","code":"context_length_exceeded"}})",
       R"({"error":{"message":"You exceeded your current quota.","type":"insufficient_quota",)"
       R"("code":"insufficient_quota"}})",
       R"({"type":"response.failed","response":{"status":"failed","error":{"code":"server_error",)"
       R"("message":"Overloaded"}}})"},
      {"chat",
       provider_named("openai"),
       "chat",
       "/v1/chat/completions",
       {R"({"id":"c","model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant",)"
        R"("content":""},"finish_reason":null}]})",
        R"({"id":"c","model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hi "},"finish_reason":null}]})",
        R"({"id":"c","model":"gpt-x","choices":[{"index":0,"delta":{"content":"there"},"finish_reason":null}]})",
        R"({"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1",)"
        R"("type":"function","function":{"name":"Read","arguments":""}}]}}]})",
        R"({"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,)"
        R"("function":{"arguments":"{\"path\": \"a"}}]}}]})",
        R"({"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":".txt\"}"}}]}}]})",
        R"({"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]})",
        R"({"id":"c","choices":[],"usage":{"prompt_tokens":18,)"
        R"("prompt_tokens_details":{"cached_tokens":7},"completion_tokens":9}})",
        "[DONE]"},
       R"({"error":{"message":"This model's maximum context length is 8192 tokens.",)"
       R"("type":"invalid_request_error","code":"context_length_exceeded"}})",
       R"({"error":{"message":"You exceeded your current quota.","type":"insufficient_quota",)"
       R"("code":"insufficient_quota"}})",
       R"({"error":{"message":"Overloaded","type":"server_error","code":null}})"},
  };
}

}  // namespace sb::agent
