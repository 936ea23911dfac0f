// How the providers translate a conversation, and the features that only some of them have.
#include <gtest/gtest.h>

#include "agent/model/anthropic.hpp"
#include "agent/model/openai.hpp"
#include "agent/model/provider_testing.hpp"

namespace sb::agent {
namespace {

ModelRequest conversation() {
  ModelRequest request = plain_request();
  request.temperature = 0.5;
  request.messages.push_back(
      {Message::From::kAssistant,
       {Value::object({{"type", "thinking"}, {"thinking", "hm"}, {"signature", "sig"}}),
        Value::object({{"type", "openai_reasoning"},
                       {"item", Value::object({{"type", "reasoning"}, {"encrypted_content", "zzz"}})}}),
        text_block("I look."), text_block(""),
        Value::object(
            {{"type", "tool_use"}, {"id", "c1"}, {"name", "Read"}, {"input", Value::object({{"path", "a"}})}})}});
  request.messages.push_back(
      {Message::From::kUser,
       {text_block("And also:"),
        Value::object(
            {{"type", "tool_result"}, {"tool_use_id", "c1"}, {"content", "no such file"}, {"is_error", true}})}});
  request.messages.push_back({Message::From::kAssistant, {text_block(" \n")}});
  return request;
}

int marks_in(const Value& value) {
  int count = 0;
  if (value.is_array()) {
    for (const Value& item : value.items()) count += marks_in(item);
  } else if (value.is_object()) {
    for (const auto& [name, part] : value.members()) count += name == "cache_control" ? 1 : marks_in(part);
  }
  return count;
}

ModelSettings of_model(const std::string& model) {
  ModelSettings settings;
  settings.model = model;
  return settings;
}

TEST(TranslationTest, SendsMessagesInTheFormOfTheMessagesApi) {
  const Value body = anthropic_body(of_model("claude-x"), conversation());
  EXPECT_EQ(to_json(body["messages"]),
            R"([{"role":"user","content":[{"type":"text","text":"Hello"}]},)"
            R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},)"
            R"({"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"Read","input":{"path":"a"}}]},)"
            R"({"role":"user","content":[{"type":"text","text":"And also:"},{"type":"tool_result","tool_use_id":"c1",)"
            R"("content":"no such file","is_error":true,"cache_control":{"type":"ephemeral"}}]}])");
  EXPECT_EQ(to_json(body["tools"]), R"([{"name":"Read","description":"Reads.","input_schema":{"type":"object"},)"
                                    R"("cache_control":{"type":"ephemeral"}}])");
  EXPECT_EQ(body["temperature"], Value(0.5));
  EXPECT_EQ(body["max_tokens"], Value(8'192));
}

TEST(TranslationTest, SetsAtMostFourCacheMarks) {
  ModelRequest request = conversation();
  EXPECT_EQ(marks_in(anthropic_body(of_model("m"), request)), 4);
  request.system = {"a", "b", "c", "d", "e", "f"};
  const Value body = anthropic_body(of_model("m"), request);
  EXPECT_EQ(marks_in(body), 4);
  EXPECT_EQ(marks_in(body["system"].items()[4]), 1) << "the part that stays when the last slot changes";
  request.system = {"", "only"};
  request.tools.clear();
  EXPECT_EQ(marks_in(anthropic_body(of_model("m"), request)), 2);
  EXPECT_EQ(marks_in(anthropic_body(of_model("m"), {})), 0);
}

TEST(TranslationTest, SendsItemsInTheFormOfTheResponsesApi) {
  const Value body = responses_body(of_model("gpt-5.2"), conversation());
  EXPECT_EQ(to_json(body["input"]),
            R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]},)"
            R"({"type":"reasoning","encrypted_content":"zzz"},)"
            R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},)"
            R"({"type":"function_call","call_id":"c1","name":"Read","arguments":"{\"path\":\"a\"}"},)"
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":"And also:"}]},)"
            R"({"type":"function_call_output","call_id":"c1","output":"[error] no such file"}])");
  EXPECT_EQ(body.string_at("instructions"), "You are it.\n\nRules.\n\nThis turn.");
  EXPECT_EQ(body["store"], Value(false));
  EXPECT_EQ(to_json(body["include"]), R"(["reasoning.encrypted_content"])");
  EXPECT_FALSE(responses_body(of_model("qwen3"), conversation()).find("include"));
}

TEST(TranslationTest, SendsMessagesInTheFormOfTheChatApi) {
  const Value body = chat_body(of_model("m"), conversation());
  EXPECT_EQ(to_json(body["messages"]),
            R"([{"role":"system","content":"You are it.\n\nRules.\n\nThis turn."},{"role":"user","content":"Hello"},)"
            R"({"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function",)"
            R"("function":{"name":"Read","arguments":"{\"path\":\"a\"}"}}]},)"
            R"({"role":"tool","content":"[error] no such file","tool_call_id":"c1"},)"
            R"({"role":"user","content":"And also:"}])");
  EXPECT_TRUE(body.find("max_completion_tokens"));
  ModelSettings own = of_model("m");
  own.url = "http://127.0.0.1:1";
  EXPECT_TRUE(chat_body(own, conversation()).find("max_tokens"));
}

TEST(TranslationTest, AcceptsAddressesInAllUsualForms) {
  EXPECT_EQ(anthropic_endpoint("http://h:1"), "http://h:1/v1/messages");
  EXPECT_EQ(anthropic_endpoint("http://h:1/v1/"), "http://h:1/v1/messages");
  EXPECT_EQ(openai_endpoint("http://h:1", "/responses"), "http://h:1/v1/responses");
  EXPECT_EQ(openai_endpoint("http://h:1/v1/", "/responses"), "http://h:1/v1/responses");
  EXPECT_EQ(openai_endpoint("https://h/api/openai", "/chat/completions"), "https://h/api/openai/chat/completions");
}

