#include "hook/install/installed_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb::hook {
namespace {

std::string installed_file(const HomeDirectories& homes) {
  return join_path(homes.data, "hook-settings.json");
}

Result<Value> read_all(const Files& files, const HomeDirectories& homes) {
  const auto text = files.read(installed_file(homes), limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return Value::object();
  if (!text) return std::unexpected(text.error());
  auto all = parse_json(*text);
  if (all && all->is_object()) return all;
  return fail(ErrorCode::kCorrupt, "is not a valid list of settings", "Remove it", {installed_file(homes), "", 0, 0});
}

Status write_all(Files& files, const HomeDirectories& homes, const Value& all) {
  SB_TRY(files.make_directories(homes.data, 0700));
  return files.write_atomic(installed_file(homes), to_pretty_json(all) + "\n", 0600);
}

}  // namespace

bool InstallRecord::has_created(std::string_view name) const {
  return std::ranges::find(made, name) != made.end();
}

void InstallRecord::add(std::string_view name) {
  if (!has_created(name)) made.emplace_back(name);
}

void InstallRecord::add_number(std::string_view name, int number) {
  if (!this->number(name)) made.push_back(fmt::format("{} {}", name, number));
}

std::optional<int> InstallRecord::number(std::string_view name) const {
  for (const std::string& each : made) {
    if (!each.starts_with(name) || each.size() < name.size() + 2 || each[name.size()] != ' ') continue;
    int number = 0;
    const auto [end, error] = std::from_chars(each.data() + name.size() + 1, each.data() + each.size(), number);
    if (error == std::errc() && end == each.data() + each.size()) return number;
  }
  return std::nullopt;
}

Result<std::optional<InstallRecord>> find_install_record(const Files& files, const HomeDirectories& homes,
                                                         const std::string& path) {
  const Value all = SB_TRY(read_all(files, homes));
  const Value* kept = all.find(path);
  if (!kept || !(*kept)["made"].is_array()) return std::nullopt;
  InstallRecord installed{{}, kept->string_at("backup").value_or("")};
  for (const Value& name : (*kept)["made"].items()) {
    if (name.is_string()) installed.add(name.as_string());
  }
  return installed;
}

Status save_install_record(Files& files, const HomeDirectories& homes, const std::string& path,
                           const InstallRecord& installed) {
  Value all = SB_TRY(read_all(files, homes));
  all.set(path, Value::object({{"made", Value::array(installed.made)}, {"backup", installed.backup}}));
  return write_all(files, homes, all);
}

Status remove_install_record(Files& files, const HomeDirectories& homes, const std::string& path) {
  Value all = SB_TRY(read_all(files, homes));
  if (!all.find(path)) return {};
  all.erase(path);
  return all.size() == 0 ? files.remove(installed_file(homes)) : write_all(files, homes, all);
}

}  // namespace sb::hook
