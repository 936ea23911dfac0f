#include "agent/programs/proxy_wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;

Value json(std::string_view text) {
  const auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

ModelReply calling(std::string_view name, std::string_view input) {
  return {.content = {Value::object({{"type", "tool_use"}, {"id", "t1"}, {"name", name}, {"input", json(input)}})},
          .stop = StopReason::kToolUse,
          .usage = {.input = 7, .output = 3, .cache_read = 2},
          .model = {},
          .mark = {}};
}

TEST(ProxyWire, AcceptsOnlyThreePaths) {
  EXPECT_EQ(wire_of("/v1/messages"), Wire::kMessages);
  EXPECT_EQ(wire_of("/v1/responses"), Wire::kResponses);
  EXPECT_EQ(wire_of("/v1/chat/completions"), Wire::kChat);
  for (const char* path : {"", "/", "/v1", "/v1/messages/", "/v1/messages/batches", "/v1/files", "//v1/messages"}) {
    EXPECT_FALSE(wire_of(path)) << path;
  }
}

// The count is the same however a reply is split, streamed or whole.
TEST(ProxyWire, CountsTheCostOfAReplyInEveryApi) {
  const Value requests[] = {json(R"({"stream": true, "messages": []})"), json(R"({"messages": []})")};
  for (const Wire wire : {Wire::kMessages, Wire::kResponses, Wire::kChat}) {
    for (const Value& request : requests) {
      const WireReply reply = reply_on(wire, request, calling("Bash", R"({"command": "ls"})"), "1");
      for (const std::size_t size : {std::size_t{1}, std::size_t{7}, reply.body.size()}) {
        ReplyMeter meter(wire);
        for (std::size_t at = 0; at < reply.body.size(); at += size) meter.feed(reply.body.substr(at, size));
        meter.finish();
        EXPECT_FALSE(meter.failure()) << reply.body;
        EXPECT_EQ(meter.usage().output, 3) << reply.body;
        EXPECT_EQ(meter.usage().input + meter.usage().cache_read, 9) << reply.body;
        EXPECT_EQ(meter.stop(), StopReason::kToolUse) << reply.body;
      }
    }
  }
}

TEST(ProxyWire, DetectsAReplyThatWasCutOff) {
  const WireReply reply =
      reply_on(Wire::kMessages, json(R"({"stream": true, "messages": []})"), calling("Bash", "{}"), "1");
  ReplyMeter meter(Wire::kMessages);
  meter.feed(reply.body.substr(0, reply.body.find("event: message_stop")));
  meter.finish();
  ASSERT_TRUE(meter.failure());
  EXPECT_EQ(meter.failure()->kind, ModelError::Kind::kTruncated);
}

TEST(ProxyWire, DetectsAnErrorInAStreamAndInASuccessfulResponse) {
  const std::vector<std::pair<Wire, std::string>> all = {
      {Wire::kMessages, R"(data: {"type":"error","error":{"type":"overloaded_error","message":"Too much"}})"
                        "\n\n"},
      {Wire::kResponses, R"(data: {"type":"response.failed","response":{"error":{"code":"server_error",)"
                         R"("message":"Too much"}}})"
                         "\n\n"},
      {Wire::kChat, R"(data: {"error":{"message":"Too much","code":503}})"
                    "\n\n"},
      {Wire::kMessages, R"({"type":"error","error":{"type":"overloaded_error","message":"Too much"}})"},
      {Wire::kChat, R"({"error":{"message":"Too much","code":503}})"}};
  for (const auto& [wire, bytes] : all) {
    ReplyMeter meter(wire);
    meter.feed(bytes);
    meter.finish();
    ASSERT_TRUE(meter.failure()) << bytes;
    EXPECT_EQ(meter.failure()->kind, ModelError::Kind::kOverloaded) << bytes;
    EXPECT_THAT(meter.failure()->error.message, HasSubstr("Too much"));
  }
}

TEST(ProxyWire, PassesGarbageThrough) {
  for (const Wire wire : {Wire::kMessages, Wire::kResponses, Wire::kChat}) {
    for (const char* rubbish : {"", "\n\n", "data: {\"usage\"", "data: [1]\n", "{\"usage\": 3}", "data: \"usage\"\n",
                                "{\"usage\": {\"input_tokens\": -5, \"output_tokens\": \"x\"}}", "\xff\xfe\n"}) {
      ReplyMeter meter(wire);
      meter.feed(rubbish);
      meter.finish();
      EXPECT_EQ(meter.usage().total(), 0) << rubbish;
    }
  }
}

TEST(ProxyWire, ReadsConversationsInTheCommonForm) {
  const auto messages = request_from(Wire::kMessages, json(R"({"system": [{"type": "text", "text": "S"}], "messages": [
      {"role": "user", "content": "hello"},
      {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                                    "content": [{"type": "text", "text": "RESULT"}]}]}]})"));
  ASSERT_TRUE(messages);
  EXPECT_EQ(messages->system.front(), "S");
  ASSERT_EQ(messages->messages.size(), 3u);
  EXPECT_EQ(messages->messages[2].content[0].string_at("content"), "RESULT");
  const auto responses = request_from(Wire::kResponses, json(R"({"instructions": "S", "input": [
      {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
      {"type": "function_call", "call_id": "t", "name": "x", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "t", "output": "RESULT"}]})"));
  ASSERT_TRUE(responses);
  ASSERT_EQ(responses->messages.size(), 3u);
  EXPECT_EQ(responses->messages[2].content[0].string_at("content"), "RESULT");
  EXPECT_FALSE(request_from(Wire::kMessages, json("{}")));
  EXPECT_FALSE(request_from(Wire::kResponses, json("[]")));
}

