#include "agent/settings/agent_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/limits.hpp"
#include "agent/settings/setting_values.hpp"
#include "base/files.hpp"
#include "net/http_client.hpp"

namespace sb::agent {
namespace {

using Kind = ModelProvider::Kind;

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kRecipes{
    {{"claude-code", "claude-code"}, {"codex", "codex"}}};
constexpr std::array<std::string_view, 6> kRoles = {"default",     "worker",    "challenger",
                                                    "adversarial", "evaluator", "reviewer"};
constexpr std::array<std::string_view, 3> kTiers = {"lightweight", "mid", "heavy"};
constexpr double kMicroCentsOfDollar = 1e8;
constexpr double kMostDollars = 1e6, kLeastDollars = 1e-6;

// Which keys a model has that depends on its provider.
struct ProviderKey {
  std::string_view key;
  bool (*is_of)(const ModelProvider& provider);
};
bool is_http(const ModelProvider& provider) {
  return provider.kind == Kind::kHttp;
}
bool is_agent_program(const ModelProvider& provider) {
  return provider.kind == Kind::kProgram;
}
bool is_script(const ModelProvider& provider) {
  return provider.kind == Kind::kScript;
}
bool has_variants(const ModelProvider& provider) {
  return !provider.variants.empty();
}
constexpr std::array<ProviderKey, 7> kProviderKeys{{{"key", is_http},
                                                    {"url", is_http},
                                                    {"api", has_variants},
                                                    {"recipe", is_agent_program},
                                                    {"command", is_agent_program},
                                                    {"upstream", is_agent_program},
                                                    {"script", is_script}}};

bool is_model_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= sb::limits::kIdBytes && std::ranges::all_of(name, fits);
}

std::optional<double> bounded_number(const Reader& reader, double most) {
  const auto number = reader.number();
  if (!number) return std::nullopt;
  if (*number >= 0 && *number <= most) return number;
  reader.fault("the number is out of range", fmt::format("Write a number from 0 to {}", most), ErrorCode::kInvalid,
               "out_of_range");
  return std::nullopt;
}

void read_prices(Fields& fields, ModelSettings& model) {
  const auto prices = fields.get("prices");
  if (!prices) return;
  Fields each = prices->fields();
  const auto read = [&](std::string_view name, std::int64_t& price, Need need) {
    const auto reader = each.get(name, need);
    if (!reader) return;
    // A dollar for a million tokens is a hundred millionths of a cent for each.
    if (const auto dollars = bounded_number(*reader, kMostDollars)) price = std::llround(*dollars * 100);
  };
  read("input", model.input_price, Need::kRequired);
  read("output", model.output_price, Need::kRequired);
  model.cache_read_price = model.cache_write_price = model.input_price;
  read("cache_read", model.cache_read_price, Need::kOptional);
  read("cache_write", model.cache_write_price, Need::kOptional);
  each.finish();
  model.has_prices = true;
}

void read_hosted(Fields& fields, const std::string& directory, ModelSettings& model) {
  if (const auto url = fields.get("url")) model.url = read_url(*url);
  // A server of one's own may want no key.
  const auto key = fields.get("key", fields.has("url") ? Need::kOptional : Need::kRequired);
  if (key) model.key = read_secret_name(*key, directory);
  if (model.provider->variants.empty()) return;
  std::vector<std::pair<std::string_view, std::string_view>> variants;
  for (const std::string_view variant : model.provider->variants) variants.emplace_back(variant, variant);
  model.api = fields.choice<std::string_view>("api", variants).value_or(variants.front().first);
}

void read_command(Fields& fields, ModelSettings& model) {
  if (fields.has("recipe") == fields.has("command")) {
    fields.self().fault("an agent program is named by one of recipe and command",
                        "Write recipe: claude-code, recipe: codex, or command: [program, argument, ...]",
                        ErrorCode::kInvalid, "recipe_or_command");
  }
  if (const auto recipe = fields.choice<std::string_view>("recipe", kRecipes)) model.recipe = *recipe;
  if (const auto command = fields.get("command")) {
    model.command = command->strings();
    const bool is_list = command->value().is_array();
    if (is_list && (command->value().size() == 0 || (!model.command.empty() && model.command.front().empty()))) {
      command->fault("the command names no program", "Write command: [program, argument, ...]", ErrorCode::kInvalid,
                     "too_few");
    }
    if (std::ranges::any_of(model.command, [](const auto& word) { return word.contains("{mcp_token}"); })) {
      command->fault("everybody on the machine can read the words of a program, so the token cannot be one",
                     "Leave {mcp_token} out; the program finds it in the variable SIGNALBOX_PLACE_TOKEN",
                     ErrorCode::kInvalid, "literal_secret");
    }
  }
  if (auto upstream = fields.string("upstream")) model.upstream = std::move(*upstream);
}

void refuse_others(Fields& fields, const ModelSettings& model, std::span<const ModelProvider> providers) {
  for (const ProviderKey& key : kProviderKeys) {
    if (key.is_of(*model.provider)) continue;
    const auto reader = fields.get(key.key);
    if (!reader) continue;
    std::vector<std::string_view> owners;
    for (const ModelProvider& provider : providers) {
      if (key.is_of(provider)) owners.push_back(provider.name);
    }
    reader->fault(fmt::format("{} is a key of the provider {}, not of {}", key.key, fmt::join(owners, ", "),
                              model.provider->name),
                  "Leave it out", ErrorCode::kInvalid, "unknown_key");
  }
}

void read_model(const Reader& reader, const std::string& name, const std::string& directory, AgentSettings& settings) {
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  ModelSettings model;
  model.name = name;
  std::vector<std::pair<std::string_view, const ModelProvider*>> providers;
  for (const ModelProvider& each : settings.providers) providers.emplace_back(each.name, &each);
  const auto provider = fields.choice<const ModelProvider*>("provider", providers, Need::kRequired);
  if (!provider) return;  // whatever else is there cannot be judged
  model.provider = *provider;
  const Kind kind = model.provider->kind;
  if (const auto id = fields.get("model", kind == Kind::kHttp ? Need::kRequired : Need::kOptional)) {
    model.model = read_line(*id);
  }
  switch (kind) {
    case Kind::kHttp:
      read_hosted(fields, directory, model);
      break;
    case Kind::kProgram:
      read_command(fields, model);
      break;
    case Kind::kScript:
      if (const auto script = fields.get("script", Need::kRequired)) model.script = read_path(*script, directory);
      break;
  }
  refuse_others(fields, model, settings.providers);
  model.max_tokens = static_cast<int>(fields.integer("max_tokens", 1, 1'000'000).value_or(model.max_tokens));
  model.context_tokens =
      static_cast<int>(fields.integer("context_tokens", 1'000, 100'000'000).value_or(model.context_tokens));
  read_prices(fields, model);
  fields.finish();
  settings.models[name] = std::move(model);
}

void read_models(Fields& root, const std::string& directory, AgentSettings& settings) {
  const auto models = root.get("models");
  if (!models) return;
  models->fields();  // a fault where it is no map
  if (!models->value().is_object()) return;
  if (models->value().size() > limits::kModels) {
    models->fault(fmt::format("there are {} models; at most {} are allowed", models->value().size(), limits::kModels),
                  "Leave out those nobody uses", ErrorCode::kLimit, "too_many");
    return;
  }
  for (const Value::Member& member : models->value().members()) {
    const Reader model = models->at(member.value);
    if (!is_model_name(member.name)) {
      model.fault("a model's name has small letters, digits and .-_ only, at most 64", "Give it another name",
                  ErrorCode::kInvalid, "bad_name");
      continue;
    }
    read_model(model, member.name, directory, settings);
  }
}

template <std::size_t N>
void read_users(Fields& root, std::string_view key, const std::array<std::string_view, N>& known,
                std::map<std::string, std::string>& users) {
  const auto reader = root.get(key);
  if (!reader) return;
  Fields fields = reader->fields();
  for (const std::string_view name : known) {
    if (auto model = fields.string(name)) users[std::string(name)] = std::move(*model);
  }
  fields.finish();
}

void read_limits(Fields& root, WorkLimits& limits) {
  const auto reader = root.get("limits");
  if (!reader) return;
  Fields fields = reader->fields();
  constexpr std::int64_t kDayMs = 86'400'000;
  limits.turns = static_cast<int>(fields.integer("turns", 1, 100'000).value_or(limits.turns));
  if (const auto time = fields.get("time")) limits.time_ms = read_duration_ms(*time, 1'000, 7 * kDayMs).value_or(0);
  if (const auto stall = fields.get("stall")) limits.stall_ms = read_duration_ms(*stall, 1'000, kDayMs).value_or(0);
  limits.tokens = fields.integer("tokens", 1, 1'000'000'000'000).value_or(limits.tokens);
  if (const auto cost = fields.get("cost")) {
    const auto number = bounded_number(*cost, kMostDollars);
    if (number && *number < kLeastDollars) {
      cost->fault("a limit of nothing would let nobody work",
                  "Write how many dollars a run may cost, or leave cost out for no limit", ErrorCode::kInvalid,
                  "out_of_range");
    }
    limits.micro_cents = std::llround(number.value_or(0) * kMicroCentsOfDollar);
  }
  limits.depth = static_cast<int>(fields.integer("depth", 0, sb::limits::kChildDepth).value_or(limits.depth));
  limits.repeats = static_cast<int>(fields.integer("repeats", 2, 1'000).value_or(limits.repeats));
  fields.finish();
}

void check_name(const Reader& reader, const AgentSettings& settings, bool is_upstream) {
  if (!reader.value().is_string()) return;  // told already
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
      "Write who should work into {}, for example:\n\n"
      "models:\n"
      "  main: {{provider: anthropic, model: claude-sonnet-4-5, key: $ANTHROPIC_API_KEY}}\n"
      "roles: {{default: main}}\n\n"
      "The key itself stays in the variable. `signalbox config check` tells whether the file is right; "
      "docs/pipelines.md has other providers",
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

void read_agent_settings(Fields& root, const std::string& directory, AgentSettings& settings) {
  read_models(root, directory, settings);
  read_users(root, "roles", kRoles, settings.roles);
  read_users(root, "tiers", kTiers, settings.tiers);
  read_limits(root, settings.limits);
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
        fmt::format("models/{}: its key is sent to {} without encryption, and whoever is on the way can read it. Use "
                    "https, or a tunnel to 127.0.0.1",
                    name, model.url));
  }
  return warnings;
}

Value to_value(const AgentSettings& settings) {
  Value models = Value::object();
  for (const auto& [name, model] : settings.models) {
    Value one = Value::object({{"provider", model.provider == nullptr ? "" : model.provider->name}});
    const std::pair<std::string_view, const std::string*> texts[] = {
        {"model", &model.model},   {"key", &model.key},       {"url", &model.url},
        {"script", &model.script}, {"recipe", &model.recipe}, {"upstream", &model.upstream}};
    for (const auto& [key, text] : texts) {
      if (!text->empty()) one.set(key, *text);
    }
    if (!model.api.empty()) one.set("api", model.api);
    if (!model.command.empty()) one.set("command", Value::array(model.command));
    one.set("max_tokens", model.max_tokens);
    one.set("context_tokens", model.context_tokens);
    one.set("prices", Value(Value::Array{model.input_price, model.output_price, model.cache_read_price,
                                         model.cache_write_price}));
    models.set(name, std::move(one));
  }
  const auto map = [](const std::map<std::string, std::string>& users) {
    Value out = Value::object();
    for (const auto& [user, model] : users) out.set(user, model);
    return out;
  };
  const WorkLimits& limits = settings.limits;
  return Value::object({{"models", std::move(models)},
                        {"roles", map(settings.roles)},
                        {"tiers", map(settings.tiers)},
                        {"limits", Value::object({{"turns", limits.turns},
                                                  {"time_ms", limits.time_ms},
                                                  {"stall_ms", limits.stall_ms},
                                                  {"repeats", limits.repeats},
                                                  {"depth", limits.depth},
                                                  {"tokens", limits.tokens},
                                                  {"micro_cents", limits.micro_cents}})}});
}

}  // namespace sb::agent
