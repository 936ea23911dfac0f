#include "agent/programs/reply_blocks.hpp"

#include <algorithm>
#include <map>

#include "agent/limits.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"

namespace sb::agent {
namespace {

struct BlockPart {
  std::string type = {}, id = {}, name = {};
  std::string text = {};  // of a call: its input as JSON
  Value input = {};       // where it is not a text
};

// A JSON object, or the text as it is.
Value input_from(const BlockPart& part) {
  if (part.text.empty()) return part.input.is_null() ? Value::object() : part.input;
  auto read = parse_json(part.text, {.depth = limits::kReplyDepth});
  return read && read->is_object() ? std::move(*read) : Value(part.text);
}

class BlockReader {
 public:
  explicit BlockReader(Wire wire) : wire_(wire) {}

  void whole(const Value& reply) {
    switch (wire_) {
      case Wire::kMessages:
        return each(reply["content"], [&](const Value& block) { begin(next(), block); });
      case Wire::kResponses:
        return each(reply["output"], [&](const Value& item) { add_item(item); });
      case Wire::kChat:
        return each(reply["choices"], [&](const Value& choice) { add_chat(choice["message"]); });
    }
  }

  void event(const Value& event) {
    const std::string type = event.string_at("type").value_or("");
    switch (wire_) {
      case Wire::kMessages:
        if (type == "content_block_start") begin(index_of(event), event["content_block"]);
        if (type == "content_block_delta") add_delta(parts_[index_of(event)], event["delta"]);
        return;
      case Wire::kResponses:
        if (type == "response.output_item.done") add_item(event["item"]);
        // Some repeat all items at the end, some have them only there.
        if (type == "response.completed" && parts_.empty()) whole(event["response"]);
        return;
      case Wire::kChat:
        return each(event["choices"], [&](const Value& choice) { add_chat(choice["delta"]); });
    }
  }

  Value::Array take() const {
    Value::Array blocks;
    for (const auto& [index, part] : parts_) {
      if (part.type == "text" && !part.text.empty()) {
        blocks.push_back(Value::object({{"type", "text"}, {"text", part.text}}));
      } else if (part.type == "tool_use") {
        blocks.push_back(
            Value::object({{"type", "tool_use"}, {"id", part.id}, {"name", part.name}, {"input", input_from(part)}}));
      }
    }
    return blocks;
  }

 private:
  template <class Act>
  static void each(const Value& list, Act act) {
    if (!list.is_array()) return;
    for (const Value& item : list.items()) act(item);
  }
  static std::int64_t index_of(const Value& event) {
    return event["index"].is_integer() ? event["index"].as_integer() : 0;
  }
  std::int64_t next() const { return parts_.empty() ? 0 : parts_.rbegin()->first + 1; }

  void begin(std::int64_t index, const Value& block) {
    parts_[index] = {.type = block.string_at("type").value_or(""),
                     .id = block.string_at("id").value_or(""),
                     .name = block.string_at("name").value_or(""),
                     .text = block.string_at("text").value_or(""),
                     .input = block["input"]};
  }
  static void add_delta(BlockPart& part, const Value& delta) {
    const auto text = delta.string_at("text");
    if (part.type.empty() && text) part.type = "text";
    part.text += text ? *text : delta.string_at("partial_json").value_or("");
  }

  void add_item(const Value& item) {
    const std::string type = item.string_at("type").value_or("");
    if (type == "message") {
      each(item["content"], [&](const Value& part) {
        if (part.string_at("type") != "output_text") return;
        parts_[next()] = {.type = "text", .text = part.string_at("text").value_or("")};
      });
    } else if (const auto id = item.string_at("call_id")) {
      const std::string server = item.string_at("namespace").value_or("");
      const std::string name = item.string_at("name").value_or(type);
      // function_call, custom_tool_call, local_shell_call
      std::string text = item.string_at("arguments").value_or(item.string_at("input").value_or(""));
      parts_[next()] = {.type = "tool_use",
                        .id = *id,
                        .name = server.empty() ? name : server + "__" + name,
                        .text = std::move(text),
                        .input = item["action"]};
    }
  }

  // A message, or a piece of one: its text is the first part, its calls follow by their index.
  void add_chat(const Value& message) {
    if (const auto text = message.string_at("content")) {
      parts_[-1].type = "text";
      parts_[-1].text += *text;
    }
    std::int64_t position = 0;
    each(message["tool_calls"], [&](const Value& call) {
      BlockPart& part = parts_[call["index"].is_integer() ? call["index"].as_integer() : position];
      ++position;
      part.type = "tool_use";
      if (const auto id = call.string_at("id")) part.id = *id;
      part.name += call["function"].string_at("name").value_or("");
      part.text += call["function"].string_at("arguments").value_or("");
    });
  }

  Wire wire_;
  std::map<std::int64_t, BlockPart> parts_;
};

}  // namespace

ReplyBlocks reply_blocks(Wire wire, std::string_view reply) {
  BlockReader reader(wire);
  bool is_malformed = false;
  const auto object_in = [&](std::string_view json) {
    auto read = parse_json(json);
    const bool is_object = read && read->is_object();
    is_malformed = is_malformed || !is_object;
    return is_object ? std::move(*read) : Value::object();
  };
  reply = trimmed(reply);
  if (reply.starts_with('{')) {
    reader.whole(object_in(reply));
    return {reader.take(), is_malformed};
  }
  for (std::string_view line : lines_of(reply)) {
    if (!line.starts_with("data:")) continue;
    line = trimmed(line.substr(5));
    if (!line.empty() && line != "[DONE]") reader.event(object_in(line));
  }
  return {reader.take(), is_malformed};
}

}  // namespace sb::agent
