#include <fmt/format.h>

#include "base/files.hpp"
#include "hook/events/changed_places.hpp"
#include "hook/events/current_step.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "inbox/config.hpp"

namespace sb::hook {
namespace {

// With a configuration that cannot be read, as if there were none: the built-in ones still count.
guard::FileTools users_file_tools(const HookContext& hook_context) {
  const auto homes = sb::homes(hook_context.seams.environment);
  auto config = homes ? inbox::load_config(hook_context.seams.files, *homes) : std::unexpected(homes.error());
  if (config) return std::move(config->file_tools);
  hook_context.log.add(config.error());
  return {};
}

}  // namespace

Result<std::string> before_change(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const auto store = SB_TRY(open_store(seams, store::Access::kReadOnly));
  if (!store) return "";
  const std::string folder = SB_TRY(folder_of(event, seams));
  const std::vector<std::string> folders = session_folders(seams.files, folder);
  auto current = SB_TRY(store->read(
      [&](store::Snapshot& snapshot) { return current_step(snapshot, event, folders, seams.clock.now_ms()); }));
  if (!current || !guard::has_interlock(current->chain)) return "";
  const guard::ToolChange change = guard::change_of(event.tool, event.tool_input, users_file_tools(hook_context));
  if (change.kind == guard::ToolChange::Kind::kNothing) return "";
  for (guard::OpenStep& step : current->chain) {
    if (const auto canonical = seams.files.canonical(step.workspace)) step.workspace = *canonical;
  }
  const ChangedPlaces places(seams, change.folder.starts_with('/') ? change.folder : join_path(folder, change.folder),
                             current->step().workspace);
  for (guard::OpenStep& step : current->chain) step.workspace = places.mapped(step.workspace);
  const auto reason = guard::refuse_change(current->chain, change, places.temporary(),
                                           [&](const std::string& path) { return places.of(path); });
  if (!reason) return "";
  if (current->is_used) return deny_response(*reason);
  return deny_response(
      fmt::format("{} If your work is not part of session {}, tell the person: `signalbox session stop {}` ends it.",
                  *reason, current->step().session, current->step().session));
}

}  // namespace sb::hook
