#include "runs/known_secrets.hpp"

#include "agent/secrets/secret_value.hpp"
#include "base/environment.hpp"
#include "pipeline/git/git.hpp"

namespace sb::runs {

std::vector<std::string> known_secrets(const Seams& seams, const pipeline::RunSettings& settings,
                                       const std::string& workspace) {
  std::vector<std::string> values = pipeline::secrets_in_configuration(seams, workspace);
  const auto add = [&](const std::string& name) {
    const auto value = agent::secret_of(name, seams);
    if (value && !value->empty()) values.push_back(*value);
  };
  add(settings.forge.token);
  for (const auto& [name, model] : settings.agents.models) add(model.key);
  return values;
}

std::vector<std::string> known_secrets(const Seams& seams, const std::string& workspace) {
  const auto homes = sb::homes(seams.environment);
  if (!homes) return {};
  const auto settings = pipeline::load_settings(seams, *homes, workspace);
  return settings ? known_secrets(seams, *settings, workspace) : std::vector<std::string>();
}

}  // namespace sb::runs
