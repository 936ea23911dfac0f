// The keys of agents in the configuration: `models`, `roles`, `tiers`, `limits`. Pure.
#pragma once

#include <span>
#include <vector>

#include "agent/settings/agent_settings.hpp"
#include "base/document/setting_key.hpp"

namespace sb::agent {

// A later file overrides an earlier one. Models, roles, tiers and limits are merged member by member.
SettingKeys<AgentSettings> make_agent_keys(std::span<const ModelProvider> providers = model_providers());

// A key of one model. Which models have it depends on their provider.
struct ModelKey {
  SettingKey<ModelSettings> key;
  bool (*is_of)(const ModelProvider& provider);
  bool (*is_required)(const ModelProvider& provider);
};
const std::vector<ModelKey>& model_keys();  // besides `provider`
// The keys that a model of this provider can have, as rows of one object.
SettingKeys<ModelSettings> keys_of(const ModelProvider& provider);

}  // namespace sb::agent
