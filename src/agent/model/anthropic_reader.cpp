// Reads the events of the Messages API into a reply: message_start, content_block_start, _delta and _stop,
// message_delta, message_stop, ping, error. Unknown events are ignored.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/limits.hpp"
#include "agent/model/anthropic.hpp"

namespace sb::agent {

namespace {

constexpr std::size_t kBlockBytes = 64;  // the least that a block counts for

std::optional<ModelError> malformed(std::string message) {
  return model_error(ModelError::Kind::kMalformed, std::move(message)).error();
}

// A block under construction: its start, and the text that deltas add to each member.
struct OpenBlock {
  Value start;
  std::map<std::string, std::string, std::less<>> texts;  // text, thinking, signature
  std::string input;                                      // partial_json
};

class AnthropicReader final : public ReplyReader {
 public:
  std::optional<ModelError> take(const std::string& name, const Value& event, std::string& delta) override {
    const std::string type = event.string_at("type").value_or(name);
    if (type == "message_start") return started(event["message"]);
    if (type == "content_block_start") return block_started(event);
    if (type == "content_block_delta") return block_grew(event, delta);
    if (type == "message_delta") return take_end(event);
    if (type == "message_stop") is_over_ = has_started_;
    if (type == "error") return error_in_stream(event["error"]);
    return std::nullopt;
  }

  bool is_whole() const override { return is_over_; }
  Usage usage() const override { return usage_; }

  ModelResult finish() override {
    ModelReply reply;
    for (auto& [index, block] : blocks_) reply.content.push_back(closed(block));
    auto checked = blocks_from(reply.content);
    if (!checked) return model_error(ModelError::Kind::kMalformed, std::move(checked.error().message));
    reply.stop = stop_ == "model_context_window_exceeded" ? StopReason::kMaxTokens : stop_reason_named(stop_);
    reply.usage = usage_;
    reply.model = model_;
    return reply;
  }

 private:
  std::optional<ModelError> started(const Value& message) {
    if (has_started_) return malformed("The model's reply starts twice");
    if (!message.is_object()) return malformed("The model's reply does not start with a message");
    if (const Value* content = message.find("content"); content && !content->is_array()) {
      return malformed("The content of the model's reply is not a list");
    }
    has_started_ = true;
    model_ = message.string_at("model").value_or("");
    count(message["usage"]);
    return std::nullopt;
  }

  std::optional<ModelError> block_started(const Value& event) {
    const Value& index = event["index"];
    const Value& block = event["content_block"];
    if (!has_started_) return malformed("The model's reply has content before its start");
    if (!index.is_integer() || !block.is_object()) return malformed("The model's reply has an invalid content block");
    if (!blocks_.emplace(index.as_integer(), OpenBlock{block, {}, {}}).second) {
      return malformed(fmt::format("Content block {} of the model's reply starts twice", index.as_integer()));
    }
    return room_.take(kBlockBytes + to_json(block).size());
  }

  std::optional<ModelError> block_grew(const Value& event, std::string& delta) {
    const Value& index = event["index"];
    const auto block = index.is_integer() ? blocks_.find(index.as_integer()) : blocks_.end();
    if (block == blocks_.end()) return malformed("The model's reply continues a content block that was never started");
    const Value& change = event["delta"];
    if (const auto json = change.string_at("partial_json")) {
      block->second.input += *json;
      return room_.take(json->size());
    }
    for (const std::string_view member : {"text", "thinking", "signature"}) {
      const auto text = change.string_at(member);
      if (!text) continue;
      block->second.texts[std::string(member)] += *text;
      if (member == "text") delta += *text;
      if (auto error = room_.take(text->size())) return error;
    }
    return std::nullopt;
  }

  std::optional<ModelError> take_end(const Value& event) {
    stop_ = event["delta"].string_at("stop_reason").value_or(stop_);
    count(event["usage"]);
    return std::nullopt;
  }

  // Later counts replace earlier ones: each is for the whole message so far.
  void count(const Value& usage) {
    const auto take = [&](std::string_view name, std::int64_t& count) {
      if (usage[name].is_integer()) count = token_count(usage[name]);
    };
    take("input_tokens", usage_.input);
    take("output_tokens", usage_.output);
    take("cache_read_input_tokens", usage_.cache_read);
    take("cache_creation_input_tokens", usage_.cache_write);
  }

  static Value closed(OpenBlock& open) {
    Value block = std::move(open.start);
    const std::string type = block.string_at("type").value_or("");
    for (auto& [member, text] : open.texts) block.set(member, block.string_at(member).value_or("") + text);
    if (type == "tool_use" && (!open.input.empty() || !block["input"].is_object())) {
      block.set("input", *tool_use_block("", "", open.input).find("input"));
    }
    return block;
  }

  bool has_started_ = false, is_over_ = false;
  std::map<std::int64_t, OpenBlock> blocks_;
  std::string model_, stop_;
  Usage usage_;
  ReplySizeLimit room_;
};

}  // namespace

std::unique_ptr<ReplyReader> make_anthropic_reader() {
  return std::make_unique<AnthropicReader>();
}

}  // namespace sb::agent
