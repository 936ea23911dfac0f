#include "runs/run_environment.hpp"

#include <algorithm>

#include "agent/secrets/secret_value.hpp"
#include "host/loopback_host.hpp"
#include "pipeline/forge/cassette_forge.hpp"
#include "pipeline/forge/make_forge.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/settings/check.hpp"

namespace sb::runs {
namespace {

// Values that are looked for in everything that leaves this machine, besides the keys of models.
Result<std::vector<std::string>> known_secrets(const Seams& seams, const pipeline::Settings& settings,
                                               const std::string& workspace) {
  std::vector<std::string> values = pipeline::secrets_in_configuration(seams, workspace);
  const std::string token = SB_TRY(agent::secret_of(settings.forge.token, seams));
  if (!token.empty()) values.push_back(token);
  return values;
}

}  // namespace

Checked<std::unique_ptr<RunOffice>> RunOffice::open(const Seams& seams, const std::string& workspace,
                                                    Readiness readiness) {
  std::unique_ptr<RunOffice> office(new RunOffice(seams));
  const auto homes = sb::homes(seams.environment);
  if (!homes) return std::unexpected(Faults{homes.error()});
  auto settings = pipeline::load_settings(seams, *homes, workspace);
  if (!settings) return std::unexpected(settings.error());
  // What a later phase would stumble over is told now, before anything costs anything. Ending a run needs none of it.
  if (readiness == Readiness::kToWork) {
    pipeline::SettingsReport report = pipeline::check_settings(seams, *homes, *settings, workspace);
    std::ranges::move(report.missing, std::back_inserter(report.faults));
    if (!report.faults.empty()) return std::unexpected(std::move(report.faults));
  }
  office->settings_ = std::move(*settings);
  if (const Status made = office->put_together(workspace); !made) return std::unexpected(Faults{made.error()});
  return office;
}

Status RunOffice::put_together(const std::string& workspace) {
  workspace_ = workspace;
  desk_ = SB_TRY(engine::SessionDesk::open(seams_));
  http_ = net::make_http_client();
  // A replay asks nobody, and agent programs would.
  if (replayed_.empty()) host_ = host::make_agent_host(seams_, *http_);
  const std::vector<std::string> secrets = SB_TRY(known_secrets(seams_, settings_, workspace));
  forge_ = SB_TRY(make_forge(secrets));
  staff_ = std::make_unique<agent::Staff>(agent::StaffParts{
      .seams = seams_,
      .desk = *desk_,
      .settings = settings_.agents,
      .http = *http_,
      .host = host_.get(),
      .around = [this](auto model, const auto& assignment) { return around(std::move(model), assignment); },
      .sources = [this](const agent::Assignment& parent) { return log().sources(parent.run); },
      .secrets = secrets,
      .secret_files = pipeline::secret_files(settings_)});
  return {};
}

Result<std::unique_ptr<RunOffice>> RunOffice::open_replay(const Seams& seams, const std::string& workspace,
                                                          pipeline::Settings settings, const Played& played) {
  std::unique_ptr<RunOffice> office(new RunOffice(seams));
  office->settings_ = std::move(settings);
  office->replayed_ = played.run;
  office->before_ = played.before;
  SB_TRY(office->put_together(workspace));
  auto cassette = std::make_shared<agent::Cassette>(office->desk_->desk().store(), played.run);
  SB_TRY(cassette->import(played.cassette));
  office->cassettes_[played.run] = std::move(cassette);
  return office;
}

Result<std::unique_ptr<pipeline::Forge>> RunOffice::make_forge(std::vector<std::string> secrets) {
  pipeline::CassetteOf cassette_of = [this](const std::string& run) -> Result<std::shared_ptr<agent::Cassette>> {
    return this->cassette_of(run, SB_TRY(log().state(run)).tree.path);
  };
  const pipeline::ForgeSettings& settings = settings_.forge;
  if (!replayed_.empty()) {
    return pipeline::make_replaying_forge(settings.kind, settings.kind != "local", std::move(cassette_of));
  }
  return pipeline::make_recording_forge(SB_TRY(pipeline::make_forge(seams_, *http_, settings, workspace_)),
                                        std::move(cassette_of), seams_.clock, std::move(secrets));
}

std::string RunOffice::left_at() {
  const std::lock_guard lock(mutex_);
  const auto played = cassettes_.find(replayed_);
  return played == cassettes_.end() ? std::string() : played->second->left_at();
}

void RunOffice::leave_at(std::string place) {
  const std::lock_guard lock(mutex_);
  if (const auto played = cassettes_.find(replayed_); played != cassettes_.end()) {
    played->second->leave_at(std::move(place));
  }
}

// What differs from place to place goes by a name in what is recorded.
std::shared_ptr<agent::Cassette> RunOffice::cassette_of(const std::string& run, const std::string& work_tree) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<agent::Cassette>& cassette = cassettes_[replayed_.empty() ? run : replayed_];
  if (cassette == nullptr) cassette = std::make_shared<agent::Cassette>(desk_->desk().store(), run);
  if (!work_tree.empty()) cassette->name(work_tree, "work tree");
  cassette->name(workspace_, "workspace");
  cassette->name(desk_->desk().homes().data, "data home");
  return cassette;
}

std::unique_ptr<agent::Model> RunOffice::around(std::unique_ptr<agent::Model> model,
                                                const agent::Assignment& assignment) {
  if (assignment.run.empty()) return model;
  auto cassette = cassette_of(assignment.run, assignment.work_tree);
  if (replayed_.empty()) return agent::make_recording(std::move(model), std::move(cassette));
  return agent::make_replaying(model->name(), std::move(cassette), before_);
}

pipeline::Coordinator RunOffice::coordinator(Watching watching) {
  return pipeline::Coordinator({.seams = seams_,
                                .desk = *desk_,
                                .settings = settings_,
                                .forge = *forge_,
                                .staff = *staff_,
                                .secrets = staff_->secrets(),
                                .ask_here = std::move(watching.ask_here),
                                .on_event = std::move(watching.on_event),
                                .on_progress = std::move(watching.on_progress),
                                .keeps_going = std::move(watching.keeps_going)});
}

}  // namespace sb::runs
