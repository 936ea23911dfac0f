#include "agent/settings/agent_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/limits.hpp"
#include "agent/settings/setting_values.hpp"
#include "decision/lint/lint.hpp"

namespace sb::agent {
namespace {

using Kind = ModelProvider::Kind;
using Providers = std::span<const ModelProvider>;

constexpr std::array<std::string_view, 6> kRoles = {"default",     "worker",    "challenger",
                                                    "adversarial", "evaluator", "reviewer"};
constexpr std::array<std::string_view, 3> kTiers = {"lightweight", "mid", "heavy"};
constexpr double kMicroCentsOfDollar = 1e8;
constexpr double kLeastDollars = 1e-6;
constexpr std::int64_t kDayMs = 86'400'000;

bool is_model_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= sb::limits::kIdBytes && std::ranges::all_of(name, fits);
}

void refuse_key(const Reader& reader, const ModelKey& row, const ModelProvider& provider, Providers providers) {
  std::vector<std::string_view> owners;
  for (const ModelProvider& each : providers) {
    if (row.is_of(each)) owners.push_back(each.name);
  }
  reader.fault(
      fmt::format("{} is a key of the provider {}, not of {}", row.key.name, fmt::join(owners, ", "), provider.name),
      "Remove it", ErrorCode::kInvalid, "unknown_key");
}

// Checks that need two keys. provider_schema() has the same rules.
void check_together(Fields& fields, const ModelProvider& provider) {
  switch (provider.kind) {
    case Kind::kHttp:
      if (!fields.has("url") && !fields.has("key")) fields.get("key", Need::kRequired);
      break;
    case Kind::kProgram:
      if (fields.has("recipe") != fields.has("command")) break;
      fields.self().fault("an agent program needs either recipe or command",
                          "Write recipe: claude-code, recipe: codex, or command: [program, argument, ...]",
                          ErrorCode::kInvalid, "recipe_or_command");
      break;
    case Kind::kScript:
      break;
  }
}

void read_model(const Reader& reader, const std::string& name, const SettingSource& source, Providers providers,
                AgentSettings& settings) {
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  ModelSettings model;
  model.name = name;
  std::vector<std::pair<std::string_view, const ModelProvider*>> names;
  for (const ModelProvider& each : providers) names.emplace_back(each.name, &each);
  const auto provider = fields.choice<const ModelProvider*>("provider", names, Need::kRequired);
  if (!provider) return;  // without it, no other key can be checked
  model.provider = *provider;
  if (!model.provider->variants.empty()) model.api = model.provider->variants.front();
  check_together(fields, *model.provider);
  for (const ModelKey& row : model_keys()) {
    const auto value = fields.get(row.key.name, row.is_required(*model.provider) ? Need::kRequired : Need::kOptional);
    if (!value) continue;
    if (row.is_of(*model.provider)) {
      row.key.read(*value, source, model);
    } else {
      refuse_key(*value, row, *model.provider, providers);
    }
  }
  fields.finish();
  settings.models[name] = std::move(model);
}

void read_models(const Reader& models, const SettingSource& source, Providers providers, AgentSettings& settings) {
  models.fields();  // reports a fault if it is not an object
  if (!models.value().is_object()) return;
  if (models.value().size() > limits::kModels) {
    models.fault(fmt::format("there are {} models; at most {} are allowed", models.value().size(), limits::kModels),
                 "Remove unused ones", ErrorCode::kLimit, "too_many");
    return;
  }
  for (const Value::Member& member : models.value().members()) {
    const Reader model = models.at(member.value);
    if (!is_model_name(member.name)) {
      model.fault("a model's name may only contain lowercase letters, digits and .-_, at most 64", "Rename it",
                  ErrorCode::kInvalid, "bad_name");
      continue;
    }
    read_model(model, member.name, source, providers, settings);
  }
}

Value either_of(const char* first, const char* second) {
  const auto one = [](const char* name) {
    return Value::object({{"required", Value::array(std::vector<std::string>{name})}});
  };
  return Value(Value::Array{one(first), one(second)});
}

Value provider_schema(const ModelProvider& provider) {
  SettingKeys<ModelSettings> keys = keys_of(provider);
  keys.insert(keys.begin(),
              required(SettingKey<ModelSettings>{
                  .name = "provider", .help = "", .schema = Value::object({{"const", provider.name}}), .read = {}}));
  Value schema = object_schema(keys);
  if (provider.kind == Kind::kHttp) schema.set("anyOf", either_of("key", "url"));
  if (provider.kind == Kind::kProgram) schema.set("oneOf", either_of("recipe", "command"));
  return schema;
}

SettingKey<AgentSettings> models_key(Providers providers) {
  Value each = Value::array();
  for (const ModelProvider& provider : providers) each.push_back(provider_schema(provider));
  return {.name = "models",
          .help = "Models and agent programs, by a name of your choice",
          .schema = Value::object({{"type", "object"},
                                   {"maxProperties", limits::kModels},
                                   {"propertyNames", Value::object({{"pattern", "^[a-z0-9._-]{1,64}$"}})},
                                   {"additionalProperties", Value::object({{"oneOf", std::move(each)}})}}),
          .read = [=](const Reader& reader, const SettingSource& source,
                      AgentSettings& settings) { read_models(reader, source, providers, settings); },
          .write =
              [](const AgentSettings& settings, Value& object) {
                Value models = Value::object();
                for (const auto& [name, model] : settings.models) {
                  // Null: an unknown provider was restored.
                  if (model.provider == nullptr) continue;
                  Value named = Value::object({{"provider", model.provider->name}});
                  models.set(name, stored(keys_of(*model.provider), model, std::move(named)));
                }
                object.set("models", std::move(models));
              },
          .restore =
              [=](const Value& object, AgentSettings& settings) {
                if (!object["models"].is_object()) return;
                for (const Value::Member& member : object["models"].members()) {
                  ModelSettings model;
                  model.name = member.name;
                  model.provider = provider_named(stored_text(member.value, "provider"), providers);
                  if (model.provider != nullptr) restore(keys_of(*model.provider), member.value, model);
                  settings.models[member.name] = std::move(model);
                }
              }};
}

// Which model each user (a role or a tier) gets: an object with known names.
SettingKey<AgentSettings> users_key(std::string_view name, std::map<std::string, std::string> AgentSettings::* member,
                                    std::span<const std::string_view> known, std::string_view help) {
  Value properties = Value::object();
  for (const std::string_view user : known) properties.set(user, text_schema(sb::limits::kTextBytes));
  return {.name = name,
          .help = help,
          .schema = Value::object(
              {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}}),
          .read =
              [=](const Reader& reader, const SettingSource&, AgentSettings& settings) {
                Fields fields = reader.fields();
                for (const std::string_view user : known) {
                  if (auto model = fields.string(user)) (settings.*member)[std::string(user)] = std::move(*model);
                }
                fields.finish();
              },
          .write =
              [=](const AgentSettings& settings, Value& object) {
                Value users = Value::object();
                for (const auto& [user, model] : settings.*member) users.set(user, model);
                object.set(name, std::move(users));
              },
          .restore =
              [=](const Value& object, AgentSettings& settings) {
                if (!object[name].is_object()) return;
                for (const Value::Member& user : object[name].members()) {
                  (settings.*member)[user.name] = stored_text(object[name], user.name);
                }
              }};
}

