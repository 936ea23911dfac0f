// The table of root keys that steer a run. A key is one row: everything that knows of keys is made from the table.
//
// | what | made by |
// |---|---|
// | reading a file, known keys, nearest names | read_settings() in run_settings.hpp |
// | what a run stores of its settings, and back | to_value(), settings_from() there |
// | docs/schema/signalbox.schema.json, with a line of help for each key | settings_schema() |
// | the keys that the hook program knows, src/inbox/data/run-keys.yaml | known_keys_file() |
//
// The last two are generated files; tests/schema/settings_schema_test.cpp compares them with the table. Keys of the
// user's own file alone are rows of inbox/config.cpp, keys of agents rows of agent/settings/agent_keys.cpp. Pure.
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
