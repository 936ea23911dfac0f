#include "agent/model/anthropic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/model/providers.hpp"
#include "agent/secrets/secret_value.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

constexpr std::string_view kVersion = "2023-06-01";

void mark_for_cache(Value& block) {
  block.set("cache_control", Value::object({{"type", "ephemeral"}}));
}

// The block as the API accepts it; nothing for what it rejects: empty texts, and blocks of other providers.
std::optional<Value> block_to_send(const Value& block) {
  const std::string type = block.string_at("type").value_or("");
  if (type.empty() || is_private_to_other(type, "anthropic")) return std::nullopt;
  if (type == "text" && is_blank(block.string_at("text").value_or(""))) return std::nullopt;
  Value sent = block;
  if (type == "tool_use" && !block["input"].is_object()) sent.set("input", Value::object());
  return sent;
}

Value::Array messages_to_send(const ModelRequest& request) {
  Value::Array messages;
  for (const Message& message : request.messages) {
    Value::Array content;
    for (const Value& block : message.content) {
      if (auto sent = block_to_send(block)) content.push_back(std::move(*sent));
    }
    if (content.empty()) continue;
    messages.push_back(Value::object(
        {{"role", message.from == Message::From::kUser ? "user" : "assistant"}, {"content", std::move(content)}}));
  }
  return messages;
}

class AnthropicModel final : public Model {
 public:
  AnthropicModel(const ModelSettings& settings, const Seams& seams, net::HttpClient& http)
      : settings_(settings), seams_(seams), http_(http) {}

  std::string name() const override { return fmt::format("{}/{}", settings_.provider->name, settings_.model); }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    auto key = secret_of(settings_.key, seams_);
    if (!key) return std::unexpected(ModelError{ModelError::Kind::kAuth, key.error()});
    ProviderCall call{http_,
                      seams_.clock,
                      anthropic_endpoint(base_url(settings_)),
                      *key,
                      key_headers(*settings_.provider, *key),
                      anthropic_body(settings_, request)};
    call.headers.emplace_back("anthropic-version", kVersion);
    const auto reader = make_anthropic_reader();
    return exchange(call, request, *reader, on_delta);
  }

 private:
  ModelSettings settings_;
  Seams seams_;
  net::HttpClient& http_;
};

}  // namespace

Value anthropic_body(const ModelSettings& settings, const ModelRequest& request) {
  Value body = Value::object({{"model", settings.model}, {"max_tokens", request.max_tokens}, {"stream", true}});
  if (request.temperature) body.set("temperature", *request.temperature);

  Value::Array system;
  for (const std::string& slot : request.system) {
    if (!is_blank(slot)) system.push_back(Value::object({{"type", "text"}, {"text", slot}}));
  }
  for (std::size_t i = system.size() - std::min<std::size_t>(2, system.size()); i < system.size(); ++i) {
    mark_for_cache(system[i]);
  }
  if (!system.empty()) body.set("system", std::move(system));

  Value::Array tools;
  for (const ToolDeclaration& tool : request.tools) {
    tools.push_back(
        Value::object({{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.input_schema}}));
  }
  if (!tools.empty()) {
    mark_for_cache(tools.back());
    body.set("tools", std::move(tools));
  }

  Value::Array messages = messages_to_send(request);
  const auto newest = std::ranges::find_if(messages.rbegin(), messages.rend(),
                                           [](const Value& message) { return message["role"] == Value("user"); });
  if (newest != messages.rend()) mark_for_cache(newest->find("content")->items().back());
  body.set("messages", std::move(messages));
  return body;
}

std::unique_ptr<Model> make_anthropic(const ModelSettings& settings, const Seams& seams, net::HttpClient& http) {
  return std::make_unique<AnthropicModel>(settings, seams, http);
}

}  // namespace sb::agent
