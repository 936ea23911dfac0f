// The configuration of runs: `signalbox.yaml` of the workspace over `config.yaml` of the user. The workspace's counts
// only while its folder is trusted (`signalbox trust`); an untrusted one is an error that says so, not half a policy.
//
//   base: main
//   branch: {strategy: worktree, prefix: signalbox/}
//   forge: {kind: github, repository: acme/shop, token: $GITHUB_TOKEN}
//   checks: [./check, {name: types, run: npm run types, time: 5m}]
//   merge: ask                    # auto, never
//   on_partial: proceed           # retry_once, escalate
//   protected: [.github/**]
//   tier0: [VISION.md, docs/decisions/*.md]
//   soul: docs/soul.md
//   isolation: {wr.mr-review: {mode: challenger}}
//   phases: {coding: acme.coding}       # other workflows for a phase
//   limits, models, roles, tiers: agent/settings.hpp
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/isolation.hpp"
#include "agent/settings.hpp"
#include "pipeline/delivery.hpp"
#include "pipeline/hand_off.hpp"

namespace sb::pipeline {

enum class MergePolicy { kAsk, kAuto, kNever };

struct ForgeSettings {
  std::string kind = "local";  // local, github
  std::string repository, url, token, remote = "origin";
};

struct Settings {
  agent::AgentSettings agents;
  ForgeSettings forge;
  std::string base = "main", strategy = "worktree", prefix = "signalbox/";
  std::vector<ProjectCheck> checks;
  bool checks_trusted = false;
  std::optional<MergePolicy> merge;  // absent: ask on hosted forges, auto on local
  OnPartial on_partial = OnPartial::kProceed;
  std::vector<std::string> protected_paths, tier0;
  std::string soul;
  std::map<std::string, agent::Wish> isolation;  // by workflow
  std::map<Phase, std::string> phases;           // workflow of each
  int fix_rounds = 2;
  Identity identity;
  std::string hash;  // over everything that steers a run
};

// All faults of both files together, each with file, line and the nearest known key.
Checked<Settings> load_settings(const Seams& seams, const Homes& homes, const std::string& workspace);

}  // namespace sb::pipeline
