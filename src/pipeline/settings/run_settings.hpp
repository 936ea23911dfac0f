// The configuration of runs: the workspace's `signalbox.yaml` overrides the user's `config.yaml`. The workspace's file
// applies only while its folder is trusted (`signalbox trust`); if it is not, that is an error, and nothing of the file
// is used. Models, roles, tiers, limits, isolation and phases are merged member by member. A path is protected if
// either file protects it.
//
//   base: main
//   branch: {strategy: worktree, prefix: signalbox/}
//   forge: {kind: github, repository: acme/shop, token: $GITHUB_TOKEN}
//   checks: [./check, {name: types, run: npm run types, time: 5m}]
//   setup: [npm ci]               # once, before the first checks, in a checkout without the change
//   merge: ask                    # auto, never
//   on_partial: proceed           # retry_once, escalate
//   fix_rounds: 2
//   identity: {name: Signalbox, email: signalbox@localhost}
//   protected: [.github/**]
//   tier0: [VISION.md, docs/decisions/*.md]
//   soul: docs/soul.md
//   isolation: {wr.mr-review: {mode: challenger}}
//   phases: {coding: acme.coding}       # another workflow for a phase
//   limits, models, roles, tiers: agent/settings/agent_settings.hpp
//
// run_keys.hpp has the table of these keys.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/context/isolation.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/document/setting_key.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/forge/forges.hpp"
#include "pipeline/plan/hand_off.hpp"
#include "workflow/catalog/catalog.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::pipeline {

enum class MergePolicy { kAsk, kAuto, kNever };

struct ForgeSettings {
  const ForgeKind* kind = &forge_kinds().front();
  std::string repository = {}, url = {}, token = {}, remote = "origin";
  std::string method = "merge";  // how a hosted forge merges: merge, squash, rebase
};

struct RunSettings {
  agent::AgentSettings agents;
  ForgeSettings forge;
  std::string base = "main", strategy = "worktree", prefix = "signalbox/";
  std::vector<ProjectCheck> checks, setup;
  bool checks_trusted = false;
  std::optional<MergePolicy> merge;  // absent: ask on hosted forges, auto on local
  OnPartial on_partial = OnPartial::kProceed;
  std::vector<std::string> protected_paths, tier0;
  std::string soul;
  std::map<std::string, agent::ContextSpec> isolation;  // by workflow
  std::map<Phase, std::string> phases;                  // the workflow of each phase, for all phases
  int fix_rounds = 2;
  Identity identity;
  std::string hash;                                             // over everything that controls a run
  std::vector<std::shared_ptr<const Document>> documents = {};  // what they were read from; later ones override

  // Where the effective value at this pointer is written. No file: it is the default.
  SourceLocation location_of(std::string_view pointer) const;
};

const SettingKeys<RunSettings>& run_keys();  // run_keys.hpp

inline constexpr std::string_view kWorkspaceFile = "signalbox.yaml";

// Reports all faults of both files together, each with file, line and the nearest known key. An untrusted
// signalbox.yaml is a kForbidden fault; its own faults are reported too, and nothing of it is used. Having no models is
// valid: agents.model_for() says what to write.
Checked<RunSettings> load_settings(const Seams& seams, const HomeDirectories& homes, const std::string& workspace);

// The faults of the workspace's signalbox.yaml, trusted or not. None if it is missing.
Faults workspace_file_faults(const Seams& seams, const HomeDirectories& homes, const std::string& workspace);

// Applies one document to `settings`. The keys of inbox/config.hpp are checked too in the user's file, and rejected in
// the workspace's. Relative paths are below `directory`. Pure.
enum class SettingsOrigin { kUser, kWorkspace };
void read_settings(const Document& document, SettingsOrigin whose, const std::string& directory, RunSettings& settings,
                   Faults& faults, const SettingKeys<RunSettings>& keys = run_keys());

// The workflows of a workspace. Its own replace the user's only where the user trusts them.
Result<workflow::Catalog> open_run_catalog(const Seams& seams, const HomeDirectories& homes,
                                           const std::string& workspace);

// Which part of the run's context a workflow's agents get: as in the settings, else as in its definition.
agent::ContextSpec isolation_of(const RunSettings& settings, const workflow::Definition& definition);

// The files that contain secrets: keys of models, the forge's token. Hidden from everything that agents or checks run.
std::vector<std::string> secret_files(const RunSettings& settings);

// Everything that controls a run. Secrets are stored as names.
Value to_value(const RunSettings& settings, const SettingKeys<RunSettings>& keys = run_keys());
// The reverse; kInvalid if to_value() did not make the value.
Result<RunSettings> settings_from(const Value& value, const SettingKeys<RunSettings>& keys = run_keys());
std::string_view to_string(MergePolicy policy);

}  // namespace sb::pipeline
