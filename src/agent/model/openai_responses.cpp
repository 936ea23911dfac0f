#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/model/openai.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

using Kind = ModelError::Kind;

// Reasoning models. Asking other models for their reasoning is an error.
bool is_reasoning(std::string_view model) {
  const bool is_o = model.size() > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
  return is_o || model.starts_with("gpt-5") || model.starts_with("codex");
}

void add_items(const Message& message, Value::Array& items) {
  const bool is_user = message.from == Message::From::kUser;
  for (const Value& block : message.content) {
    const std::string type = block.string_at("type").value_or("");
    if (type == "text" && !is_blank(block.string_at("text").value_or(""))) {
      Value part = Value::object({{"type", is_user ? "input_text" : "output_text"}, {"text", block["text"]}});
      items.push_back(Value::object({{"type", "message"},
                                     {"role", is_user ? "user" : "assistant"},
                                     {"content", Value(Value::Array{std::move(part)})}}));
    } else if (type == "tool_use") {
      items.push_back(Value::object({{"type", "function_call"},
                                     {"call_id", block["id"]},
                                     {"name", block["name"]},
                                     {"arguments", arguments_text(block["input"])}}));
    } else if (type == "tool_result") {
      items.push_back(Value::object(
          {{"type", "function_call_output"}, {"call_id", block["tool_use_id"]}, {"output", result_text(block)}}));
    } else if (type == "openai_reasoning") {
      items.push_back(block["item"]);
    }
  }
}

class ResponsesReader final : public ReplyReader {
 public:
  std::optional<ModelError> take(const std::string& name, const Value& event, std::string& delta) override {
    const std::string type = event.string_at("type").value_or(name);
    if (const auto text = event.string_at("delta")) {
      if (type == "response.output_text.delta" || type == "response.refusal.delta") delta = *text;
      return room_.take(text->size());
    }
    if (type == "response.output_item.done") return item_done(event);
    if (type == "response.completed" || type == "response.incomplete") return ended(event["response"]);
    if (type == "response.failed") {
      reply_.usage = openai_usage(event["response"]["usage"], "input_tokens", "output_tokens");
      return error_in_stream(event["response"]["error"]);
    }
    if (type == "error") return error_in_stream(event.find("error") ? event["error"] : event);
    return std::nullopt;
  }

  bool is_whole() const override { return is_over_; }
  Usage usage() const override { return reply_.usage; }

  ModelResult finish() override {
    for (const auto& [index, item] : items_) {
      if (auto error = add(item)) return std::unexpected(*error);
    }
    auto checked = blocks_from(reply_.content);
    if (!checked) return model_error(Kind::kMalformed, std::move(checked.error().message));
    return std::move(reply_);
  }

 private:
  std::optional<ModelError> item_done(const Value& event) {
    const Value& index = event["output_index"];
    const Value& item = event["item"];
    if (!item.is_object())
      return model_error(Kind::kMalformed, "An item of the model's reply is not an object").error();
    items_.insert_or_assign(index.is_integer() ? index.as_integer() : static_cast<std::int64_t>(items_.size()), item);
    return items_room_.take(64 + to_json(item).size());
  }

  std::optional<ModelError> ended(const Value& response) {
    if (!response.is_object())
      return model_error(Kind::kMalformed, "The last event of the model's reply has no response").error();
    is_over_ = true;
    reply_.model = response.string_at("model").value_or("");
    reply_.usage = openai_usage(response["usage"], "input_tokens", "output_tokens");
    const std::string why = response["incomplete_details"].string_at("reason").value_or("");
    if (why == "max_output_tokens") reply_.stop = StopReason::kMaxTokens;
    if (why == "content_filter") reply_.stop = StopReason::kRefusal;
    const Value& output = response["output"];
    if (!items_.empty() || output.is_null()) return std::nullopt;
    if (!output.is_array())
      return model_error(Kind::kMalformed, "The output of the model's reply is not a list").error();
    // Servers that do not send items one by one send them here.
    for (std::size_t i = 0; i < output.items().size(); ++i) items_.emplace(i, output.items()[i]);
    return items_room_.take(to_json(output).size());
  }

  std::optional<ModelError> add(const Value& item) {
    const std::string type = item.string_at("type").value_or("");
    if (type == "message") return add_message(item["content"]);
    if (type == "function_call") {
      const std::string id = item.string_at("call_id").value_or(item.string_at("id").value_or(""));
      reply_.content.push_back(
          tool_use_block(id, item.string_at("name").value_or(""), arguments_text(item["arguments"])));
      if (reply_.stop == StopReason::kEndTurn) reply_.stop = StopReason::kToolUse;
    } else if (type == "reasoning" && item.string_at("encrypted_content")) {
      // Only encrypted reasoning can be sent back, because nothing is stored at the provider.
      reply_.content.push_back(Value::object({{"type", "openai_reasoning"}, {"item", item}}));
    }
    return std::nullopt;
  }

  std::optional<ModelError> add_message(const Value& content) {
    if (!content.is_array()) return model_error(Kind::kMalformed, "The content of a message is not a list").error();
    for (const Value& part : content.items()) {
      const auto refusal = part.string_at("refusal");
      const auto text = refusal ? refusal : part.string_at("text");
      if (!text) continue;
      if (refusal) reply_.stop = StopReason::kRefusal;
      reply_.content.push_back(Value::object({{"type", "text"}, {"text", *text}}));
    }
    return std::nullopt;
  }

  std::map<std::int64_t, Value> items_;
  ModelReply reply_;
  ReplySizeLimit room_, items_room_;  // streamed parts are sent again as complete items
  bool is_over_ = false;
};

}  // namespace

Value responses_body(const ModelSettings& settings, const ModelRequest& request) {
  Value body = Value::object(
      {{"model", settings.model}, {"stream", true}, {"store", false}, {"max_output_tokens", request.max_tokens}});
  if (request.temperature) body.set("temperature", *request.temperature);
  if (!request.system.empty()) body.set("instructions", fmt::format("{}", fmt::join(request.system, "\n\n")));
  if (is_reasoning(settings.model)) body.set("include", Value::array({"reasoning.encrypted_content"}));
  Value::Array items;
  for (const Message& message : request.messages) add_items(message, items);
  body.set("input", std::move(items));
  Value::Array tools;
  for (const ToolDeclaration& tool : request.tools) {
    tools.push_back(Value::object({{"type", "function"},
                                   {"name", tool.name},
                                   {"description", tool.description},
                                   {"parameters", tool.input_schema},
                                   {"strict", false}}));
  }
  if (!tools.empty()) body.set("tools", std::move(tools));
  return body;
}

std::unique_ptr<ReplyReader> make_responses_reader() {
  return std::make_unique<ResponsesReader>();
}

}  // namespace sb::agent
