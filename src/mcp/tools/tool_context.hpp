// What one worker needs to run tools. Nothing is opened until it is needed: listing tools needs no store, and
// validating a workflow needs only the catalog.
//
// Not thread-safe; every worker has its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/seams.hpp"
#include "engine/session/session_home.hpp"
#include "mcp/call.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::mcp {

class WorkerContext {
 public:
  // The seams must outlive it.
  explicit WorkerContext(const Seams& seams) : seams_(seams) {}

  const Seams& seams() const { return seams_; }
  Files& files() const { return seams_.files; }
  Result<HomeDirectories> homes() const { return sb::homes(seams_.environment); }

  // The user's home, with current configuration and operators. If it cannot be opened, the next call tries again; if
  // its file was removed or replaced, it is reopened, so that nothing is written where no one will read it.
  Result<engine::SessionHome*> home();
  // The current catalog; unchanged files are not read again.
  Result<workflow::Catalog> catalog(const std::string& workspace);
  // The folder the server was started in, for calls that name no workspace.
  Result<std::string> workspace_here() const;
  Result<workflow::Catalog> catalog_here();

 private:
  Seams seams_;
  std::unique_ptr<engine::SessionHome> home_;
  std::uint64_t store_identity_ = 0;
  workflow::SourceCache sources_;
};

// For ContinueRequest::should_continue: while a step's command runs, the client of this call is sent progress, and may
// cancel it. The call must outlive it.
std::function<bool()> progress_until_cancelled(const Call& call);

}  // namespace sb::mcp
