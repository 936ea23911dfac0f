#include "inbox/config.hpp"

#include <array>

namespace sb::inbox {
namespace {

constexpr std::array<std::pair<std::string_view, bool>, 2> kConfirmations{{{"ask", false}, {"relay", true}}};

Error first_of(const Faults& faults) {
  return faults.front();
}

void read_workspaces(Fields& fields, Policy& policy) {
  const auto workspaces = fields.get("workspaces");
  if (!workspaces) return;
  if (!workspaces->value().is_object()) {
    workspaces->fault("workspaces is not a map of directories", "Write /path/to/project: {confirmations: relay}");
    return;
  }
  for (const Value::Member& member : workspaces->value().members()) {
    const Reader workspace = workspaces->at(member.value);
    if (!member.name.starts_with('/')) {
      workspace.fault("a workspace must be an absolute path", "Start it with /");
      continue;
    }
    Fields settings = workspace.fields();
    if (const auto relays = settings.choice<bool>("confirmations", kConfirmations)) {
      policy.relay_by_workspace[member.name] = *relays;
    }
    settings.finish();
  }
}

}  // namespace

Result<std::optional<Document>> load_if_exists(const Files& files, const std::string& path) {
  if (files.kind(path) == FileKind::kMissing) return std::nullopt;
  const std::string text = SB_TRY(files.read(path, limits::kDocumentBytes));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  return SB_TRY(parse_document(path, text));
}

void read_policy(Fields& root, Policy& policy) {
  policy.strict = root.boolean("strict").value_or(false);
  policy.may_relay = root.choice<bool>("confirmations", kConfirmations).value_or(false);
  read_workspaces(root, policy);
}

Checked<Config> read_config(const Document& document) {
  Faults faults;
  Config config;
  if (document.root.is_null()) return config;
  Fields fields = Reader(document, faults).fields();
  read_policy(fields, config.policy);
  for (const std::string_view key : kRunKeys) fields.get(key);
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

}  // namespace sb::inbox
