#include "engine/session/prepare.hpp"

#include "engine/session/workspace_facts.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::engine {

Answered<Starting> prepare_start(const Files& files, const workflow::Catalog& catalog, Wanted wanted, Faults* faults) {
  const auto entry = catalog.find(wanted.workflow_id);
  if (!entry) return std::unexpected(session_error(entry.error()));
  Starting starting;
  auto bundle = catalog.compile(**entry, &starting.borrowed);
  if (!bundle) {
    const Faults& all = bundle.error();
    if (faults != nullptr) *faults = all;
    return std::unexpected(
        SessionError{"VALIDATION_ERROR", all.front(), Value::object({{"faults", workflow::fault_values(all)}})});
  }
  starting.bundle = std::move(*bundle);
  starting.origin = (*entry)->origin;
  starting.goal = std::move(wanted.goal);
  starting.context = std::move(wanted.context);
  starting.workspace = std::move(wanted.workspace);
  starting.is_autonomous = wanted.is_autonomous;
  const GitState git = git_state(files, starting.workspace);
  starting.repository = git.repository;
  starting.git_branch = git.branch;
  starting.git_head = git.head;
  const std::string package = starting.origin.file.empty() ? "" : parent_path(starting.origin.file);
  starting.references = resolve_references(files, starting.bundle.back()->definition, starting.workspace, package);
  return starting;
}

}  // namespace sb::engine
