#include "hook/events/changed_places.hpp"

#include <algorithm>
#include <array>

#include "base/text/path_glob.hpp"
#include "guard/limits.hpp"

namespace sb::hook {
namespace {

// What Claude Code asks its agents to write there: plans, and what they remember of a project. Not its settings and
// instructions.
constexpr std::array<std::string_view, 2> kAgentsOwn = {"plans/**", "projects/*/memory/**"};
constexpr int kMostParents = 128;

// The path with its links resolved, as far as it exists. A write through a dangling link would go to whatever the link
// points to by then.
std::string resolved(const Files& files, const std::string& path, bool& is_dangling, int depth = 0) {
  if (const auto whole = files.canonical(path)) return *whole;
  if (path == "/" || path.empty() || depth > kMostParents) return path.empty() ? "/" : path;
  const std::string parent = resolved(files, parent_path(path), is_dangling, depth + 1);
  const std::string name = base_name(path);
  if (name == "." || name.empty()) return parent;
  if (name == "..") return parent_path(parent);
  const std::string place = join_path(parent, name);
  const FileStatus status = files.status(place);
  is_dangling = is_dangling || (status.is_link && status.kind == FileKind::kMissing);
  return place;
}

std::string resolved(const Files& files, const std::string& path) {
  bool is_dangling = false;
  return resolved(files, path, is_dangling);
}

std::string claude_folder(const Seams& seams, const std::string& home) {
  std::string folder = seams.environment.get("CLAUDE_CONFIG_DIR").value_or("");
  if (folder.empty() && !home.empty()) folder = join_path(home, ".claude");
  return folder.starts_with('/') ? resolved(seams.files, folder) : "";
}

// `place` with `from` in front replaced by `to`.
std::string rebased(const std::string& place, const std::string& from, const std::string& to) {
  std::string_view rest = std::string_view(place).substr(from.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return rest.empty() ? to : join_path(to, rest);
}

}  // namespace

ChangedPlaces::ChangedPlaces(const Seams& seams, std::string folder, const std::string& workspace)
    : seams_(seams),
      folder_(std::move(folder)),
      home_(seams.environment.get("HOME").value_or("")),
      claude_(claude_folder(seams, home_)),
      tree_(git_work_tree(seams.files, workspace)) {}

// Hosts remove `..` lexically, the system resolves it through the folders: check both.
guard::PathForms ChangedPlaces::of(const std::string& path) const {
  const bool is_home = !home_.empty() && (path == "~" || path.starts_with("~/"));  // hosts expand it
  const std::string whole = is_home ? home_ + path.substr(1) : path.starts_with('/') ? path : join_path(folder_, path);
  if (whole.size() > limits::kCheckedPathBytes) return {.paths = {whole}, .blocked_reason = "its path is too long"};
  bool is_dangling = false;
  guard::PathForms places{.paths = {resolved(seams_.files, lexically_normal(whole), is_dangling)},
                          .blocked_reason = {}};
  std::string physical = resolved(seams_.files, whole, is_dangling);
  if (physical != places.paths.front()) places.paths.push_back(std::move(physical));
  if (is_dangling) places.blocked_reason = "it is a dangling link";
  places.is_agents_own = !is_dangling && is_agents_own(places.paths);
  for (std::string& place : places.paths) place = mapped(place);
  return places;
}

std::string ChangedPlaces::mapped(const std::string& place) const {
  if (!tree_) return place;
  const auto other = git_work_tree(seams_.files, place);
  if (!other || other->repository != tree_->repository || other->root == tree_->root) return place;
  return rebased(place, other->root, tree_->root);
}

std::string ChangedPlaces::temporary() const {
  return resolved(seams_.files, seams_.environment.get("TMPDIR").value_or("/tmp"));
}

bool ChangedPlaces::is_agents_own(const std::vector<std::string>& places) const {
  return !claude_.empty() && std::ranges::all_of(places, [&](const std::string& place) {
    return std::ranges::any_of(kAgentsOwn, [&](std::string_view glob) {
      return is_within(place, claude_) && place != claude_ &&
             glob_covers(glob, std::string_view(place).substr(claude_.size() + 1));
    });
  });
}

std::vector<std::string> session_folders(const Files& files, const std::string& folder) {
  std::vector<std::string> folders = with_parents(folder);
  if (folders.size() > limits::kParentFolders) folders.resize(limits::kParentFolders);
  const auto tree = git_work_tree(files, folder);
  const auto main = tree ? main_work_tree(*tree) : std::nullopt;
  const auto root = tree ? std::ranges::find(folders, tree->root) : folders.end();
  if (!main || *main == tree->root || root == folders.end()) return folders;
  std::vector<std::string> others;
  for (auto at = folders.begin(); at != root + 1; ++at) others.push_back(rebased(*at, tree->root, *main));
  folders.insert(root + 1, others.begin(), others.end());
  return folders;
}

}  // namespace sb::hook
