#include "agent/model/providers.hpp"

#include <algorithm>

#include "agent/model/anthropic.hpp"
#include "agent/model/openai.hpp"
#include "agent/model/provider_testing.hpp"
#include "agent/settings/agent_keys.hpp"

namespace sb::agent {
namespace {

// Records requests and answers nothing, so that no request of these tests leaves the process.
class NotingClient final : public net::HttpClient {
 public:
  net::HttpResult send(const net::ClientRequest& request) override {
    sent.push_back(request);
    return net::ClientResponse{.status = 400, .headers = {}, .body = R"({"error": {"message": "no"}})"};
  }
  std::vector<net::ClientRequest> sent;
};

std::string header_of(const net::ClientRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.headers, name, &std::pair<std::string, std::string>::first);
  return found == request.headers.end() ? "" : found->second;
}

// The providers of the program and two more, each of which is one row.
class AddedProviders : public testing::Test {
 protected:
  AddedProviders() : rows(model_providers().begin(), model_providers().end()) {
    rows.push_back({.name = "acme",
                    .kind = ModelProvider::Kind::kHttp,
                    .url = "https://models.acme.example",
                    .key_header = "acme-key",
                    .api = "anthropic",
                    .make = make_anthropic});
    rows.push_back({.name = "umbrella",
                    .kind = ModelProvider::Kind::kHttp,
                    .url = "https://umbrella.example/v1",
                    .key_header = "X-Umbrella",
                    .key_prefix = "Token ",
                    .api = "openai",
                    .variants = kUmbrellaVariants,
                    .make = make_openai});
    keys = make_agent_keys(rows);
  }

  std::string read(const std::string& yaml) {
    const Document document = *parse_document("config.yaml", yaml);
    Faults faults;
    Fields root = Reader(document, faults).fields();
    read_keys(root, keys, {"/h"}, settings);
    root.finish();
    std::string text;
    for (const Error& fault : faults) text += fault.to_string() + "\n";
    return text;
  }
  net::ClientRequest sent_by(const std::string& name) {
    NotingClient client;
    const ModelSettings& model = settings.models.at(name);
    const auto made = make_model(model, {at.seams(), client, *at.store, "run-1", {}, {.tries = 1}});
    EXPECT_TRUE(made);
    EXPECT_FALSE((*made)->reply(plain_request(), {}));
    EXPECT_EQ(client.sent.size(), 1u);
    return client.sent.empty() ? net::ClientRequest{} : client.sent.front();
  }

  static constexpr std::string_view kUmbrellaVariants[] = {"chat"};
  std::vector<ModelProvider> rows;
  SettingKeys<AgentSettings> keys;
  AgentSettings settings;
  ProviderFixture at;
};

TEST_F(AddedProviders, GoToTheirOwnAddressWithTheirOwnKeyHeader) {
  ASSERT_EQ(read("models:\n"
                 "  a: {provider: acme, model: m, key: $MODEL_KEY}\n"
                 "  u: {provider: umbrella, model: m, key: $MODEL_KEY}\n"),
            "");
  const net::ClientRequest acme = sent_by("a");
  EXPECT_EQ(acme.url, "https://models.acme.example/v1/messages");
  EXPECT_EQ(header_of(acme, "acme-key"), kTestKey);
  const net::ClientRequest umbrella = sent_by("u");
  EXPECT_EQ(umbrella.url, "https://umbrella.example/v1/chat/completions");
  EXPECT_EQ(header_of(umbrella, "X-Umbrella"), std::string("Token ") + kTestKey);
  for (const net::ClientRequest& request : {acme, umbrella}) {
    EXPECT_EQ(header_of(request, "x-api-key") + header_of(request, "Authorization"), "");
    const auto with_key =
        std::ranges::count_if(request.headers, [](const auto& header) { return header.second.contains(kTestKey); });
    EXPECT_EQ(with_key, 1);
  }
}

TEST_F(AddedProviders, AreKnownToTheSettings) {
  EXPECT_TRUE(read("models: {a: {provider: acmee, model: m}}\n").contains("Did you mean acme?"));
  EXPECT_TRUE(read("models: {a: {provider: acme, model: m}}\n").contains("\"key\" is missing"));
  EXPECT_TRUE(read("models: {a: {provider: acme, model: m, key: $K, api: chat}}\n")
                  .contains("api is a key of the provider openai, umbrella, not of acme"));
  EXPECT_TRUE(read("models: {a: {provider: umbrella, model: m, key: $K, api: responses}}\n").contains("/models/a/api"));
  ASSERT_EQ(read("models: {u: {provider: umbrella, model: m, key: $K}}\n"), "");
  const Value value = stored(keys, settings);
  EXPECT_EQ(value["models"]["u"].string_at("provider"), "umbrella");
  EXPECT_EQ(value["models"]["u"].string_at("api"), "chat");
  AgentSettings again;
  restore(keys, value, again);
  EXPECT_EQ(again.models.at("u").provider, &rows.back());
  EXPECT_EQ(stored(keys, again), value);
}

TEST(ModelProviders, EachHasWhatItsKindNeeds) {
  for (const ModelProvider& provider : model_providers()) {
    const bool is_http = provider.kind == ModelProvider::Kind::kHttp;
    EXPECT_EQ(!provider.url.empty(), is_http) << provider.name;
    EXPECT_EQ(!provider.key_header.empty(), is_http) << provider.name;
    EXPECT_EQ(!provider.api.empty(), is_http) << provider.name;
    EXPECT_EQ(provider.make != nullptr, is_http) << provider.name;
    EXPECT_EQ(provider_named(provider.name), &provider);
  }
  EXPECT_EQ(provider_named("gemini"), nullptr);
  EXPECT_TRUE(is_private_to_other("openai_reasoning", "anthropic"));
  for (const char* type : {"anthropic_note", "redacted_thinking", "tool_use", "openai", "text"}) {
    EXPECT_FALSE(is_private_to_other(type, "anthropic")) << type;
  }
}

}  // namespace
}  // namespace sb::agent
