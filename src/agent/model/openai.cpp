#include "agent/model/openai.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/model/providers.hpp"
#include "agent/secrets/secret_value.hpp"

namespace sb::agent {

namespace {

class OpenAiModel final : public Model {
 public:
  OpenAiModel(const ModelSettings& settings, const Seams& seams, net::HttpClient& http)
      : settings_(settings), seams_(seams), http_(http) {}

  std::string name() const override { return fmt::format("{}/{}", settings_.provider->name, settings_.model); }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    auto key = secret_of(settings_.key, seams_);
    if (!key) return std::unexpected(ModelError{ModelError::Kind::kAuth, key.error()});
    const bool is_chat = settings_.api == "chat";
    ProviderCall call{http_,
                      seams_.clock,
                      openai_endpoint(base_url(settings_), is_chat ? "/chat/completions" : "/responses"),
                      *key,
                      key_headers(*settings_.provider, *key),
                      is_chat ? chat_body(settings_, request) : responses_body(settings_, request)};
    const auto reader = is_chat ? make_chat_reader(request.requester.turn) : make_responses_reader();
    return exchange(call, request, *reader, on_delta);
  }

 private:
  ModelSettings settings_;
  Seams seams_;
  net::HttpClient& http_;
};

}  // namespace

std::string arguments_text(const Value& input) {
  return input.is_string() ? input.as_string() : to_json(input);
}

std::string result_text(const Value& block) {
  const Value& content = block["content"];
  const std::string text = content.is_string() ? content.as_string() : to_json(content);
  return block["is_error"] == Value(true) ? "[error] " + text : text;
}

Usage openai_usage(const Value& usage, std::string_view input, std::string_view output) {
  const std::int64_t all = token_count(usage[input]);
  const std::int64_t cached = std::min(all, token_count(usage[std::string(input) + "_details"]["cached_tokens"]));
  return {.input = all - cached, .output = token_count(usage[output]), .cache_read = cached};
}

std::unique_ptr<Model> make_openai(const ModelSettings& settings, const Seams& seams, net::HttpClient& http) {
  return std::make_unique<OpenAiModel>(settings, seams, http);
}

}  // namespace sb::agent
