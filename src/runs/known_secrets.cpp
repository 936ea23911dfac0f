#include "runs/known_secrets.hpp"

#include "agent/secrets/secret_value.hpp"
#include "base/environment.hpp"
#include "pipeline/git/git.hpp"

namespace sb::runs {
namespace {

std::vector<std::string> secret_names(const pipeline::RunSettings& settings) {
  std::vector<std::string> names = {settings.forge.token};
  for (const auto& [name, model] : settings.agents.models) names.push_back(model.key);
  std::erase(names, std::string());
  return names;
}

}  // namespace

std::vector<std::string> known_secrets(const Seams& seams, const pipeline::RunSettings& settings,
                                       const std::string& workspace) {
  std::vector<std::string> values = pipeline::secrets_in_configuration(seams, workspace);
  for (const std::string& name : secret_names(settings)) {
    const auto value = agent::secret_of(name, seams);
    if (value && !value->empty()) values.push_back(*value);
  }
  return values;
}

std::vector<std::string> unread_secrets(const Seams& seams, const pipeline::RunSettings& settings) {
  std::vector<std::string> names = secret_names(settings);
  std::erase_if(names, [&](const std::string& name) { return agent::secret_of(name, seams).has_value(); });
  return names;
}

std::vector<std::string> known_secrets(const Seams& seams, const std::string& workspace) {
  const auto homes = sb::homes(seams.environment);
  if (!homes) return {};
  const auto settings = pipeline::load_settings(seams, *homes, workspace);
  return settings ? known_secrets(seams, *settings, workspace) : std::vector<std::string>();
}

}  // namespace sb::runs
