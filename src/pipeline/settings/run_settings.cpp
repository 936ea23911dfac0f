#include "pipeline/settings/run_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "agent/model/prices.hpp"
#include "agent/settings/setting_values.hpp"
#include "base/crypto.hpp"
#include "inbox/config.hpp"
#include "inbox/operators/key_files.hpp"
#include "inbox/operators/trust.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

using agent::read_line;
using Word = std::pair<std::string_view, std::string_view>;

constexpr std::array<Word, 3> kStrategies{{{"none", "none"}, {"worktree", "worktree"}, {"read-only", "read-only"}}};
constexpr std::array<Word, 3> kMergeMethods{{{"merge", "merge"}, {"squash", "squash"}, {"rebase", "rebase"}}};

void bad(const Reader& reader, std::string message, std::string remedy, std::string_view rule = "bad_value") {
  reader.fault(std::move(message), std::move(remedy), ErrorCode::kInvalid, rule);
}

// As `git check-ref-format` has it, as far as a prefix or a branch can break it.
bool is_branch(std::string_view name) {
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
           std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= 200 && !name.starts_with('-') && !name.starts_with('/') &&
         !name.starts_with('.') && name.find("..") == name.npos && name.find("//") == name.npos &&
         name.find("/.") == name.npos && name.find("@{") == name.npos && !name.ends_with(".lock") &&
         !name.ends_with('.') && std::ranges::none_of(name, is_odd);
}

bool is_workflow_id(std::string_view id) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, fits);
}

// A path or glob of the work tree: relative, and not out of it.
std::optional<std::string> read_inner_path(const Reader& reader) {
  const std::string path = read_line(reader);
  if (path.empty()) return std::nullopt;
  const bool leaves =
      path == ".." || path.starts_with("../") || path.find("/../") != path.npos || path.ends_with("/..");
  if (!path.starts_with('/') && !path.starts_with('~') && !leaves) return path;
  bad(reader, fmt::format("{} leads out of the workspace", quote_json(path)), "Write a path below it", "bad_path");
  return std::nullopt;
}

void read_inner_paths(Fields& root, std::string_view key, std::vector<std::string>& into, bool replaces) {
  const auto reader = root.get(key);
  if (!reader) return;
  std::vector<std::string> paths;
  for (const Reader& item : reader->items(limits::kSettingsItems)) {
    if (auto path = read_inner_path(item)) paths.push_back(std::move(*path));
  }
  if (replaces) into.clear();
  for (std::string& path : paths) {
    if (std::ranges::find(into, path) == into.end()) into.push_back(std::move(path));
  }
}

void read_branch(Fields& root, RunSettings& settings) {
  if (const auto base = root.get("base")) {
    settings.base = read_line(*base);
    if (!settings.base.empty() && !is_branch(settings.base)) {
      bad(*base, "this is no name of a branch", "Write it like main", "bad_branch");
    }
  }
  const auto reader = root.get("branch");
  if (!reader) return;
  Fields fields = reader->fields();
  if (const auto strategy = fields.choice<std::string_view>("strategy", kStrategies)) settings.strategy = *strategy;
  if (const auto prefix = fields.get("prefix")) {
    settings.prefix = read_line(*prefix);
    if (!settings.prefix.empty() && !is_branch(settings.prefix + "x")) {
      bad(*prefix, "no branch can begin like this", "Write it like signalbox/", "bad_branch");
    }
  }
  fields.finish();
}

