// Everything a run needs to be driven from here: settings, store, forge, models and agents, put together once.
//
// Not thread-safe. Keep it where it was made: its parts refer to each other.
#pragma once

#include <memory>
#include <string>

#include "agent/staff.hpp"
#include "cli/command.hpp"
#include "net/http_client.hpp"
#include "pipeline/coordinator.hpp"
#include "pipeline/settings.hpp"

namespace sb::cli {

// Who watches a run, and is asked.
struct Watching {
  pipeline::AskHere ask_here = {};
  std::function<void(const pipeline::RunState&, const pipeline::RunEvent&)> on_event = {};
  agent::OnProgress on_progress = {};
  std::function<bool()> keeps_going = {};
};

class RunOffice {
 public:
  // The settings' faults, or the one thing that is wrong. `workspace`: absolute, links resolved.
  static Checked<std::unique_ptr<RunOffice>> open(const Context& context, const std::string& workspace);

  engine::SessionDesk& desk() { return *desk_; }
  const pipeline::Settings& settings() const { return settings_; }
  pipeline::Forge& forge() { return *forge_; }
  pipeline::RunLog log() { return {desk_->desk().store(), context_.seams.clock}; }
  pipeline::Coordinator coordinator(Watching watching);

 private:
  explicit RunOffice(const Context& context) : context_(context) {}
  Status put_together(const std::string& workspace);

  Context context_;
  pipeline::Settings settings_;
  std::unique_ptr<engine::SessionDesk> desk_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<agent::AgentHost> host_;
  std::unique_ptr<pipeline::Forge> forge_;
  std::unique_ptr<agent::Staff> staff_;
};

}  // namespace sb::cli
