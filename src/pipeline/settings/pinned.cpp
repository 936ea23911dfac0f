// Settings read back from the value that a run keeps of them.
#include <fmt/format.h>

#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

std::string text(const Value& value, std::string_view name) {
  return value.string_at(name).value_or("");
}

std::int64_t number(const Value& value) {
  return value.is_integer() ? value.as_integer() : 0;
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> all;
  if (!list.is_array()) return all;
  for (const Value& item : list.items()) {
    if (item.is_string()) all.push_back(item.as_string());
  }
  return all;
}

template <class Take>
void each_member(const Value& object, const Take& take) {
  if (!object.is_object()) return;
  for (const Value::Member& member : object.members()) take(member.name, member.value);
}

template <class E, std::size_t N>
std::optional<E> meaning_of(const std::array<std::pair<std::string_view, E>, N>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &std::pair<std::string_view, E>::first);
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

agent::ModelSettings model_from(const std::string& name, const Value& value) {
  using Provider = agent::ModelSettings::Provider;
  static constexpr std::array<std::pair<std::string_view, Provider>, 4> kProviders{{{"anthropic", Provider::kAnthropic},
                                                                                    {"openai", Provider::kOpenai},
                                                                                    {"command", Provider::kCommand},
                                                                                    {"scripted", Provider::kScripted}}};
  agent::ModelSettings model;
  model.provider = meaning_of(kProviders, text(value, "provider")).value_or(Provider::kAnthropic);
  model.name = name;
  model.model = text(value, "model"), model.key = text(value, "key"), model.url = text(value, "url");
  model.script = text(value, "script"), model.recipe = text(value, "recipe"), model.upstream = text(value, "upstream");
  model.api = value.string_at("api").value_or(model.api);
  model.command = texts(value["command"]);
  model.max_tokens = static_cast<int>(number(value["max_tokens"]));
  model.context_tokens = static_cast<int>(number(value["context_tokens"]));
  if (const Value& prices = value["prices"]; prices.is_array() && prices.size() == 4) {
    model.has_prices = true;
    model.input_price = number(prices.items()[0]), model.output_price = number(prices.items()[1]);
    model.cache_read_price = number(prices.items()[2]), model.cache_write_price = number(prices.items()[3]);
  }
  return model;
}

agent::AgentSettings agents_from(const Value& value) {
  agent::AgentSettings agents;
  each_member(value["models"], [&](const std::string& name, const Value& model) {
    agents.models.emplace(name, model_from(name, model));
  });
  each_member(value["roles"], [&](const std::string& role, const Value& model) {
    if (model.is_string()) agents.roles[role] = model.as_string();
  });
  each_member(value["tiers"], [&](const std::string& tier, const Value& model) {
    if (model.is_string()) agents.tiers[tier] = model.as_string();
  });
  const Value& limits = value["limits"];
  agents.limits = {.turns = static_cast<int>(number(limits["turns"])),
                   .time_ms = number(limits["time_ms"]),
                   .stall_ms = number(limits["stall_ms"]),
                   .repeats = static_cast<int>(number(limits["repeats"])),
                   .depth = static_cast<int>(number(limits["depth"])),
                   .tokens = number(limits["tokens"]),
                   .micro_cents = number(limits["micro_cents"])};
  return agents;
}

agent::Wish wish_from(const Value& value) {
  agent::Wish wish;
  wish.mode = meaning_of(kModes, text(value, "mode"));
  wish.tier0 = !value["tier0"].is_bool() || value["tier0"].as_bool();
  wish.inputs = texts(value["inputs"]), wish.include = texts(value["include"]), wish.exclude = texts(value["exclude"]);
  return wish;
}

void read_delivery(const Value& value, Settings& settings) {
  const Value& forge = value["forge"];
  settings.forge = {.kind = text(forge, "kind"),
                    .repository = text(forge, "repository"),
                    .url = text(forge, "url"),
                    .token = text(forge, "token"),
                    .remote = text(forge, "remote"),
                    .method = text(forge, "method")};
  settings.base = text(value, "base");
  settings.strategy = text(value["branch"], "strategy"), settings.prefix = text(value["branch"], "prefix");
  if (const Value& checks = value["checks"]; checks.is_array()) {
    for (const Value& check : checks.items()) {
      settings.checks.push_back({text(check, "name"), text(check, "run"), number(check["time_ms"])});
    }
  }
  settings.checks_trusted = !settings.checks.empty();  // of others nothing is read
  settings.merge = meaning_of(kMerges, text(value, "merge"));
  settings.identity = {text(value["identity"], "name"), text(value["identity"], "email")};
}

}  // namespace

Result<Settings> settings_from(const Value& value) {
  Settings settings;
  settings.agents = agents_from(value);
  read_delivery(value, settings);
  settings.on_partial = meaning_of(kOnPartial, text(value, "on_partial")).value_or(OnPartial::kProceed);
  settings.protected_paths = texts(value["protected"]);
  settings.tier0 = texts(value["tier0"]);
  settings.soul = text(value, "soul");
  each_member(value["isolation"],
              [&](const std::string& workflow, const Value& wish) { settings.isolation[workflow] = wish_from(wish); });
  for (const auto& [name, phase] : kPhases) settings.phases[phase] = text(value["phases"], name);
  settings.fix_rounds = static_cast<int>(number(value["fix_rounds"]));
  // Whatever was missing, of another kind or unknown shows here.
  if (to_canonical_json(to_value(settings)) != to_canonical_json(value)) {
    return fail(ErrorCode::kInvalid, "these are not the settings of a run as this program keeps them");
  }
  return settings;
}

}  // namespace sb::pipeline
