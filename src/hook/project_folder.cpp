#include "hook/project_folder.hpp"

#include <fmt/format.h>

namespace sb::hook {
namespace {

bool is_marked(const Files& files, const std::string& folder, const std::string& home) {
  return files.kind(join_path(folder, ".git")) != FileKind::kMissing ||
         (folder != home && files.kind(join_path(folder, ".claude")) == FileKind::kDirectory);
}

std::string home_of(const Files& files, const Environment& environment) {
  const std::string home = environment.get("HOME").value_or("");
  return files.canonical(home).value_or(home);
}

}  // namespace

std::string find_project(const Files& files, const Environment& environment, const std::string& directory) {
  const std::string home = home_of(files, environment);
  for (std::string folder = directory; !folder.empty(); folder = parent_path(folder)) {
    if (is_marked(files, folder, home)) return folder;
    if (folder == "/") break;
  }
  return directory;
}

Result<std::string> find_writable_project(const Files& files, const Environment& environment,
                                          const std::string& directory) {
  const std::string home = home_of(files, environment);
  std::string project = find_project(files, environment, directory);
  if ((project != "/" && project != home) || is_marked(files, project, home)) return project;
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{} is not a project but {}", project, project == "/" ? "the root folder" : "your home folder"),
      "Change to the project's folder, or omit --project; nothing was changed");
}

}  // namespace sb::hook