void read_forge(Fields& root, const std::string& directory, RunSettings& settings) {
  const auto reader = root.get("forge");
  if (!reader) return;
  Fields fields = reader->fields();
  if (!reader->value().is_object()) return;
  ForgeSettings forge;  // as a whole: a token of one forge is not for another
  std::vector<std::pair<std::string_view, const ForgeKind*>> kinds;
  for (const ForgeKind& each : settings.forges) kinds.emplace_back(each.name, &each);
  const auto kind = fields.choice<const ForgeKind*>("kind", kinds, Need::kRequired);
  if (kind) forge.kind = *kind;
  const bool is_hosted = kind && (*kind)->is_hosted;
  if (const auto repository = fields.get("repository", is_hosted ? Need::kRequired : Need::kOptional)) {
    forge.repository = read_line(*repository);
    if (is_hosted && !forge.repository.empty() && !forge.kind->is_repository(forge.repository)) {
      bad(*repository, "this is no repository", fmt::format("Write it like {}", forge.kind->repository_form),
          "bad_repository");
    }
  }
  if (const auto url = fields.get("url")) forge.url = agent::read_url(*url);
  if (const auto token = fields.get("token", is_hosted ? Need::kRequired : Need::kOptional)) {
    forge.token = agent::read_secret_name(*token, directory);
  }
  if (const auto remote = fields.get("remote")) {
    forge.remote = read_line(*remote);
    if (!forge.remote.empty() && !is_branch(forge.remote)) {
      bad(*remote, "this is no name of a remote", "Write it like origin", "bad_branch");
    }
  }
  if (const auto method = fields.choice<std::string_view>("method", kMergeMethods)) forge.method = *method;
  fields.finish();
  settings.forge = std::move(forge);
}

