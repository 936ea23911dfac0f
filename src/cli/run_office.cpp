#include "cli/run_office.hpp"

#include <fmt/format.h>

#include "cli/agent_host.hpp"
#include "pipeline/local_forge.hpp"

namespace sb::cli {

Checked<std::unique_ptr<RunOffice>> RunOffice::open(const Context& context, const std::string& workspace) {
  std::unique_ptr<RunOffice> office(new RunOffice(context));
  const auto homes = sb::homes(context.seams.environment);
  if (!homes) return std::unexpected(Faults{homes.error()});
  auto settings = pipeline::load_settings(context.seams, *homes, workspace);
  if (!settings) return std::unexpected(settings.error());
  if (const auto model = settings->agents.model_for("", ""); !model) return std::unexpected(Faults{model.error()});
  office->settings_ = std::move(*settings);
  if (const Status made = office->put_together(workspace); !made) return std::unexpected(Faults{made.error()});
  return office;
}

Status RunOffice::put_together(const std::string& workspace) {
  desk_ = SB_TRY(engine::SessionDesk::open(context_.seams));
  http_ = net::make_http_client();
  host_ = make_agent_host(context_.seams, *http_);
  const pipeline::ForgeSettings& forge = settings_.forge;
  if (forge.kind != "local") {
    return fail(ErrorCode::kUnsupported, fmt::format("the forge {} is not known here", forge.kind),
                "Set forge: {kind: local}");
  }
  forge_ = pipeline::make_local_forge(context_.seams, workspace, forge.remote);
  staff_ = std::make_unique<agent::Staff>(agent::StaffParts{
      .seams = context_.seams, .desk = *desk_, .settings = settings_.agents, .http = *http_, .host = host_.get()});
  return {};
}

pipeline::Coordinator RunOffice::coordinator(Watching watching) {
  return pipeline::Coordinator({.seams = context_.seams,
                                .desk = *desk_,
                                .settings = settings_,
                                .forge = *forge_,
                                .staff = *staff_,
                                .ask_here = std::move(watching.ask_here),
                                .on_event = std::move(watching.on_event),
                                .on_progress = std::move(watching.on_progress),
                                .keeps_going = std::move(watching.keeps_going)});
}

}  // namespace sb::cli
