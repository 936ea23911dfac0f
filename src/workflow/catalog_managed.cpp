// The list of managed folders: `sources.json` in the data home.
#include <fmt/format.h>

#include <algorithm>

#include "base/document.hpp"
#include "base/limits.hpp"
#include "workflow/catalog.hpp"

namespace sb::workflow {
namespace {

std::string path_of(const Homes& homes) {
  return join_path(homes.data, "sources.json");
}

Status save(Files& files, const Homes& homes, std::vector<std::string> folders) {
  const Value value = Value::object({{"v", 1}, {"folders", Value::array(std::move(folders))}});
  return files.write_atomic(path_of(homes), to_pretty_json(value) + "\n", 0600);
}

Result<std::shared_ptr<void>> lock(Files& files, const Homes& homes) {
  SB_TRY(files.make_directories(homes.data, 0700));
  return files.lock(join_path(homes.data, "sources.lock"));
}

}  // namespace

Result<std::vector<std::string>> Catalog::attached(const Files& files, const Homes& homes) {
  const std::string path = path_of(homes);
  const auto damaged = [&] {
    return fail(ErrorCode::kCorrupt, "the list of managed folders cannot be read",
                "Mend or remove the file, then attach the folders again", {path, "", 0, 0});
  };
  const auto text = files.read(path, limits::kWorkflowBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::vector<std::string>{};
  if (!text) return std::unexpected(text.error());
  const auto value = parse_json(*text);
  if (!value || !(*value)["folders"].is_array()) return damaged();
  if ((*value)["v"] != Value(1)) {
    return fail(ErrorCode::kUnsupported, "the list of managed folders is of a newer version", "Use a newer signalbox",
                {path, "", 0, 0});
  }
  std::vector<std::string> folders;
  for (const Value& folder : (*value)["folders"].items()) {
    if (!folder.is_string()) return damaged();
    folders.push_back(folder.as_string());
  }
  return folders;
}

Status Catalog::attach(Files& files, const Homes& homes, const std::string& folder) {
  if (files.kind(folder) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a folder", quote_json(folder)), "Name a folder");
  }
  const std::string real = SB_TRY(files.canonical(folder));
  const auto held = SB_TRY(lock(files, homes));
  auto folders = SB_TRY(attached(files, homes));
  if (std::ranges::find(folders, real) != folders.end()) return {};
  folders.push_back(real);
  return save(files, homes, std::move(folders));
}

Status Catalog::detach(Files& files, const Homes& homes, const std::string& folder) {
  const auto held = SB_TRY(lock(files, homes));
  auto folders = SB_TRY(attached(files, homes));
  const auto real = files.canonical(folder);
  const auto found =
      std::ranges::find_if(folders, [&](const std::string& each) { return each == folder || (real && each == *real); });
  if (found == folders.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not attached", quote_json(folder)),
                "`signalbox workflow source list` shows those that are");
  }
  folders.erase(found);
  return save(files, homes, std::move(folders));
}

}  // namespace sb::workflow
