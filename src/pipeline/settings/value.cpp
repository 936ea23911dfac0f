// RunSettings as a value: what their hash is over, and what `signalbox config check --json` shows.
#include "agent/secrets/secret_value.hpp"
#include "pipeline/settings/run_settings.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

Value context_spec_value(const agent::ContextSpec& spec) {
  Value value = Value::object({{"tier0", spec.tier0}});
  if (spec.mode) value.set("mode", word_of(kIsolationModes, *spec.mode));
  if (!spec.inputs.empty()) value.set("inputs", Value::array(spec.inputs));
  if (!spec.include.empty()) value.set("include", Value::array(spec.include));
  if (!spec.exclude.empty()) value.set("exclude", Value::array(spec.exclude));
  return value;
}

}  // namespace

std::string_view to_string(MergePolicy policy) {
  return word_of(kMerges, policy);
}

std::vector<std::string> secret_files(const RunSettings& settings) {
  std::vector<std::string> files;
  const auto take = [&](const std::string& name) {
    if (std::string file = agent::secret_file(name); !file.empty()) files.push_back(std::move(file));
  };
  for (const auto& [name, model] : settings.agents.models) take(model.key);
  take(settings.forge.token);
  return files;
}

Value to_value(const RunSettings& settings) {
  Value value = agent::to_value(settings.agents);
  const ForgeSettings& forge = settings.forge;
  value.set("base", settings.base);
  value.set("branch", Value::object({{"strategy", settings.strategy}, {"prefix", settings.prefix}}));
  value.set("forge", Value::object({{"kind", forge.kind == nullptr ? "" : forge.kind->name},
                                    {"repository", forge.repository},
                                    {"url", forge.url},
                                    {"token", forge.token},
                                    {"remote", forge.remote},
                                    {"method", forge.method}}));
  Value checks = Value::array();
  for (const ProjectCheck& check : settings.checks) {
    checks.push_back(Value::object({{"name", check.name}, {"run", check.run}, {"time_ms", check.time_ms}}));
  }
  value.set("checks", std::move(checks));
  if (settings.merge) value.set("merge", to_string(*settings.merge));
  value.set("on_partial", word_of(kOnPartial, settings.on_partial));
  value.set("protected", Value::array(settings.protected_paths));
  value.set("tier0", Value::array(settings.tier0));
  value.set("soul", settings.soul);
  Value isolation = Value::object(), phases = Value::object();
  for (const auto& [workflow, spec] : settings.isolation) isolation.set(workflow, context_spec_value(spec));
  for (const auto& [phase, workflow] : settings.phases) phases.set(word_of(kPhases, phase), workflow);
  value.set("isolation", std::move(isolation));
  value.set("phases", std::move(phases));
  value.set("fix_rounds", settings.fix_rounds);
  value.set("identity", Value::object({{"name", settings.identity.name}, {"email", settings.identity.email}}));
  return value;
}

}  // namespace sb::pipeline
