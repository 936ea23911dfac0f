#include "pipeline/settings/run_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "agent/model/prices.hpp"
#include "agent/secrets/secret_value.hpp"
#include "base/crypto.hpp"
#include "inbox/config.hpp"
#include "inbox/operators/key_files.hpp"
#include "inbox/operators/trust.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

void refuse_user_keys(Fields& root) {
  for (const auto& key : inbox::user_keys()) {
    if (const auto reader = root.get(key.name)) {
      reader->fault(fmt::format("{} is allowed only in the user's own config.yaml", key.name), "Remove it here",
                    ErrorCode::kInvalid, "users_key");
    }
  }
}

// Whether the workspace's folder is trusted as it is now.
Status check_trust(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  const auto policy = SB_TRY(inbox::policy_files(seams.files, workspace));
  const inbox::Operators operators = SB_TRY(inbox::OperatorFiles(seams.files, homes).load());
  if (SB_TRY(inbox::TrustedFolders(seams.files, homes, operators).is_trusted(workspace, policy.hash))) return {};
  return fail(ErrorCode::kForbidden,
              fmt::format("the folder {} is not trusted as it is now, so this file is ignored", workspace),
              fmt::format("Read it, then: signalbox trust {}", quote_json(workspace)),
              {join_path(workspace, kWorkspaceFile), "", 0, 0});
}

struct SettingsPart {
  std::shared_ptr<const Document> document;
  SettingsOrigin whose;
  std::string directory;
};

void load_part(const Seams& seams, const std::string& directory, std::string_view name, SettingsOrigin whose,
               std::vector<SettingsPart>& parts, Faults& faults) {
  const std::string path = join_path(directory, name);
  auto document = inbox::load_if_exists(seams.files, path);
  if (!document) {
    if (document.error().location.file.empty()) document.error().location.file = path;
    faults.push_back(std::move(document).error());
    return;
  }
  if (*document) parts.push_back({std::make_shared<const Document>(std::move(**document)), whose, directory});
}

// The faults of the workspace's file, over the settings below it.
Faults faults_over(const Seams& seams, const std::string& workspace, RunSettings below) {
  Faults faults;
  std::vector<SettingsPart> parts;
  load_part(seams, workspace, kWorkspaceFile, SettingsOrigin::kWorkspace, parts, faults);
  for (const SettingsPart& part : parts) {
    read_settings(*part.document, part.whose, part.directory, below, faults);
    if (!part.document->root.is_object()) continue;
    Fields root = Reader(*part.document, faults).fields();
    agent::check_model_names(root, below.agents);
  }
  return faults;
}

}  // namespace

Result<workflow::Catalog> open_run_catalog(const Seams& seams, const HomeDirectories& homes,
                                           const std::string& workspace) {
  return workflow::Catalog::open(
      seams.files, seams.environment, homes,
      workflow::CatalogOptions{.workspace = workspace, .is_trusted = inbox::file_trust(seams.files, homes)});
}

std::map<Phase, std::string> bundled_phases() {
  return {{Phase::kDiscovery, "wr.discovery"},
          {Phase::kShaping, "wr.shaping"},
          {Phase::kDesign, "wr.ui-ux-design"},
          {Phase::kCoding, "wr.coding-task"},
          {Phase::kReview, "wr.mr-review"},
          {Phase::kFix, "wr.fix"},
          {Phase::kAudit, "wr.production-readiness-audit"}};
}

void read_settings(const Document& document, SettingsOrigin whose, const std::string& directory, RunSettings& settings,
                   Faults& faults, const SettingKeys<RunSettings>& keys) {
  if (document.root.is_null()) return;  // an empty file
  Fields root = Reader(document, faults).fields();
  if (!document.root.is_object()) return;
  if (whose == SettingsOrigin::kUser) {
    inbox::Config config;  // the inbox's; read here so that all faults of the file are reported together
    inbox::read_user_keys(root, config);
  } else {
    refuse_user_keys(root);
  }
  read_keys(root, keys, {directory, whose == SettingsOrigin::kUser}, settings);
  root.finish();
}

