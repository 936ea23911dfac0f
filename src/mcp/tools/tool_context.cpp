#include "mcp/tools/tool_context.hpp"

#include <fmt/format.h>

#include "engine/session/workspace_facts.hpp"

namespace sb::mcp {

Result<engine::SessionDesk*> ToolBench::desk() {
  const auto identity = [this]() -> std::uint64_t {
    const auto homes = this->homes();
    return homes ? seams_.files.status(inbox::store_path(*homes)).identity : 0;
  };
  if (desk_ && identity() != store_identity_) desk_.reset();
  if (!desk_) {
    desk_ = SB_TRY(engine::SessionDesk::open(seams_, engine::Surface::kTools));
    desk_->commands().watch([this] { return keeps_going(); });
    store_identity_ = identity();
  }
  SB_TRY(desk_->desk().refresh(seams_.files));
  return desk_.get();
}

bool ToolBench::keeps_going() {
  ++waited_s_;
  if (call_ == nullptr) return true;
  if (call_->sink != nullptr) {
    call_->sink->progress(waited_s_, {}, fmt::format("The step's command has been running for {} s", waited_s_));
  }
  return !call_->is_cancelled || !call_->is_cancelled->load();
}

Result<workflow::Catalog> ToolBench::catalog(const std::string& workspace) {
  const Homes homes = SB_TRY(this->homes());
  return workflow::Catalog::open(
      seams_.files, seams_.environment, homes,
      {.workspace = workspace, .strongest = {}, .cache = &sources_, .on_file = {}, .lister = "list_workflows"});
}

Result<std::string> ToolBench::workspace_here() const {
  return engine::find_workspace(seams_.files, "");
}

Result<workflow::Catalog> ToolBench::catalog_here() {
  return catalog(SB_TRY(workspace_here()));
}

}  // namespace sb::mcp