ModelResult read_with(std::unique_ptr<ReplyReader> reader, const std::vector<std::string>& events) {
  ReplyStream stream(*reader);
  stream.feed(sse(events), {});
  return stream.outcome();
}

std::string describe(const ModelResult& replied) {
  return replied ? to_json(to_value(*replied))
                 : std::string(to_string(replied.error().kind)) + ": " + replied.error().error.to_string();
}

TEST(TranslationTest, PassesThinkingThrough) {
  const ModelResult replied = read_with(
      make_anthropic_reader(),
      {R"({"type":"message_start","message":{"content":[]}})",
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me "}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}})",
       R"({"type":"message_delta","delta":{"stop_reason":"refusal"}})", R"({"type":"message_stop"})"});
  ASSERT_TRUE(replied) << describe(replied);
  EXPECT_EQ(
      to_json(Value(replied->content)),
      R"([{"type":"thinking","thinking":"let me see","signature":"abc"},{"type":"redacted_thinking","data":"xyz"}])");
  EXPECT_EQ(replied->stop, StopReason::kRefusal);
}

TEST(TranslationTest, RejectsAHostileMessage) {
  const std::string start = R"({"type":"message_start","message":{"content":[]}})";
  const std::string stop = R"({"type":"message_stop"})";
  for (const std::vector<std::string>& events : std::vector<std::vector<std::string>>{
           {R"({"type":"message_start","message":3})", stop},
           {R"({"type":"message_start","message":{"content":"text"}})", stop},
           {start, start, stop},
           {R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}})", stop},
           {start, R"({"type":"content_block_start","index":"0","content_block":{}})", stop},
           {start, R"({"type":"content_block_start","index":0,"content_block":[]})", stop},
           {start, R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{}}})", stop},
           {start, R"({"type":"content_block_start","index":0,"content_block":{"text":"x"}})", stop},
           {start, R"({"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"x"}})", stop}}) {
    const ModelResult replied = read_with(make_anthropic_reader(), events);
    EXPECT_TRUE(!replied && replied.error().kind == ModelError::Kind::kMalformed) << events.back() << describe(replied);
  }
  EXPECT_TRUE(describe(read_with(make_anthropic_reader(), {stop})).starts_with("cut:"));
  for (const char* response : {"3", R"({"output":"text"})", R"({"output":[{"type":"message","content":"x"}]})",
                               R"({"output":[{"type":"function_call","arguments":"{}"}]})"}) {
    const ModelResult replied = read_with(
        make_responses_reader(), {std::string(R"({"type":"response.completed","response":)") + response + "}"});
    EXPECT_TRUE(!replied && replied.error().kind == ModelError::Kind::kMalformed) << response << describe(replied);
  }
  for (const char* event : {R"({"choices":{}})", R"({"hello":1})",
                            R"({"choices":[{"delta":{"tool_calls":[{"index":0}]},"finish_reason":"stop"}]})"}) {
    const ModelResult replied = read_with(make_chat_reader(1), {event, "[DONE]"});
    EXPECT_TRUE(!replied && replied.error().kind == ModelError::Kind::kMalformed) << event << describe(replied);
  }
}

TEST(TranslationTest, ReadsHowResponsesEnd) {
  const auto stop_of = [](const std::string& response) {
    const ModelResult replied =
        read_with(make_responses_reader(), {R"({"type":"response.incomplete","response":)" + response + "}"});
    return replied ? std::string(to_string(replied->stop)) : describe(replied);
  };
  EXPECT_EQ(stop_of(R"({"incomplete_details":{"reason":"max_output_tokens"}})"), "max_tokens");
  EXPECT_EQ(stop_of(R"({"incomplete_details":{"reason":"content_filter"}})"), "refusal");
  EXPECT_EQ(stop_of(R"({"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]})"), "refusal");
  EXPECT_EQ(stop_of(R"({"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]})"), "end_turn");
  const ModelResult sealed = read_with(
      make_responses_reader(), {R"({"type":"response.completed","response":{"output":[{"type":"reasoning","id":"rs",)"
                                R"("encrypted_content":"z"},{"type":"reasoning","id":"open"}]}})"});
  EXPECT_EQ(to_json(Value(sealed->content)),
            R"([{"type":"openai_reasoning","item":{"type":"reasoning","id":"rs","encrypted_content":"z"}}])");
}

TEST(TranslationTest, ReadsChatFromServersThatDeviateFromTheApi) {
  // No index, no id, arguments as an object, several calls, no [DONE].
  const ModelResult replied = read_with(
      make_chat_reader(7), {R"({"choices":[{"delta":{"tool_calls":[{"function":{"name":"A","arguments":{"x":1}}},)"
                            R"({"function":{"name":"B","arguments":""}}]}}]})",
                            R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null})"});
  ASSERT_TRUE(replied) << describe(replied);
  EXPECT_EQ(to_json(Value(replied->content)), R"([{"type":"tool_use","id":"call_7_0","name":"A","input":{"x":1}},)"
                                              R"({"type":"tool_use","id":"call_7_1","name":"B","input":{}}])");
  EXPECT_EQ(replied->stop, StopReason::kToolUse);
  EXPECT_EQ(
      read_with(make_chat_reader(1), {R"({"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]})"})->stop,
      StopReason::kMaxTokens);
  EXPECT_EQ(
      read_with(make_chat_reader(1), {R"({"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}]})"})->stop,
      StopReason::kRefusal);
}

}  // namespace
}  // namespace sb::agent
