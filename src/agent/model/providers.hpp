// The model providers, one row each. To add one, add a row to providers.cpp; if its API is a new one, also add a file
// next to anthropic.cpp that makes its models.
//
// Everything that depends on the provider comes from its row: its name in the settings, the keys its models have there,
// where requests go, how the key is sent, and what the model proxy forwards.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb {
struct Seams;
namespace net {
class HttpClient;
}
}  // namespace sb

namespace sb::agent {

class Model;
struct ModelSettings;

struct ModelProvider {
  enum class Kind {
    kHttp,     // a server that receives each request
    kProgram,  // an agent program that brings its own loop
    kScript,   // a file of replies
  };
  std::string_view name;
  Kind kind;

  // Of kHttp.
  std::string_view url = {};         // where requests go if the settings have no `url`
  std::string_view key_header = {};  // the header the key is sent in
  std::string_view key_prefix = {};  // what precedes the key there
  // The API that agent programs use for it, as data/recipes.yaml and api_of() in programs/proxy_wire.hpp name it.
  std::string_view api = {};
  std::span<const std::string_view> variants = {};  // allowed values of a model's `api:`; the first is the default
  std::span<const std::string_view> program_headers = {};  // headers of a program that the proxy forwards
  std::unique_ptr<Model> (*make)(const ModelSettings& settings, const Seams& seams, net::HttpClient& http) = nullptr;
};

std::span<const ModelProvider> model_providers();
// Null if none has that name.
const ModelProvider* provider_named(std::string_view name,
                                    std::span<const ModelProvider> providers = model_providers());

// Whether a content block is private to an API other than `api`: its type is that API's name, _ and a word, as in
// `openai_reasoning`. Conversations keep such blocks; only the API they came from takes them back.
bool is_private_to_other(std::string_view block_type, std::string_view api);

// Of a model whose provider is kHttp.
std::string_view base_url(const ModelSettings& settings);
// The header with the key; nothing for an empty key.
std::vector<std::pair<std::string, std::string>> key_headers(const ModelProvider& provider, std::string_view key);

}  // namespace sb::agent
