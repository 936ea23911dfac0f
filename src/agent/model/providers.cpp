#include "agent/model/providers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/model/anthropic.hpp"
#include "agent/model/openai.hpp"

namespace sb::agent {
namespace {

using ProviderKind = ModelProvider::Kind;

constexpr std::array<std::string_view, 2> kAnthropicHeaders = {"anthropic-version", "anthropic-beta"};
constexpr std::array<std::string_view, 1> kOpenaiHeaders = {"openai-beta"};
constexpr std::array<std::string_view, 2> kOpenaiVariants = {"responses", "chat"};

constexpr std::array kProviders = {
    ModelProvider{.name = "anthropic",
                  .kind = ProviderKind::kHttp,
                  .url = "https://api.anthropic.com",
                  .key_header = "x-api-key",
                  .api = "anthropic",
                  .program_headers = kAnthropicHeaders,
                  .make = make_anthropic},
    ModelProvider{.name = "openai",
                  .kind = ProviderKind::kHttp,
                  .url = "https://api.openai.com/v1",
                  .key_header = "Authorization",
                  .key_prefix = "Bearer ",
                  .api = "openai",
                  .variants = kOpenaiVariants,
                  .program_headers = kOpenaiHeaders,
                  .make = make_openai},
    ModelProvider{.name = "command", .kind = ProviderKind::kProgram},
    ModelProvider{.name = "scripted", .kind = ProviderKind::kScript},
};

}  // namespace

std::span<const ModelProvider> model_providers() {
  return kProviders;
}

const ModelProvider* provider_named(std::string_view name, std::span<const ModelProvider> providers) {
  const auto found = std::ranges::find(providers, name, &ModelProvider::name);
  return found == providers.end() ? nullptr : &*found;
}

bool is_private_to_other(std::string_view block_type, std::string_view api) {
  const std::string_view owner = block_type.substr(0, block_type.find('_'));
  return owner != block_type && owner != api &&
         std::ranges::find(kProviders, owner, &ModelProvider::api) != kProviders.end();
}

std::string_view base_url(const ModelSettings& settings) {
  return settings.url.empty() ? settings.provider->url : std::string_view(settings.url);
}

std::vector<std::pair<std::string, std::string>> key_headers(const ModelProvider& provider, std::string_view key) {
  if (key.empty()) return {};
  return {{std::string(provider.key_header), fmt::format("{}{}", provider.key_prefix, key)}};
}

}  // namespace sb::agent
