#include "inbox/config.hpp"

#include <array>

#include "base/assert.hpp"
#include "decision/lint/lint.hpp"
#include "guard/limits.hpp"
#include "inbox/operators/known_agents.hpp"

namespace sb::inbox {
namespace {

constexpr std::array<std::pair<std::string_view, Confirmations>, 3> kConfirmations{
    {{"ask", Confirmations::kAsk}, {"relay", Confirmations::kRelay}, {"signed", Confirmations::kSigned}}};

Error first_of(const Faults& faults) {
  return faults.front();
}

void read_workspaces(const Reader& workspaces, const SettingSource&, Policy& policy) {
  if (!workspaces.value().is_object()) {
    workspaces.fault("workspaces must map folders to settings", "Write /path/to/project: {confirmations: relay}");
    return;
  }
  for (const Value::Member& member : workspaces.value().members()) {
    const Reader workspace = workspaces.at(member.value);
    if (!member.name.starts_with('/')) {
      workspace.fault("a workspace must be an absolute path", "Start it with /");
      continue;
    }
    Fields settings = workspace.fields();
    if (const auto says = settings.choice<Confirmations>("confirmations", kConfirmations)) {
      policy.confirmations_by_workspace[member.name] = *says;
    }
    settings.finish();
  }
}

Value workspaces_schema() {
  return Value::object(
      {{"type", "object"},
       {"propertyNames", Value::object({{"pattern", "^/"}})},
       {"additionalProperties",
        Value::object(
            {{"type", "object"},
             {"additionalProperties", false},
             {"properties", Value::object({{"confirmations", choice_schema<Confirmations>(kConfirmations)}})}})}});
}

SettingKey<Config> file_tools_key() {
  return {
      .name = "file_tools",
      .help =
          "Tools of agents that change files, besides the known ones; the interlock checks them. Only in config.yaml",
      .schema = list_schema(guard::file_tool_schema(), limits::kFileTools),
      .read = [](const Reader& reader, const SettingSource&, Config& config) {
        for (const Reader& item : reader.items(limits::kFileTools)) {
          config.file_tools.push_back(guard::read_file_tool(item));
        }
      }};
}

// Not stored with a run: they count at any time.
SettingKeys<Config> make_user_keys() {
  const SettingKeys<Policy> policy_keys = {
      boolean_key("strict", &Policy::strict, "Every decision needs an operator's signature. Only in config.yaml"),
      choice_key<Policy, Confirmations>(
          "confirmations", &Policy::confirmations, kConfirmations,
          "relay: an agent may pass on a person's answer. signed: every gate needs a signature. Only in config.yaml"),
      {.name = "workspaces",
       .help = "Overrides confirmations per folder, by absolute path. Only in config.yaml",
       .schema = workspaces_schema(),
       .read = read_workspaces}};
  SettingKeys<Config> keys;
  for (const SettingKey<Policy>& key : policy_keys) keys.push_back(key_of(&Config::policy, key));
  keys.push_back(
      key_of(&Config::sandbox, group_key("sandbox", sandbox::setting_keys(),
                                         "What agents and checks can reach on this machine. Only in config.yaml")));
  keys.push_back(file_tools_key());
  for (SettingKey<Config>& key : keys) key.write = nullptr, key.restore = nullptr;
  return keys;
}

}  // namespace

Result<std::optional<Document>> load_if_exists(const Files& files, const std::string& path) {
  if (files.kind(path) == FileKind::kMissing) return std::nullopt;
  const std::string text = SB_TRY(files.read(path, limits::kDocumentBytes));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  return SB_TRY(parse_document(path, text));
}

const SettingKeys<Config>& user_keys() {
  static const SettingKeys<Config> kKeys = make_user_keys();
  return kKeys;
}

const std::vector<std::string>& run_key_names() {
  static const std::vector<std::string> kNames = [] {
    const auto document = parse_document("run-keys.yaml", std::string(data_file("run-keys.yaml")));
    SB_ASSERT(document.has_value());
    return stored_texts(document->root, "keys");
  }();
  return kNames;
}

void read_user_keys(Fields& root, Config& config) {
  read_keys(root, user_keys(), {}, config);
}

Checked<Config> read_config(const Document& document, const std::vector<std::string>& run_keys) {
  Faults faults;
  Config config;
  if (document.root.is_null()) return config;
  Fields fields = Reader(document, faults).fields();
  read_user_keys(fields, config);
  for (const std::string& key : run_keys) fields.get(key);
  const auto languages = fields.get("block_offers");
  if (languages && !languages->value().is_null()) config.block_offers = decision::read_offer_languages(*languages);
  fields.finish();
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return config;
}

Result<Config> load_config(const Files& files, const HomeDirectories& homes) {
  const auto document = SB_TRY(load_if_exists(files, join_path(homes.config, "config.yaml")));
  if (!document) return Config{};
  Checked<Config> config = read_config(*document);
  if (!config) return std::unexpected(first_of(config.error()));
  return std::move(*config);
}

sandbox::Sandbox find_users_sandbox(const Seams& seams, const HomeDirectories& homes) {
  const auto config = load_config(seams.files, homes);
  return sandbox::find_sandbox(seams, config ? config->sandbox : sandbox::Settings{});
}

}  // namespace sb::inbox