SourceLocation RunSettings::location_of(std::string_view pointer) const {
  for (const auto& document : documents | std::views::reverse) {
    const Value* at = &document->root;
    for (std::string_view rest = pointer; at != nullptr && !rest.empty();) {
      rest.remove_prefix(1);
      const std::size_t end = std::min(rest.find('/'), rest.size());
      at = at->is_object() ? at->find(rest.substr(0, end)) : nullptr;
      rest.remove_prefix(end);
    }
    if (at != nullptr) return document->location_of(pointer);
  }
  return {};
}

agent::ContextSpec isolation_of(const RunSettings& settings, const workflow::Definition& definition) {
  agent::ContextSpec spec;
  if (definition.isolation) {
    spec.mode = agent::isolation_mode_named(definition.isolation->mode);
    spec.inputs = definition.isolation->inputs;
    spec.include = definition.isolation->include;
    spec.exclude = definition.isolation->exclude;
  }
  if (const auto found = settings.isolation.find(definition.id); found != settings.isolation.end()) {
    spec = found->second;
  }
  spec.role = definition.role ? std::string(workflow::to_string(*definition.role)) : std::string();
  return spec;
}

Faults workspace_file_faults(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  RunSettings below;
  Faults ignored;
  std::vector<SettingsPart> parts;
  load_part(seams, homes.config, "config.yaml", SettingsOrigin::kUser, parts, ignored);
  for (const SettingsPart& part : parts) read_settings(*part.document, part.whose, part.directory, below, ignored);
  return faults_over(seams, workspace, std::move(below));
}

Checked<RunSettings> load_settings(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  RunSettings settings;
  settings.phases = bundled_phases();
  settings.agents.limits.time_ms = 0;  // 0: each phase uses its own default
  settings.agents.file = join_path(homes.config, "config.yaml");
  Faults faults;
  std::vector<SettingsPart> parts;
  load_part(seams, homes.config, "config.yaml", SettingsOrigin::kUser, parts, faults);
  Status counts;
  if (seams.files.kind(join_path(workspace, kWorkspaceFile)) != FileKind::kMissing) {
    counts = check_trust(seams, homes, workspace);
    if (counts) load_part(seams, workspace, kWorkspaceFile, SettingsOrigin::kWorkspace, parts, faults);
    if (!counts) faults.push_back(counts.error());
  }
  for (const SettingsPart& part : parts) {
    read_settings(*part.document, part.whose, part.directory, settings, faults);
    settings.documents.push_back(part.document);
  }
  for (const SettingsPart& part : parts) {
    if (!part.document->root.is_object()) continue;
    Fields root = Reader(*part.document, faults).fields();
    agent::check_model_names(root, settings.agents);
  }
  // Nothing of the file is used, but its faults are reported before someone trusts it.
  if (!counts) std::ranges::move(faults_over(seams, workspace, settings), std::back_inserter(faults));
  if (!faults.empty()) return std::unexpected(std::move(faults));
  settings.hash = sha256_hex(to_canonical_json(to_value(settings)));
  // After the hash: newly known prices must not change the hash of the settings.
  for (auto& [name, model] : settings.agents.models) agent::fill_known_prices(model);
  return settings;
}

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

Value to_value(const RunSettings& settings, const SettingKeys<RunSettings>& keys) {
  return stored(keys, settings);
}

Result<RunSettings> settings_from(const Value& value, const SettingKeys<RunSettings>& keys) {
  RunSettings settings;
  restore(keys, value, settings);
  // Finds members that are missing, unknown or of the wrong kind.
  if (to_canonical_json(to_value(settings, keys)) != to_canonical_json(value)) {
    return fail(ErrorCode::kInvalid, "these settings of a run were not stored by this version");
  }
  return settings;
}

}  // namespace sb::pipeline
