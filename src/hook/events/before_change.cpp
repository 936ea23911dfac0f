#include <fmt/format.h>

#include "base/text/path_glob.hpp"
#include "guard/limits.hpp"
#include "hook/events/current_step.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "inbox/config.hpp"

namespace sb::hook {
namespace {

// The path with its links resolved, as far as it exists. A write through a dangling link would go to whatever the link
// points to by then.
std::string resolved(const Files& files, const std::string& path, bool& is_dangling, int depth = 0) {
  if (const auto whole = files.canonical(path)) return *whole;
  if (path == "/" || path.empty() || depth > 128) return path.empty() ? "/" : path;
  const std::string parent = resolved(files, parent_path(path), is_dangling, depth + 1);
  const std::string name = base_name(path);
  if (name == "." || name.empty()) return parent;
  if (name == "..") return parent_path(parent);
  const std::string place = join_path(parent, name);
  const FileStatus status = files.status(place);
  is_dangling = is_dangling || (status.is_link && status.kind == FileKind::kMissing);
  return place;
}

// Hosts remove `..` lexically, the system resolves it through the folders: check both.
guard::PathForms places_of(const Files& files, const std::string& folder, const std::string& path) {
  const std::string whole = path.starts_with('/') ? path : join_path(folder, path);
  if (path.size() > limits::kCheckedPathBytes) return {{whole}, "its path is too long"};
  bool is_dangling = false;
  guard::PathForms places{{resolved(files, lexically_normal(whole), is_dangling)}, {}};
  std::string physical = resolved(files, whole, is_dangling);
  if (physical != places.paths.front()) places.paths.push_back(std::move(physical));
  if (is_dangling) places.blocked_reason = "it is a dangling link";
  return places;
}

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
  auto current = SB_TRY(store->read(
      [&](store::Snapshot& snapshot) { return current_step(snapshot, event, folder, seams.clock.now_ms()); }));
  if (!current || !guard::has_interlock(current->chain)) return "";
  const guard::ToolChange change = guard::change_of(event.tool, event.tool_input, users_file_tools(hook_context));
  if (change.kind == guard::ToolChange::Kind::kNothing) return "";
  for (guard::OpenStep& step : current->chain) {
    if (const auto canonical = seams.files.canonical(step.workspace)) step.workspace = *canonical;
  }
  bool is_dangling = false;
  const std::string temporary = resolved(seams.files, seams.environment.get("TMPDIR").value_or("/tmp"), is_dangling);
  const std::string at = change.folder.starts_with('/') ? change.folder : join_path(folder, change.folder);
  const auto reason = guard::refuse_change(current->chain, change, temporary,
                                           [&](const std::string& path) { return places_of(seams.files, at, path); });
  if (!reason) return "";
  if (current->is_used) return deny_response(*reason);
  return deny_response(
      fmt::format("{} If your work is not part of session {}, tell the person: `signalbox session stop {}` ends it.",
                  *reason, current->step().session, current->step().session));
}

}  // namespace sb::hook
