#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/model/openai.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

using Kind = ModelError::Kind;

Value spoken(std::string_view role, std::string text) {
  return Value::object({{"role", role}, {"content", std::move(text)}});
}

std::string joined_text(const Message& message) {
  std::string all;
  for (const Value& block : message.content) {
    if (block.string_at("type") != "text" || is_blank(block.string_at("text").value_or(""))) continue;
    if (!all.empty()) all += "\n\n";
    all += block.string_at("text").value_or("");
  }
  return all;
}

void add_user(const Message& message, Value::Array& messages) {
  // Results first: they must directly follow the calls.
  for (const Value& block : message.content) {
    if (block.string_at("type") != "tool_result") continue;
    Value result = spoken("tool", result_text(block));
    result.set("tool_call_id", block["tool_use_id"]);
    messages.push_back(std::move(result));
  }
  if (std::string text = joined_text(message); !is_blank(text)) messages.push_back(spoken("user", std::move(text)));
}

void add_assistant(const Message& message, Value::Array& messages) {
  Value::Array calls;
  for (const Value& block : message.content) {
    if (block.string_at("type") != "tool_use") continue;
    Value function = Value::object({{"name", block["name"]}, {"arguments", arguments_text(block["input"])}});
    calls.push_back(Value::object({{"id", block["id"]}, {"type", "function"}, {"function", std::move(function)}}));
  }
  std::string text = joined_text(message);
  if (calls.empty() && is_blank(text)) return;
  Value spoke = spoken("assistant", std::move(text));
  if (!calls.empty()) spoke.set("tool_calls", std::move(calls));
  messages.push_back(std::move(spoke));
}

class ChatReader final : public ReplyReader {
 public:
  explicit ChatReader(int turn) : turn_(turn) {}

  std::optional<ModelError> take(const std::string&, const Value& event, std::string& delta) override {
    if (const Value* error = event.find("error"); error && !error->is_null()) return error_in_stream(*error);
    const Value* choices = event.find("choices");
    if (!choices && !event.find("usage")) {
      return model_error(Kind::kMalformed, "An event of the model's reply has no choices").error();
    }
    if (const auto model = event.string_at("model")) reply_.model = *model;
    if (event["usage"].is_object()) reply_.usage = openai_usage(event["usage"], "prompt_tokens", "completion_tokens");
    if (!choices || choices->is_null()) return std::nullopt;
    if (!choices->is_array()) {
      return model_error(Kind::kMalformed, "The choices of the model's reply are not a list").error();
    }
    for (const Value& choice : choices->items()) {
      if (choice["index"].is_integer() && choice["index"].as_integer() != 0) continue;
      if (auto error = take_choice(choice, delta)) return error;
    }
    return std::nullopt;
  }

  void done() override { is_over_ |= has_begun_; }
  // Only the token count follows the finish reason, and some servers never send [DONE].
  bool is_whole() const override { return is_over_; }
  Usage usage() const override { return reply_.usage; }

  ModelResult finish() override {
    if (!text_.empty()) reply_.content.push_back(Value::object({{"type", "text"}, {"text", std::move(text_)}}));
    for (auto& [index, call] : calls_) {
      if (call.id.empty()) call.id = fmt::format("call_{}_{}", turn_, index);
      reply_.content.push_back(tool_use_block(std::move(call.id), std::move(call.name), call.arguments));
    }
    if (!calls_.empty() && reply_.stop == StopReason::kEndTurn) reply_.stop = StopReason::kToolUse;
    auto checked = blocks_from(reply_.content);
    if (!checked) return model_error(Kind::kMalformed, std::move(checked.error().message));
    return std::move(reply_);
  }

 private:
  struct OpenCall {
    std::string id, name, arguments;
  };

  std::optional<ModelError> take_choice(const Value& choice, std::string& delta) {
    has_begun_ = true;
    // Servers that do not stream put the whole message here.
    const Value& change = choice.find("delta") ? choice["delta"] : choice["message"];
    for (const std::string_view member : {"content", "refusal"}) {
      const auto text = change.string_at(member);
      if (!text || text->empty()) continue;
      if (member == "refusal") reply_.stop = StopReason::kRefusal;
      text_ += *text;
      delta += *text;
      if (auto error = room_.take(text->size())) return error;
    }
    if (const Value& calls = change["tool_calls"]; calls.is_array()) {
      for (std::size_t i = 0; i < calls.items().size(); ++i) {
        if (auto error = take_call(calls.items()[i], i)) return error;
      }
    }
    if (const auto why = choice.string_at("finish_reason")) {
      is_over_ = true;
      if (*why == "length") reply_.stop = StopReason::kMaxTokens;
      if (*why == "content_filter") reply_.stop = StopReason::kRefusal;
    }
    return std::nullopt;
  }

  std::optional<ModelError> take_call(const Value& piece, std::size_t position) {
    const Value& index = piece["index"];
    OpenCall& call = calls_[index.is_integer() ? index.as_integer() : static_cast<std::int64_t>(position)];
    const Value& function = piece["function"];
    const std::string arguments = function["arguments"].is_null() ? "" : arguments_text(function["arguments"]);
    if (call.id.empty()) call.id = piece.string_at("id").value_or("");
    if (call.name.empty()) call.name = function.string_at("name").value_or("");
    call.arguments += arguments;
    return room_.take(64 + arguments.size());
  }

  int turn_;
  ModelReply reply_;
  std::string text_;
  std::map<std::int64_t, OpenCall> calls_;
  ReplySizeLimit room_;
  bool has_begun_ = false, is_over_ = false;
};

}  // namespace

Value chat_body(const ModelSettings& settings, const ModelRequest& request) {
  Value body = Value::object(
      {{"model", settings.model}, {"stream", true}, {"stream_options", Value::object({{"include_usage", true}})}});
  // Older self-hosted servers reject the newer name, and OpenAI's newer models the older one.
  body.set(settings.url.empty() ? "max_completion_tokens" : "max_tokens", request.max_tokens);
  if (request.temperature) body.set("temperature", *request.temperature);
  Value::Array messages;
  if (!request.system.empty())
    messages.push_back(spoken("system", fmt::format("{}", fmt::join(request.system, "\n\n"))));
  for (const Message& message : request.messages) {
    message.from == Message::From::kUser ? add_user(message, messages) : add_assistant(message, messages);
  }
  body.set("messages", std::move(messages));
  Value::Array tools;
  for (const ToolDeclaration& tool : request.tools) {
    Value function =
        Value::object({{"name", tool.name}, {"description", tool.description}, {"parameters", tool.input_schema}});
    tools.push_back(Value::object({{"type", "function"}, {"function", std::move(function)}}));
  }
  if (!tools.empty()) body.set("tools", std::move(tools));
  return body;
}

std::unique_ptr<ReplyReader> make_chat_reader(int turn) {
  return std::make_unique<ChatReader>(turn);
}

}  // namespace sb::agent
