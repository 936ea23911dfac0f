#include "runs/run_environment.hpp"

#include <algorithm>

#include "agent/model/prices.hpp"
#include "agent/secrets/secret_value.hpp"
#include "host/loopback_host.hpp"
#include "pipeline/forge/cassette_forge.hpp"
#include "pipeline/forge/forges.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/settings/check.hpp"
#include "runs/known_secrets.hpp"

namespace sb::runs {
Checked<std::unique_ptr<RunEnvironment>> RunEnvironment::open(const Seams& seams, const std::string& workspace,
                                                              RunPurpose readiness) {
  std::unique_ptr<RunEnvironment> run_environment(new RunEnvironment(seams));
  const auto homes = sb::homes(seams.environment);
  if (!homes) return std::unexpected(Faults{homes.error()});
  auto settings = pipeline::load_settings(seams, *homes, workspace);
  if (!settings) return std::unexpected(settings.error());
  // Report now what a later phase would fail on, before anything costs anything. Stopping a run needs none of it.
  if (readiness == RunPurpose::kWork) {
    pipeline::SettingsReport report = pipeline::check_settings(seams, *homes, *settings, workspace);
    std::ranges::move(report.missing, std::back_inserter(report.faults));
    if (!report.faults.empty()) return std::unexpected(std::move(report.faults));
  }
  run_environment->settings_ = std::move(*settings);
  if (const Status made = run_environment->assemble(workspace); !made) return std::unexpected(Faults{made.error()});
  return run_environment;
}

Status RunEnvironment::assemble(const std::string& workspace) {
  workspace_ = workspace;
  home_ = SB_TRY(engine::SessionHome::open(seams_, engine::Surface::kWorkers));
  http_ = net::make_http_client();
  // A replay makes no requests; agent programs would.
  if (replayed_.empty()) host_ = host::make_agent_host(seams_, *http_);
  // One that is named and cannot be read is an error now, not later.
  SB_TRY(agent::secret_of(settings_.forge.token, seams_));
  secrets_ = known_secrets(seams_, settings_, workspace);
  forge_ = SB_TRY(make_forge(secrets_));
  runner_ = std::make_unique<agent::AgentRunner>(agent::AgentRunnerParts{
      .seams = seams_,
      .home = *home_,
      .settings = settings_.agents,
      .http = *http_,
      .host = host_.get(),
      .wrap_model = [this](auto model, const auto& assignment,
                           const auto& chosen) { return wrap_model(std::move(model), assignment, chosen); },
      .sources = [this](const agent::Assignment& parent) { return log().sources(parent.run); },
      .secrets = secrets_,
      .secret_files = pipeline::secret_files(settings_)});
  return {};
}

Result<std::unique_ptr<RunEnvironment>> RunEnvironment::open_replay(const Seams& seams, const std::string& workspace,
                                                                    pipeline::RunSettings settings,
                                                                    const ReplaySource& played) {
  std::unique_ptr<RunEnvironment> run_environment(new RunEnvironment(seams));
  run_environment->settings_ = std::move(settings);
  run_environment->replayed_ = played.run;
  run_environment->before_ = played.before;
  SB_TRY(run_environment->assemble(workspace));
  auto cassette = std::make_shared<agent::Cassette>(run_environment->home_->home().store(), played.run);
  SB_TRY(cassette->import(played.cassette));
  run_environment->cassettes_[played.run] = std::move(cassette);
  return run_environment;
}

Result<std::unique_ptr<pipeline::Forge>> RunEnvironment::make_forge(std::vector<std::string> secrets) {
  pipeline::CassetteOf cassette_of = [this](const std::string& run) -> Result<std::shared_ptr<agent::Cassette>> {
    return this->cassette_of(run, SB_TRY(log().state(run)).tree.path);
  };
  const pipeline::ForgeSettings& settings = settings_.forge;
  if (!replayed_.empty()) {
    return pipeline::make_replaying_forge(*settings.kind, std::move(cassette_of));
  }
  return pipeline::make_recording_forge(SB_TRY(pipeline::make_forge({seams_, *http_, settings, workspace_})),
                                        std::move(cassette_of), seams_.clock, std::move(secrets));
}

std::string RunEnvironment::diverged_at() {
  const std::lock_guard lock(mutex_);
  const auto played = cassettes_.find(replayed_);
  return played == cassettes_.end() ? std::string() : played->second->diverged_at();
}

void RunEnvironment::mark_divergence(std::string place) {
  const std::lock_guard lock(mutex_);
  if (const auto played = cassettes_.find(replayed_); played != cassettes_.end()) {
    played->second->mark_divergence(std::move(place));
  }
}

// Values that differ between machines are recorded by name.
std::shared_ptr<agent::Cassette> RunEnvironment::cassette_of(const std::string& run, const std::string& work_tree) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<agent::Cassette>& cassette = cassettes_[replayed_.empty() ? run : replayed_];
  if (cassette == nullptr) cassette = std::make_shared<agent::Cassette>(home_->home().store(), run, secrets_);
  if (!work_tree.empty()) cassette->name(work_tree, "work tree");
  cassette->name(workspace_, "workspace");
  cassette->name(home_->home().homes().data, "data home");
  return cassette;
}

std::unique_ptr<agent::Model> RunEnvironment::wrap_model(std::unique_ptr<agent::Model> model,
                                                         const agent::Assignment& assignment,
                                                         const agent::ModelSettings& chosen) {
  if (assignment.run.empty()) return model;
  auto cassette = cassette_of(assignment.run, assignment.work_tree);
  if (replayed_.empty()) {
    return agent::make_recording_model(std::move(model), std::move(cassette),
                                       [chosen](const agent::Usage& usage) { return cost_of(chosen, usage); });
  }
  return agent::make_replaying_model(model->name(), std::move(cassette), before_);
}

pipeline::Coordinator RunEnvironment::coordinator(RunObserver observer) {
  return pipeline::Coordinator({.seams = seams_,
                                .home = *home_,
                                .settings = settings_,
                                .forge = *forge_,
                                .runner = *runner_,
                                .secrets = runner_->secrets(),
                                .ask_interactively = std::move(observer.ask_interactively),
                                .on_event = std::move(observer.on_event),
                                .on_progress = std::move(observer.on_progress),
                                .should_continue = std::move(observer.should_continue)});
}

}  // namespace sb::runs
