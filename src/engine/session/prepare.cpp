#include "engine/session/prepare.hpp"

#include "engine/session/workspace_facts.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::engine {

SessionResult<StartRequest> prepare_start(const Files& files, const workflow::Catalog& catalog, StartOptions options,
                                          Faults* faults) {
  const auto entry = catalog.find(options.workflow_id);
  if (!entry) return std::unexpected(session_error(entry.error()));
  StartRequest start_request;
  auto bundle = catalog.compile(**entry, &start_request.included_origins);
  if (!bundle) {
    const Faults& all = bundle.error();
    if (faults != nullptr) *faults = all;
    return std::unexpected(
        SessionError{"VALIDATION_ERROR", all.front(), Value::object({{"faults", workflow::fault_values(all)}})});
  }
  start_request.bundle = std::move(*bundle);
  start_request.origin = (*entry)->origin;
  start_request.goal = std::move(options.goal);
  start_request.context = std::move(options.context);
  start_request.workspace = std::move(options.workspace);
  start_request.is_autonomous = options.is_autonomous;
  const GitState git = git_state(files, start_request.workspace);
  start_request.repository = git.repository;
  start_request.git_branch = git.branch;
  start_request.git_head = git.head;
  const std::string package = start_request.origin.file.empty() ? "" : parent_path(start_request.origin.file);
  start_request.references =
      resolve_references(files, start_request.bundle.back()->definition, start_request.workspace, package);
  return start_request;
}

}  // namespace sb::engine
