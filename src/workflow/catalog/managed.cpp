// The list of managed folders: `sources.json` in the data home.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {
namespace {

std::string path_of(const HomeDirectories& homes) {
  return join_path(homes.data, "sources.json");
}

using AttachedFolder = Catalog::AttachedFolder;

Status save(Files& files, const HomeDirectories& homes, const std::vector<AttachedFolder>& all) {
  Value folders = Value::array(), by_agents = Value::array();
  for (const AttachedFolder& each : all) {
    folders.push_back(each.folder);
    if (each.by == Catalog::AttachedBy::kAgent) by_agents.push_back(each.folder);
  }
  Value value = Value::object({{"v", 1}, {"folders", std::move(folders)}});
  if (by_agents.size() > 0) value.set("byAgents", std::move(by_agents));
  return files.write_atomic(path_of(homes), to_pretty_json(value) + "\n", 0600);
}

Result<std::shared_ptr<void>> lock(Files& files, const HomeDirectories& homes) {
  SB_TRY(files.make_directories(homes.data, 0700));
  return files.lock(join_path(homes.data, "sources.lock"));
}

}  // namespace

Result<std::vector<AttachedFolder>> Catalog::attached(const Files& files, const HomeDirectories& homes) {
  const std::string path = path_of(homes);
  const auto damaged = [&] {
    return fail(ErrorCode::kCorrupt, "the list of managed folders cannot be read",
                "Fix or remove the file, then attach the folders again", {path, "", 0, 0});
  };
  const auto text = files.read(path, limits::kWorkflowBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::vector<AttachedFolder>{};
  if (!text) return std::unexpected(text.error());
  const auto value = parse_json(*text);
  if (!value || !(*value)["folders"].is_array()) return damaged();
  if ((*value)["v"] != Value(1)) {
    return fail(ErrorCode::kUnsupported, "the list of managed folders was written by a newer version",
                "Use a newer signalbox", {path, "", 0, 0});
  }
  const Value* by_agents = value->find("byAgents");
  if (by_agents != nullptr && !by_agents->is_array()) return damaged();
  std::vector<AttachedFolder> all;
  for (const Value& folder : (*value)["folders"].items()) {
    if (!folder.is_string()) return damaged();
    const bool is_agents =
        by_agents != nullptr && std::ranges::find(by_agents->items(), folder) != by_agents->items().end();
    all.push_back({folder.as_string(), is_agents ? AttachedBy::kAgent : AttachedBy::kPerson});
  }
  return all;
}

Status Catalog::attach(Files& files, const HomeDirectories& homes, const std::string& folder, AttachedBy by) {
  if (files.kind(folder) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a folder", quote_json(folder)), "Name a folder");
  }
  const std::string real = SB_TRY(files.canonical(folder));
  const auto held = SB_TRY(lock(files, homes));
  auto all = SB_TRY(attached(files, homes));
  const auto found = std::ranges::find(all, real, &AttachedFolder::folder);
  if (found == all.end()) {
    all.push_back({real, by});
  } else if (found->by == AttachedBy::kPerson || by == AttachedBy::kAgent) {
    return {};
  } else {
    found->by = AttachedBy::kPerson;
  }
  return save(files, homes, all);
}

Status Catalog::detach(Files& files, const HomeDirectories& homes, const std::string& folder) {
  const auto held = SB_TRY(lock(files, homes));
  auto all = SB_TRY(attached(files, homes));
  const auto real = files.canonical(folder);
  const auto found = std::ranges::find_if(
      all, [&](const AttachedFolder& each) { return each.folder == folder || (real && each.folder == *real); });
  if (found == all.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not attached", quote_json(folder)),
                "List attached folders: signalbox workflow source list");
  }
  all.erase(found);
  return save(files, homes, all);
}

}  // namespace sb::workflow