TEST(ProxyWire, FindsTheProgramsTool) {
  const Value claude =
      json(R"({"messages": [], "tools": [{"name": "Bash"}, {"name": "mcp__signalbox__complete_step"}]})");
  EXPECT_THAT(reply_on(Wire::kMessages, claude, calling("complete_step", "{}"), "1").body,
              HasSubstr(R"("name":"mcp__signalbox__complete_step")"));
  EXPECT_THAT(reply_on(Wire::kMessages, claude, calling("Bash", "{}"), "1").body, HasSubstr(R"("name":"Bash")"));
  const Value codex = json(R"({"input": [], "tools": [{"type": "function", "name": "exec_command"},
      {"type": "namespace", "name": "mcp__signalbox", "tools": [{"type": "function", "name": "complete_step"}]}]})");
  EXPECT_THAT(reply_on(Wire::kResponses, codex, calling("complete_step", "{}"), "1").body,
              HasSubstr(R"("name":"complete_step","namespace":"mcp__signalbox")"));
  EXPECT_THAT(reply_on(Wire::kResponses, codex, calling("Bash", R"({"command": "ls -l"})"), "1").body,
              HasSubstr(R"("arguments":"{\"cmd\":\"ls -l\"}")"));
  EXPECT_THAT(reply_on(Wire::kResponses, codex, calling("Read", R"({"file_path": "it's"})"), "1").body,
              HasSubstr(R"(cat -- 'it'\\\\''s')"));
}

TEST(ProxyWire, FormatsErrorsLikeTheApi) {
  const ModelError budget{ModelError::Kind::kBudget, {ErrorCode::kForbidden, "spent", {}, {}}, {}};
  EXPECT_EQ(error_on(Wire::kMessages, budget).status, 403);
  EXPECT_THAT(error_on(Wire::kMessages, budget).body, HasSubstr(R"("type":"permission_error")"));
  EXPECT_THAT(error_on(Wire::kResponses, budget).body, HasSubstr(R"("code":"insufficient_quota")"));
}

}  // namespace
}  // namespace sb::agent
