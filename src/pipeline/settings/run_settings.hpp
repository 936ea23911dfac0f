// The configuration of runs: `signalbox.yaml` of the workspace over `config.yaml` of the user. The workspace's counts
// only while its folder is trusted (`signalbox trust`); an untrusted one is an error that says so, not half a policy.
// Where both say something, the workspace's counts; models, roles, tiers, limits, isolation and phases are laid over
// each other member by member, and a path that either protects is protected.
//
//   base: main
//   branch: {strategy: worktree, prefix: signalbox/}
//   forge: {kind: github, repository: acme/shop, token: $GITHUB_TOKEN}
//   checks: [./check, {name: types, run: npm run types, time: 5m}]
//   merge: ask                    # auto, never
//   on_partial: proceed           # retry_once, escalate
//   fix_rounds: 2
//   identity: {name: Signalbox, email: signalbox@localhost}
//   protected: [.github/**]
//   tier0: [VISION.md, docs/decisions/*.md]
//   soul: docs/soul.md
//   isolation: {wr.mr-review: {mode: challenger}}
//   phases: {coding: acme.coding}       # other workflows for a phase
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
  std::vector<ProjectCheck> checks;
  bool checks_trusted = false;
  std::optional<MergePolicy> merge;  // absent: ask on hosted forges, auto on local
  OnPartial on_partial = OnPartial::kProceed;
  std::vector<std::string> protected_paths, tier0;
  std::string soul;
  std::map<std::string, agent::ContextSpec> isolation;  // by workflow
  std::map<Phase, std::string> phases;                  // workflow of each; all are there
  int fix_rounds = 2;
  Identity identity;
  std::string hash;                                             // over everything that steers a run
  std::vector<std::shared_ptr<const Document>> documents = {};  // what they were read from; the last one counts most

  // Where what counts at this pointer is written; no file: nowhere, it is the default.
  SourceLocation location_of(std::string_view pointer) const;
};

const SettingKeys<RunSettings>& run_keys();  // run_keys.hpp

inline constexpr std::string_view kWorkspaceFile = "signalbox.yaml";

// All faults of both files together, each with file, line and the nearest known key. An untrusted signalbox.yaml is the
// one fault kForbidden, and nothing of it is read. No models at all is no fault: agents.model_for() says what to write.
Checked<RunSettings> load_settings(const Seams& seams, const HomeDirectories& homes, const std::string& workspace);

// One document laid over `settings`. Of the user's file the keys of inbox/config.hpp are checked too; the workspace's
// must not have them. Relative paths are below `directory`. Pure.
enum class SettingsOrigin { kUser, kWorkspace };
void read_settings(const Document& document, SettingsOrigin whose, const std::string& directory, RunSettings& settings,
                   Faults& faults, const SettingKeys<RunSettings>& keys = run_keys());

// What of the run's context a workflow's agents are to be given: what the settings say, else its definition.
agent::ContextSpec isolation_of(const RunSettings& settings, const workflow::Definition& definition);

// The files that hold secrets: keys of models, the forge's token. Nothing that agents or checks run sees them.
std::vector<std::string> secret_files(const RunSettings& settings);

// Everything that steers a run; secrets are names.
Value to_value(const RunSettings& settings, const SettingKeys<RunSettings>& keys = run_keys());
// Back; kInvalid when the value is not what to_value makes.
Result<RunSettings> settings_from(const Value& value, const SettingKeys<RunSettings>& keys = run_keys());
std::string_view to_string(MergePolicy policy);

}  // namespace sb::pipeline
