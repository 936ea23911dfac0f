#include "pipeline/settings/run_keys.hpp"

#include <gmock/gmock.h>

#include "inbox/config.hpp"
#include "pipeline/settings/words.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::pipeline {
namespace {

using testing::HasSubstr;

// The program's keys and two added ones, each added as one row.
class AddedKeys : public testing::Test {
 protected:
  AddedKeys() {
    keys.push_back(integer_key("patience", &RunSettings::fix_rounds, 1, 9, "How long to wait"));
    keys.push_back(group_key<RunSettings>(
        "letter", {choice_key<RunSettings, MergePolicy>("tone", &RunSettings::merge, kTones, "How it sounds")},
        "What is written to whom"));
    settings.phases = bundled_phases();
  }
  std::string read(const std::string& yaml, SettingsOrigin whose = SettingsOrigin::kUser) {
    Faults faults;
    read_settings(*parse_document("config.yaml", yaml), whose, "/h", settings, faults, keys);
    std::string text;
    for (const Error& fault : faults) text += fault.to_string() + "\n";
    return text;
  }

  static constexpr std::pair<std::string_view, MergePolicy> kTones[] = {{"kind", MergePolicy::kAuto},
                                                                        {"stern", MergePolicy::kNever}};
  SettingKeys<RunSettings> keys = make_run_keys();
  RunSettings settings;
};

TEST_F(AddedKeys, AreReadStoredAndRestored) {
  for (const SettingsOrigin whose : {SettingsOrigin::kUser, SettingsOrigin::kWorkspace}) {
    EXPECT_EQ(read("patience: 7\nletter: {tone: stern}\n", whose), "");
    EXPECT_EQ(settings.fix_rounds, 7);
    EXPECT_EQ(settings.merge, MergePolicy::kNever);
  }
  const Value value = to_value(settings, keys);
  EXPECT_EQ(value["patience"], Value(7));
  EXPECT_EQ(value["letter"].string_at("tone"), "stern");
  const auto again = settings_from(value, keys);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->fix_rounds, 7);
  EXPECT_FALSE(settings_from(value)) << "a version without the key must reject it";
}

TEST_F(AddedKeys, HaveFaultsWithTheirLocationsAndNearestNames) {
  EXPECT_THAT(read("base: main\npatience: 70\n"), HasSubstr("config.yaml:2:1: /patience"));
  EXPECT_THAT(read("patiense: 7\n"), HasSubstr("Did you mean patience?"));
  EXPECT_THAT(read("letter: {tone: sterm}\n"), HasSubstr("Did you mean stern?"));
  EXPECT_THAT(read("letter: {tune: stern}\n"), HasSubstr("Did you mean tone?"));
  EXPECT_THAT(read("letter: stern\n"), HasSubstr("/letter: expected an object"));
}

TEST_F(AddedKeys, AreInTheSchemaWithTheirHelp) {
  const Value schema = settings_schema(keys);
  EXPECT_EQ(to_json(schema["properties"]["patience"]),
            R"({"type":"integer","minimum":1,"maximum":9,"description":"How long to wait"})");
  const auto compiled = workflow::JsonSchema::compile(schema);
  ASSERT_TRUE(compiled);
  const auto fits = [&](const std::string& yaml) { return compiled->check(parse_document("x", yaml)->root).empty(); };
  EXPECT_TRUE(fits("patience: 7\nletter: {tone: stern}\n"));
  EXPECT_FALSE(fits("patience: 0\n"));
  EXPECT_FALSE(fits("letter: {tone: loud}\n"));
  EXPECT_FALSE(fits("letter: {tune: stern}\n"));
}

// The hook program reads the user's file without this table.
TEST_F(AddedKeys, AreKnownToTheOtherReaderOfTheFile) {
  const Document document = *parse_document("config.yaml", "strict: true\npatience: 7\n");
  const auto file = parse_document("run-keys.yaml", known_keys_file(keys));
  ASSERT_TRUE(file);
  const auto config = inbox::read_config(document, stored_texts(file->root, "keys"));
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->policy.strict);
  EXPECT_FALSE(inbox::read_config(document));
}

TEST_F(AddedKeys, OfAProviderAndAForgeAreInTheSchema) {
  std::vector<agent::ModelProvider> providers(agent::model_providers().begin(), agent::model_providers().end());
  providers.push_back(providers.front());
  providers.back().name = "umbrella";
  std::vector<ForgeKind> forges(forge_kinds().begin(), forge_kinds().end());
  forges.push_back({.name = "acme", .is_hosted = true});
  const auto compiled = workflow::JsonSchema::compile(settings_schema(make_run_keys(providers, forges)));
  ASSERT_TRUE(compiled);
  const auto fits = [&](const std::string& yaml) { return compiled->check(parse_document("x", yaml)->root).empty(); };
  EXPECT_TRUE(fits("models: {m: {provider: umbrella, model: x, key: $K}}\n"));
  EXPECT_FALSE(fits("models: {m: {provider: umbrela, model: x, key: $K}}\n"));
  EXPECT_FALSE(fits("models: {m: {provider: umbrella, model: x}}\n"));
  EXPECT_TRUE(fits("forge: {kind: acme, repository: a/b, token: $T}\n"));
  EXPECT_FALSE(fits("forge: {kind: acme, repository: a/b}\n"));
  EXPECT_FALSE(fits("forge: {kind: acne}\n"));
}

TEST(RunKeys, EachIsStoredAndRestored) {
  for (const auto& key : run_keys()) EXPECT_TRUE(key.read && key.write && key.restore) << key.name;
}

}  // namespace
}  // namespace sb::pipeline
