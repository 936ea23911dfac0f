// The table of root keys that control a run. Each key is one row; everything else about keys is derived from the table.
//
// | what | function |
// |---|---|
// | reads a file, with known keys and nearest names | read_settings() in run_settings.hpp |
// | stores the settings of a run and restores them | to_value(), settings_from() there |
// | makes docs/schema/signalbox.schema.json, with a line of help per key | settings_schema() |
// | makes src/inbox/data/run-keys.yaml, the keys that the hook program knows | known_keys_file() |
//
// The last two are generated files; tests/schema/settings_schema_test.cpp compares them with the table. Keys that only
// the user's own file may have are rows in inbox/config.cpp; keys of agents are in agent/settings/agent_keys.cpp. Pure.
#pragma once

#include <span>
#include <string>

#include "base/document/setting_key.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

SettingKeys<RunSettings> make_run_keys(std::span<const agent::ModelProvider> providers = agent::model_providers(),
                                       std::span<const ForgeKind> forges = forge_kinds());

Value settings_schema(const SettingKeys<RunSettings>& keys = run_keys());
std::string known_keys_file(const SettingKeys<RunSettings>& keys = run_keys());

}  // namespace sb::pipeline