SettingKey<WorkLimits> cost_key() {
  const auto read = [](const Reader& reader, const SettingSource&, WorkLimits& limits) {
    const auto number = read_dollars(reader);
    if (number && *number < kLeastDollars) {
      reader.fault("a limit of 0 would stop every agent",
                   "Write how many dollars a run may cost, or leave cost out for no limit", ErrorCode::kInvalid,
                   "out_of_range");
    }
    limits.micro_cents = std::llround(number.value_or(0) * kMicroCentsOfDollar);
  };
  return {.name = "cost",
          .help = "In dollars; no limit if omitted",
          .schema = dollars_schema(kLeastDollars),
          .read = read,
          .write = [](const WorkLimits& limits, Value& stored) { stored.set("micro_cents", limits.micro_cents); },
          .restore = [](const Value& stored,
                        WorkLimits& limits) { limits.micro_cents = stored_integer(stored, "micro_cents"); }};
}

SettingKeys<WorkLimits> limit_keys() {
  using L = WorkLimits;
  return {integer_key("turns", &L::turns, 1, 100'000, ""),
          duration_key("time", "time_ms", &L::time_ms, 1'000, 7 * kDayMs, "Such as 90s, 10m or 1h30m"),
          duration_key("stall", "stall_ms", &L::stall_ms, 1'000, kDayMs, "Longest time without activity, such as 2m"),
          integer_key("tokens", &L::tokens, 1, 1'000'000'000'000, ""),
          cost_key(),
          integer_key("depth", &L::depth, 0, sb::limits::kChildDepth, "How deep sessions may start other sessions"),
          integer_key("repeats", &L::repeats, 2, 1'000, "How often the same call may be made in a row")};
}

// Read by the hook and the linter too (inbox/config.hpp), from the user's file only.
SettingKey<AgentSettings> block_offers_key() {
  const auto known = decision::offer_languages();
  return {.name = "block_offers",
          .help = "Languages besides English and Russian in which an offer in prose blocks, not only advises",
          .schema = list_schema(choice_schema({known.begin(), known.end()}), known.size()),
          .read = [](const Reader& reader, const SettingSource&,
                     AgentSettings& settings) { settings.block_offers = decision::read_offer_languages(reader); },
          .write =
              [](const AgentSettings& settings, Value& stored) {
                if (!settings.block_offers.empty()) stored.set("block_offers", Value::array(settings.block_offers));
              },
          .restore = [](const Value& stored,
                        AgentSettings& settings) { settings.block_offers = stored_texts(stored, "block_offers"); }};
}

}  // namespace

SettingKeys<AgentSettings> make_agent_keys(std::span<const ModelProvider> providers) {
  return {models_key(providers),
          users_key("roles", &AgentSettings::roles, kRoles, "Which model each role uses; default is for all others"),
          users_key("tiers", &AgentSettings::tiers, kTiers, "Which model steps of a tier use"),
          key_of(&AgentSettings::limits,
                 group_key("limits", limit_keys(), "tokens and cost limit a run, the others limit each agent session")),
          block_offers_key()};
}

}  // namespace sb::agent
