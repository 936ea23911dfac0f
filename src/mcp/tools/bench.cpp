#include "mcp/tools/bench.hpp"

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

}  // namespace sb::mcp
