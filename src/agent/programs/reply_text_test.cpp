#include "agent/programs/reply_text.hpp"

#include <gtest/gtest.h>

namespace sb::agent {
namespace {

TEST(ReplyText, IsReadFromWholeReplies) {
  EXPECT_EQ(
      reply_text(
          Wire::kMessages,
          R"({"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
      "a\n\nb");
  EXPECT_EQ(
      reply_text(
          Wire::kResponses,
          R"({"output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]})"),
      "a");
  EXPECT_EQ(reply_text(Wire::kChat, R"({"choices":[{"message":{"content":"a"}}]})"), "a");
}

TEST(ReplyText, IsReadFromStreams) {
  EXPECT_EQ(reply_text(Wire::kMessages,
                       "event: x\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\","
                       "\"thinking\":\"t\"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"
                       "\"text_delta\",\"text\":\"Let me \"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":"
                       "{\"type\":\"text_delta\",\"text\":\"know\"}}\n\n"),
            "Let me know");
  const std::string item = R"({"type":"message","content":[{"type":"output_text","text":"a"}]})";
  EXPECT_EQ(reply_text(Wire::kResponses, "data: {\"type\":\"response.output_item.done\",\"item\":" + item +
                                             "}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[" +
                                             item + "]}}\n\n"),
            "a");
  EXPECT_EQ(reply_text(Wire::kResponses,
                       "data: {\"type\":\"response.completed\",\"response\":{\"output\":[" + item + "]}}\n\n"),
            "a");
  EXPECT_EQ(reply_text(Wire::kChat,
                       "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":"
                       "{\"content\":\"b\"}}]}\n\ndata: [DONE]\n\n"),
            "ab");
}

TEST(ReplyText, IgnoresWhatItDoesNotUnderstand) {
  for (const Wire wire : {Wire::kMessages, Wire::kResponses, Wire::kChat}) {
    for (const char* bytes :
         {"", " ", "{", "[]", "{}", "data: {", "data: 1\n", "\xff\xfe", R"({"content":1,"output":"x","choices":{}})"}) {
      EXPECT_EQ(reply_text(wire, bytes), "") << bytes;
    }
  }
}

TEST(ReplyMeter, KnowsThatACallHasBegun) {
  const auto has_call = [](Wire wire, const std::string& event) {
    ReplyMeter meter(wire);
    meter.feed("data: " + event + "\n\n");
    return meter.has_call();
  };
  EXPECT_TRUE(has_call(Wire::kMessages, R"({"type":"content_block_start","content_block":{"type":"tool_use"}})"));
  EXPECT_FALSE(has_call(Wire::kMessages,
                        R"({"type":"content_block_delta","delta":{"text":"\"content_block_start\" \"tool_use\""}})"));
  EXPECT_TRUE(has_call(Wire::kResponses, R"({"type":"response.output_item.added","item":{"type":"function_call"}})"));
  EXPECT_FALSE(has_call(Wire::kResponses, R"({"type":"response.output_item.added","item":{"type":"message"}})"));
  EXPECT_TRUE(has_call(Wire::kChat, R"({"choices":[{"delta":{"tool_calls":[{"id":"c"}]}}]})"));
  EXPECT_FALSE(has_call(Wire::kChat, R"({"choices":[{"delta":{"content":"x","tool_calls":null}}]})"));
}

}  // namespace
}  // namespace sb::agent
