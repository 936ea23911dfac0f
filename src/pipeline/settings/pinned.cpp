// RunSettings read back from the value that a run keeps of them.
#include <fmt/format.h>

#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

std::string text_at(const Value& value, std::string_view name) {
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
  agent::ModelSettings model;
  model.provider = agent::provider_named(text_at(value, "provider"));
  model.name = name;
  model.model = text_at(value, "model"), model.key = text_at(value, "key"), model.url = text_at(value, "url");
  model.script = text_at(value, "script"), model.recipe = text_at(value, "recipe"),
  model.upstream = text_at(value, "upstream");
  model.api = text_at(value, "api");
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

agent::ContextSpec context_spec_from(const Value& value) {
  agent::ContextSpec spec;
  spec.mode = meaning_of(kIsolationModes, text_at(value, "mode"));
  spec.tier0 = !value["tier0"].is_bool() || value["tier0"].as_bool();
  spec.inputs = texts(value["inputs"]), spec.include = texts(value["include"]), spec.exclude = texts(value["exclude"]);
  return spec;
}

void read_delivery(const Value& value, RunSettings& settings) {
  const Value& forge = value["forge"];
  settings.forge = {.kind = forge_kind_named(text_at(forge, "kind")),
                    .repository = text_at(forge, "repository"),
                    .url = text_at(forge, "url"),
                    .token = text_at(forge, "token"),
                    .remote = text_at(forge, "remote"),
                    .method = text_at(forge, "method")};
  settings.base = text_at(value, "base");
  settings.strategy = text_at(value["branch"], "strategy"), settings.prefix = text_at(value["branch"], "prefix");
  if (const Value& checks = value["checks"]; checks.is_array()) {
    for (const Value& check : checks.items()) {
      settings.checks.push_back({text_at(check, "name"), text_at(check, "run"), number(check["time_ms"])});
    }
  }
  settings.checks_trusted = !settings.checks.empty();  // of others nothing is read
  settings.merge = meaning_of(kMerges, text_at(value, "merge"));
  settings.identity = {text_at(value["identity"], "name"), text_at(value["identity"], "email")};
}

}  // namespace

Result<RunSettings> settings_from(const Value& value) {
  RunSettings settings;
  settings.agents = agents_from(value);
  read_delivery(value, settings);
  settings.on_partial = meaning_of(kOnPartial, text_at(value, "on_partial")).value_or(OnPartial::kProceed);
  settings.protected_paths = texts(value["protected"]);
  settings.tier0 = texts(value["tier0"]);
  settings.soul = text_at(value, "soul");
  each_member(value["isolation"], [&](const std::string& workflow, const Value& spec) {
    settings.isolation[workflow] = context_spec_from(spec);
  });
  for (const auto& [name, phase] : kPhases) settings.phases[phase] = text_at(value["phases"], name);
  settings.fix_rounds = static_cast<int>(number(value["fix_rounds"]));
  // Whatever was missing, of another kind or unknown shows here.
  if (to_canonical_json(to_value(settings)) != to_canonical_json(value)) {
    return fail(ErrorCode::kInvalid, "these are not the settings of a run as this program keeps them");
  }
  return settings;
}

}  // namespace sb::pipeline
