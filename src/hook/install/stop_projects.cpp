#include "hook/install/stop_projects.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"

namespace sb::hook {
namespace {

std::string stop_projects_file(const HomeDirectories& homes) {
  return join_path(homes.data, "stop-projects.json");
}

std::string_view name_of(InstallScope scope) {
  return scope == InstallScope::kUser ? "user" : "project";
}

Result<Value> read_projects(const Files& files, const HomeDirectories& homes) {
  const auto text = files.read(stop_projects_file(homes), limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return Value::object();
  if (!text) return std::unexpected(text.error());
  auto projects = parse_json(*text);
  if (projects && projects->is_object()) return projects;
  return fail(ErrorCode::kCorrupt, "is not a valid list of folders", "Remove it and enable them again",
              {stop_projects_file(homes), "", 0, 0});
}

Status change(Files& files, const HomeDirectories& homes, InstallScope scope, const auto& edit) {
  SB_TRY(files.make_directories(homes.data, 0700));
  const auto held = SB_TRY(files.lock(join_path(homes.data, ".stop-projects.lock")));
  Value projects = SB_TRY(read_projects(files, homes));
  Value folders = projects[name_of(scope)].is_array() ? projects[name_of(scope)] : Value::array();
  const Value before = folders;
  edit(folders.items());
  if (folders == before) return {};
  projects.set(name_of(scope), std::move(folders));
  return files.write_atomic(stop_projects_file(homes), to_pretty_json(projects) + "\n", 0600);
}

}  // namespace

Result<bool> is_stop_enabled(const Files& files, const HomeDirectories& homes, std::string_view folder) {
  const Value projects = SB_TRY(read_projects(files, homes));
  for (const InstallScope scope : {InstallScope::kUser, InstallScope::kProject}) {
    const Value& folders = projects[name_of(scope)];
    if (!folders.is_array()) continue;
    const auto covers = [&](const Value& each) { return each.is_string() && is_within(folder, each.as_string()); };
    if (std::ranges::any_of(folders.items(), covers)) return true;
  }
  return false;
}

Status enable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder) {
  return change(files, homes, scope, [&](Value::Array& folders) {
    if (std::ranges::find(folders, Value(folder)) == folders.end()) folders.emplace_back(folder);
  });
}

Status disable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder) {
  if (files.kind(stop_projects_file(homes)) == FileKind::kMissing) return {};
  return change(files, homes, scope, [&](Value::Array& folders) {
    std::erase_if(folders, [&](const Value& each) { return scope == InstallScope::kUser || each == Value(folder); });
  });
}

}  // namespace sb::hook
