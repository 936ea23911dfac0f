#include "agent/programs/reply_blocks.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::agent {
namespace {

// [type, text] or [type, id, name, input] for each block.
std::string said(Wire wire, const std::string& reply) {
  const ReplyBlocks read = reply_blocks(wire, reply);
  Value all = Value::array();
  for (const Value& block : read.blocks) {
    Value one = Value::array();
    for (const Value::Member& member : block.members()) {
      if (member.name != "type") one.push_back(member.value);
    }
    all.push_back(std::move(one));
  }
  return to_json(all) + (read.is_malformed ? " malformed" : "");
}

std::string stream(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& event : events) text += "event: x\ndata: " + event + "\n\n";
  return text;
}

TEST(ReplyBlocks, AreReadFromWholeReplies) {
  EXPECT_EQ(said(Wire::kMessages, R"({"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},
                 {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]})"),
            R"([["a"],["t1","Bash",{"command":"ls"}]])");
  EXPECT_EQ(said(Wire::kResponses, R"({"output":[{"type":"reasoning"},
                 {"type":"message","content":[{"type":"output_text","text":"a"}]},
                 {"type":"function_call","call_id":"c1","namespace":"mcp__signalbox","name":"ask",
                  "arguments":"{\"a\":1}"},
                 {"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch"},
                 {"type":"local_shell_call","call_id":"c3","action":{"command":["ls"]}}]})"),
            R"([["a"],["c1","mcp__signalbox__ask",{"a":1}],["c2","apply_patch","*** Begin Patch"],)"
            R"(["c3","local_shell_call",{"command":["ls"]}]])");
  EXPECT_EQ(said(Wire::kChat, R"({"choices":[{"message":{"content":"a","tool_calls":[
                 {"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}}]})"),
            R"([["a"],["c1","bash",{"command":"ls"}]])");
}

TEST(ReplyBlocks, AreReadFromStreams) {
  EXPECT_EQ(said(Wire::kMessages,
                 stream({R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}})",
                         R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
                         R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me "}})",
                         R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"know"}})",
                         R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t",)"
                         R"("name":"Bash","input":{}}})",
                         R"({"type":"content_block_delta","index":2,"delta":{"partial_json":"{\"command\":"}})",
                         R"({"type":"content_block_delta","index":2,"delta":{"partial_json":"\"ls\"}"}})"})),
            R"([["Let me know"],["t","Bash",{"command":"ls"}]])");
  const std::string item = R"({"type":"message","content":[{"type":"output_text","text":"a"}]})";
  const std::string completed = R"({"type":"response.completed","response":{"output":[)" + item + "]}}";
  EXPECT_EQ(said(Wire::kResponses, stream({R"({"type":"response.output_item.done","item":)" + item + "}", completed})),
            R"([["a"]])");
  EXPECT_EQ(said(Wire::kResponses, stream({completed})), R"([["a"]])");
  EXPECT_EQ(said(Wire::kChat,
                 stream({R"({"choices":[{"delta":{"content":"a"}}]})", R"({"choices":[{"delta":{"content":"b"}}]})",
                         R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2",)"
                         R"("function":{"name":"two","arguments":""}}]}}]})",
                         R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1",)"
                         R"("function":{"name":"one","arguments":"{\"a\""}}]}}]})",
                         R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]})",
                         "[DONE]"})),
            R"([["ab"],["c1","one",{"a":1}],["c2","two",{}]])");
}

TEST(ReplyBlocks, KeepAnInputThatIsNotJsonAsText) {
  EXPECT_EQ(said(Wire::kChat, R"({"choices":[{"message":{"tool_calls":[
                 {"id":"c","function":{"name":"bash","arguments":"{\"command\": "}}]}}]})"),
            R"([["c","bash","{\"command\": "]])");
}

TEST(ReplyBlocks, AreMissingWhereTheReplyIsNotJson) {
  for (const Wire wire : {Wire::kMessages, Wire::kResponses, Wire::kChat}) {
    for (const char* bytes : {"", " ", "[]", "{}", "\xff\xfe", R"({"content":1,"output":"x","choices":{}})"}) {
      EXPECT_EQ(said(wire, bytes), "[]") << bytes;
    }
    for (const char* bytes : {"{", "data: {", "data: 1\n"}) EXPECT_EQ(said(wire, bytes), "[] malformed") << bytes;
  }
  EXPECT_EQ(said(Wire::kMessages,
                 "data: {\ndata: {\"type\":\"content_block_start\",\"content_block\":"
                 "{\"type\":\"text\",\"text\":\"a\"}}\n"),
            R"([["a"]] malformed)");
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
