#include "mcp/tools/bench.hpp"

#include "engine/workspace_facts.hpp"

namespace sb::mcp {

Result<engine::SessionDesk*> ToolBench::desk() {
  if (!desk_) desk_ = SB_TRY(engine::SessionDesk::open(seams_));
  SB_TRY(desk_->desk().refresh(seams_.files));
  return desk_.get();
}

Result<workflow::Catalog> ToolBench::catalog(const std::string& workspace) {
  const Homes homes = SB_TRY(this->homes());
  return workflow::Catalog::open(seams_.files, seams_.environment, homes,
                                 {.workspace = workspace, .strongest = {}, .cache = &sources_, .on_file = {}});
}

Result<std::string> ToolBench::workspace_here() const {
  return engine::find_workspace(seams_.files, "");
}

Result<workflow::Catalog> ToolBench::catalog_here() {
  return catalog(SB_TRY(workspace_here()));
}

}  // namespace sb::mcp
