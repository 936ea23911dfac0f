#include "mcp/tools/tool_context.hpp"

#include <fmt/format.h>

#include "engine/session/workspace_facts.hpp"
#include "inbox/operators/trust.hpp"

namespace sb::mcp {

Result<engine::SessionHome*> WorkerContext::home() {
  const auto identity = [this]() -> std::uint64_t {
    const auto homes = this->homes();
    return homes ? seams_.files.status(inbox::store_path(*homes)).identity : 0;
  };
  if (home_ && identity() != store_identity_) home_.reset();
  if (!home_) {
    home_ = SB_TRY(engine::SessionHome::open(seams_, engine::Surface::kTools));
    store_identity_ = identity();
  }
  SB_TRY(home_->home().refresh(seams_.files));
  return home_.get();
}

std::function<bool()> progress_until_cancelled(const Call& call) {
  return [&call, waited_s = 0]() mutable {
    ++waited_s;
    if (call.sink != nullptr) {
      call.sink->progress(waited_s, {}, fmt::format("The step's command has been running for {} s", waited_s));
    }
    return !call.is_cancelled || !call.is_cancelled->load();
  };
}

Result<workflow::Catalog> WorkerContext::catalog(const std::string& workspace) {
  const HomeDirectories homes = SB_TRY(this->homes());
  return workflow::Catalog::open(seams_.files, seams_.environment, homes,
                                 {.workspace = workspace,
                                  .overrides = {},
                                  .cache = &sources_,
                                  .is_trusted = inbox::file_trust(seams_.files, homes),
                                  .on_file = {},
                                  .list_command = "list_workflows"});
}

Result<std::string> WorkerContext::workspace_here() const {
  return engine::find_workspace(seams_.files, "");
}

Result<workflow::Catalog> WorkerContext::catalog_here() {
  return catalog(SB_TRY(workspace_here()));
}

}  // namespace sb::mcp
