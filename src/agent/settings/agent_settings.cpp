#include "agent/settings/agent_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/http_client.hpp"

namespace sb::agent {
namespace {

using Kind = ModelProvider::Kind;

void check_name(const Reader& reader, const AgentSettings& settings, bool is_upstream) {
  if (!reader.value().is_string()) return;  // already reported
  const std::string& name = reader.value().as_string();
  const auto found = settings.models.find(name);
  if (found != settings.models.end()) {
    if (is_upstream && found->second.is_program()) {
      reader.fault(fmt::format("{} is an agent program; upstream needs a model", name), "Name a model here",
                   ErrorCode::kInvalid, "unknown_model");
    }
    return;
  }
  std::vector<std::string> known;
  for (const auto& [each, model] : settings.models) known.push_back(each);
  const std::string nearest = nearest_name(name, known);
  reader.fault(fmt::format("there is no model {} under models", quote_json(name.substr(0, sb::limits::kIdBytes))),
               nearest.empty() ? "Declare it there" : fmt::format("Did you mean {}?", nearest), ErrorCode::kInvalid,
               "unknown_model");
}

std::string example_models(const std::string& file) {
  return fmt::format(
      "Configure a model in {}, for example:\n\n"
      "models:\n"
      "  main: {{provider: anthropic, model: claude-sonnet-4-5, key: $ANTHROPIC_API_KEY}}\n"
      "roles: {{default: main}}\n\n"
      "The key itself stays in the variable. `signalbox config check` checks the file; "
      "docs/models.md has other providers",
      file.empty() ? "config.yaml" : file);
}

}  // namespace

bool ModelSettings::is_program() const {
  return provider != nullptr && provider->kind == Kind::kProgram;
}

bool ModelSettings::is_scripted() const {
  return provider != nullptr && provider->kind == Kind::kScript;
}

Result<const ModelSettings*> AgentSettings::model_for(std::string_view role, std::string_view tier) const {
  if (models.empty()) return fail(ErrorCode::kInvalid, "no model is configured", example_models(file));
  const auto named = [&](const std::map<std::string, std::string>& users, std::string_view key) {
    const auto user = users.find(std::string(key));
    const auto model = user == users.end() ? models.end() : models.find(user->second);
    return model == models.end() ? nullptr : &model->second;
  };
  if (const ModelSettings* model = role == "default" ? nullptr : named(roles, role)) return model;
  if (const ModelSettings* model = named(tiers, tier)) return model;
  if (const ModelSettings* model = named(roles, "default")) return model;
  if (models.size() == 1) return &models.begin()->second;
  return fail(
      ErrorCode::kInvalid, "several models are configured and none is the default",
      fmt::format("Add roles: {{default: {}}} to {}", models.begin()->first, file.empty() ? "config.yaml" : file));
}

void check_model_names(Fields& root, const AgentSettings& settings) {
  const auto each_member = [](const std::optional<Reader>& reader, const auto& act) {
    if (!reader || !reader->value().is_object()) return;
    for (const Value::Member& member : reader->value().members()) act(reader->at(member.value));
  };
  for (const std::string_view key : {"roles", "tiers"}) {
    each_member(root.get(key), [&](const Reader& name) { check_name(name, settings, false); });
  }
  each_member(root.get("models"), [&](const Reader& model) {
    if (const Value* upstream = model.value().find("upstream")) check_name(model.at(*upstream), settings, true);
  });
}

std::vector<std::string> warnings_about(const AgentSettings& settings) {
  std::vector<std::string> warnings;
  for (const auto& [name, model] : settings.models) {
    if (model.key.empty() || !model.url.starts_with("http://") || net::is_loopback(model.url)) continue;
    warnings.push_back(
        fmt::format("models/{}: its key is sent to {} without encryption, so others on the network can read it. Use "
                    "https, or a tunnel to 127.0.0.1",
                    name, model.url));
  }
  return warnings;
}

}  // namespace sb::agent