void read_check(const Reader& reader, std::vector<ProjectCheck>& checks) {
  ProjectCheck check;
  if (reader.value().is_string()) {
    check.name = check.run = read_line(reader, 4'096);
  } else {
    Fields fields = reader.fields();
    if (!reader.value().is_object()) return;
    if (const auto run = fields.get("run", Need::kRequired)) check.run = read_line(*run, 4'096);
    const auto name = fields.get("name");
    check.name = name ? read_line(*name) : check.run;
    if (const auto time = fields.get("time")) {
      check.time_ms = agent::read_duration_ms(*time, 1'000, 86'400'000).value_or(0);
    }
    fields.finish();
  }
  if (check.run.empty() || check.name.empty()) return;
  if (std::ranges::find(checks, check.name, &ProjectCheck::name) != checks.end()) {
    bad(reader, fmt::format("two checks are called {}", quote_json(check.name)), "Give one another name",
        "repeated_check");
  }
  checks.push_back(std::move(check));
}

void read_checks(Fields& root, RunSettings& settings) {
  const auto reader = root.get("checks");
  if (!reader) return;
  settings.checks.clear();
  for (const Reader& item : reader->items(limits::kSettingsItems)) read_check(item, settings.checks);
  settings.checks_trusted = true;  // the user's own, or of a trusted folder; others do not get here
}

std::vector<std::string> read_keys(Fields& fields, std::string_view name, bool is_fitting, std::string_view mode) {
  const auto reader = fields.get(name);
  if (!reader) return {};
  std::vector<std::string> keys;
  for (const Reader& item : reader->items(limits::kSettingsItems)) {
    if (std::string key = read_line(item); !key.empty()) keys.push_back(std::move(key));
  }
  if (!is_fitting) {
    bad(*reader, fmt::format("{} goes with mode: {}", name, mode), fmt::format("Add mode: {} or leave it out", mode),
        "unfitting_key");
  }
  return keys;
}

void read_isolation(Fields& root, RunSettings& settings) {
  const auto reader = root.get("isolation");
  if (!reader) return;
  reader->fields();
  if (!reader->value().is_object()) return;
  for (const Value::Member& member : reader->value().members()) {
    const Reader each = reader->at(member.value);
    if (!is_workflow_id(member.name)) {
      bad(each, fmt::format("{} is no workflow's id", quote_json(member.name.substr(0, 64))),
          "Name a workflow, such as wr.mr-review", "bad_name");
      continue;
    }
    Fields fields = each.fields();
    if (!each.value().is_object()) continue;
    agent::ContextSpec spec;
    spec.mode = fields.choice<agent::IsolationMode>("mode", kIsolationModes);
    spec.tier0 = fields.boolean("tier0").value_or(true);
    const bool is_custom = spec.mode == agent::IsolationMode::kCustom;
    spec.inputs = read_keys(fields, "inputs", spec.mode == agent::IsolationMode::kBlind, "blind");
    spec.include = read_keys(fields, "include", is_custom, "custom");
    spec.exclude = read_keys(fields, "exclude", is_custom, "custom");
    fields.finish();
    settings.isolation[member.name] = std::move(spec);
  }
}

void read_phases(Fields& root, RunSettings& settings) {
  const auto reader = root.get("phases");
  if (!reader) return;
  Fields fields = reader->fields();
  for (const auto& [name, phase] : kPhases) {
    const auto each = fields.get(name);
    if (!each) continue;
    const auto id = each->string();
    if (!id) continue;
    if (is_workflow_id(*id)) {
      settings.phases[phase] = *id;
    } else {
      bad(*each, fmt::format("{} is no workflow's id", quote_json(id->substr(0, 64))),
          "Name a workflow; signalbox workflow list shows them", "bad_name");
    }
  }
  fields.finish();
}

void read_identity(Fields& root, RunSettings& settings) {
  const auto reader = root.get("identity");
  if (!reader) return;
  Fields fields = reader->fields();
  const auto take = [&](std::string_view name, std::string& into) {
    const auto each = fields.get(name);
    if (!each) return;
    into = read_line(*each, 256);
    if (into.find_first_of("<>") != std::string::npos) bad(*each, "git allows no < or > here", "Leave them out");
  };
  take("name", settings.identity.name);
  take("email", settings.identity.email);
  fields.finish();
}

void refuse_user_keys(Fields& root) {
  for (const std::string_view key : inbox::kUserKeys) {
    if (const auto reader = root.get(key)) {
      bad(*reader, fmt::format("{} is only taken from the user's own config.yaml", key), "Leave it out here",
          "users_key");
    }
  }
}

// Whether the workspace's file may count; true also when there is none.
Status may_count(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  const auto policy = SB_TRY(inbox::policy_files(seams.files, workspace));
  const inbox::Operators operators = SB_TRY(inbox::OperatorFiles(seams.files, homes).load());
  if (SB_TRY(inbox::TrustedFolders(seams.files, homes, operators).is_trusted(workspace, policy.hash))) return {};
  return fail(ErrorCode::kForbidden,
              fmt::format("the folder {} is not trusted as it is now, so nothing of this file counts", workspace),
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

}  // namespace

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
                   Faults& faults) {
  if (document.root.is_null()) return;  // an empty file says nothing
  Fields root = Reader(document, faults).fields();
  if (!document.root.is_object()) return;
  if (whose == SettingsOrigin::kUser) {
    inbox::Policy policy;  // the inbox's; read here so that all faults of the file are told together
    inbox::read_policy(root, policy);
  } else {
    refuse_user_keys(root);
  }
  agent::read_agent_settings(root, directory, settings.agents);
  read_branch(root, settings);
  read_forge(root, directory, settings);
  read_checks(root, settings);
  if (const auto merge = root.choice<MergePolicy>("merge", kMerges)) settings.merge = *merge;
  if (const auto on = root.choice<OnPartial>("on_partial", kOnPartial)) settings.on_partial = *on;
  read_inner_paths(root, "protected", settings.protected_paths, false);
  read_inner_paths(root, "tier0", settings.tier0, true);
  if (const auto soul = root.get("soul")) {
    // A project's soul is a file of the project.
    if (whose == SettingsOrigin::kUser) {
      settings.soul = agent::read_path(*soul, directory);
    } else if (const auto path = read_inner_path(*soul)) {
      settings.soul = join_path(directory, *path);
    }
  }
  read_isolation(root, settings);
  read_phases(root, settings);
  settings.fix_rounds =
      static_cast<int>(root.integer("fix_rounds", 0, limits::kMostFixRounds).value_or(settings.fix_rounds));
  read_identity(root, settings);
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

Checked<RunSettings> load_settings(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  RunSettings settings;
  settings.phases = bundled_phases();
  settings.agents.limits.time_ms = 0;  // each phase has its own where nothing is said
  settings.agents.file = join_path(homes.config, "config.yaml");
  Faults faults;
  std::vector<SettingsPart> parts;
  load_part(seams, homes.config, "config.yaml", SettingsOrigin::kUser, parts, faults);
  if (seams.files.kind(join_path(workspace, kWorkspaceFile)) != FileKind::kMissing) {
    const Status counts = may_count(seams, homes, workspace);
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
  if (!faults.empty()) return std::unexpected(std::move(faults));
  settings.hash = sha256_hex(to_canonical_json(to_value(settings)));
  // After the hash: what a newer program knows of prices does not make other settings of these.
  for (auto& [name, model] : settings.agents.models) agent::fill_known_prices(model);
  return settings;
}

}  // namespace sb::pipeline
