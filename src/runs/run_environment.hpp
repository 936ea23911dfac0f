// Everything needed to drive a run: settings, store, forge, models and agents, assembled once.
//
// Not thread-safe. Not movable: its parts refer to each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agent/cassette/cassette.hpp"
#include "agent/loop/agent_runner.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"
#include "pipeline/run/coordinator.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::runs {

// The observer of a run, who is also asked.
struct RunObserver {
  pipeline::AskInteractively ask_interactively = {};
  std::function<void(const pipeline::RunState&, const pipeline::RunEvent&)> on_event = {};
  agent::OnProgress on_progress = {};
  std::function<bool()> should_continue = {};
};

// The recording that answers instead of models and a forge.
struct ReplaySource {
  std::string run;  // the recorded one
  Value cassette;
  agent::BeforeReply before = {};
};

enum class RunPurpose { kWork, kStopOnly };  // kStopOnly: a run is only stopped

class RunEnvironment {
 public:
  // All faults of the settings and of what they name, or the one error. `workspace`: absolute, links resolved.
  static Checked<std::unique_ptr<RunEnvironment>> open(const Seams& seams, const std::string& workspace,
                                                       RunPurpose readiness = RunPurpose::kWork);
  // With given settings instead of the files', and models and a forge that answer from a recording.
  static Result<std::unique_ptr<RunEnvironment>> open_replay(const Seams& seams, const std::string& workspace,
                                                             pipeline::RunSettings settings,
                                                             const ReplaySource& played);

  engine::SessionHome& home() { return *home_; }
  // For a replay: where it diverged; empty: it has not.
  std::string diverged_at();
  void mark_divergence(std::string place);
  const pipeline::RunSettings& settings() const { return settings_; }
  pipeline::Forge& forge() { return *forge_; }
  pipeline::RunLog log() { return {home_->home().store(), seams_.clock}; }
  pipeline::Coordinator coordinator(RunObserver observer);

 private:
  explicit RunEnvironment(const Seams& seams) : seams_(seams) {}
  Status assemble(const std::string& workspace);
  std::shared_ptr<agent::Cassette> cassette_of(const std::string& run, const std::string& work_tree);
  Result<std::unique_ptr<pipeline::Forge>> make_forge(std::vector<std::string> secrets);
  std::unique_ptr<agent::Model> wrap_model(std::unique_ptr<agent::Model> model, const agent::Assignment& assignment,
                                           const agent::ModelSettings& chosen);

  Seams seams_;
  std::string workspace_;
  pipeline::RunSettings settings_;
  std::vector<std::string> secrets_;  // known values
  std::unique_ptr<engine::SessionHome> home_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<agent::AgentHost> host_;
  std::unique_ptr<pipeline::Forge> forge_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<agent::Cassette>> cassettes_;  // by run; in a replay one, of the recorded run
  std::string replayed_;                                               // the recorded run; empty: not a replay
  agent::BeforeReply before_;
  std::unique_ptr<agent::AgentRunner> runner_;
};

}  // namespace sb::runs
