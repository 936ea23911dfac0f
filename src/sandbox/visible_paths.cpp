#include "sandbox/visible_paths.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "sandbox/data.hpp"
#include "sandbox/limits.hpp"

namespace sb::sandbox {
namespace {

constexpr std::int64_t kGitMs = 20'000;
constexpr std::size_t kListBytes = 16u << 20;
constexpr int kSystemDepth = 5;

// Built in, therefore valid.
std::vector<std::string> listed(std::string_view name) {
  const auto document = parse_document("paths.yaml", std::string(data_file("paths.yaml")));
  std::vector<std::string> paths;
  if (!document) return paths;
  for (const Value& path : document->root[name].items()) paths.push_back(path.as_string());
  return paths;
}

void keep_existing(const Files& files, std::vector<std::string>& paths) {
  std::erase_if(
      paths, [&](const std::string& path) { return !path.starts_with('/') || files.kind(path) == FileKind::kMissing; });
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
}

bool is_of_the_system(const std::string& path) {
  return std::ranges::any_of(system_folders(), [&](const std::string& folder) { return is_within(path, folder); });
}

void add_tool_folder(std::vector<std::string>& paths, std::string folder, const std::string& home) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!folder.starts_with('/') || folder == "/" || folder == home || is_of_the_system(folder)) return;
  if (folder.ends_with("/node_modules/.bin")) folder = parent_path(folder);
  paths.push_back(folder);
  const std::string above = parent_path(folder);
  if (base_name(folder) != "bin" || above == home || above == "/") return;
  for (const char* name : {"lib", "libexec"}) paths.push_back(join_path(above, name));
}

// Entries that only root may read. Files has no owners and modes, which nothing else needs.
void add_private(const std::string& folder, int depth, std::size_t& left, std::vector<std::string>& found) {
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  for (const dirent* entry = nullptr; left > 0 && (entry = ::readdir(entries)) != nullptr; --left) {
    const std::string name = entry->d_name;
    const std::string path = join_path(folder, name);
    struct stat status{};
    if (name == "." || name == ".." || ::lstat(path.c_str(), &status) != 0) continue;
    const bool is_folder = S_ISDIR(status.st_mode);
    if (!is_folder && !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & S_IROTH) == 0) {
      found.push_back(path);
    } else if (is_folder && depth > 0) {
      add_private(path, depth - 1, left, found);
    }
  }
  ::closedir(entries);
}

}  // namespace

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> kFolders = {"/usr",    "/bin", "/sbin", "/lib",       "/lib32",     "/lib64",
                                                    "/libx32", "/etc", "/opt",  "/nix/store", "/gnu/store", "/snap"};
  return kFolders;
}

std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      const std::vector<std::string>& further) {
  std::vector<std::string> wanted = {homes.config, homes.data, homes.state};
  wanted.insert(wanted.end(), further.begin(), further.end());
  if (const auto home = environment.get("HOME")) {
    static const std::vector<std::string> kPrivate = listed("private");
    for (const std::string& name : kPrivate) wanted.push_back(join_path(*home, name));
  }
  if (const auto config = environment.get("XDG_CONFIG_HOME")) wanted.push_back(*config);
  // Clients keep their logins and our secrets there. The home itself stays: the tools a command needs are in it.
  const std::string home_folder = environment.get("HOME").value_or("/");
  for (const char* name : {"CLAUDE_CONFIG_DIR", "CODEX_HOME"}) {
    const auto folder = environment.get(name);
    if (folder && !is_within(home_folder, *folder)) wanted.push_back(*folder);
  }
  std::vector<std::string> hidden;
  for (const std::string& path : wanted) {
    if (!path.starts_with('/') || files.kind(path) == FileKind::kMissing) continue;
    if (const auto real = files.canonical(path); real && *real != "/") hidden.push_back(*real);
  }
  std::ranges::sort(hidden);
  hidden.erase(std::unique(hidden.begin(), hidden.end()), hidden.end());
  return hidden;
}

std::string users_home(const Files& files, const Environment& environment) {
  const auto named = environment.get("HOME");
  if (!named || !named->starts_with('/')) return {};
  const auto real = files.canonical(*named);
  return real && *real != "/" && !is_of_the_system(*real) ? *real : std::string();
}

std::vector<std::string> tool_paths(const Files& files, const Environment& environment) {
  std::vector<std::string> paths;
  const std::string home = users_home(files, environment);
  if (!home.empty()) {
    static const std::vector<std::string> kTools = listed("tools");
    for (const std::string& name : kTools) paths.push_back(join_path(home, name));
  }
  const std::string folders = environment.get("PATH").value_or("");
  for (const std::string_view folder : split(folders, ':')) {
    add_tool_folder(paths, std::string(folder), home);
  }
  keep_existing(files, paths);
  return paths;
}

std::vector<std::string> program_paths(const Files& files, const std::string& program) {
  std::vector<std::string> paths = {program};
  if (const auto real = files.canonical(program)) {
    paths.push_back(*real);
    const std::size_t modules = real->rfind("/node_modules/");
    const std::string folder = modules == std::string::npos
                                   ? parent_path(*real)
                                   : real->substr(0, modules + std::string_view("/node_modules").size());
    add_tool_folder(paths, folder, "");
  }
  std::erase_if(paths, is_of_the_system);
  keep_existing(files, paths);
  return paths;
}

std::vector<std::string> private_system_files() {
  std::vector<std::string> found;
  if (::geteuid() != 0) return found;
  std::size_t left = limits::kSystemEntries;
  for (const char* folder : {"/etc", "/opt", "/usr/local"}) add_private(folder, kSystemDepth, left, found);
  return found;
}

std::vector<std::string> sockets_below(const Files& files, const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  const auto table = files.read("/proc/net/unix", kListBytes);
  for (const std::string_view line : table ? lines_of(*table) : std::vector<std::string_view>()) {
    const std::size_t at = line.find(" /");
    if (at == std::string_view::npos) continue;
    const std::string path(line.substr(at + 1));
    const bool is_shown =
        std::ranges::any_of(folders, [&](const std::string& folder) { return is_within(path, folder); });
    if (is_shown && files.kind(path) == FileKind::kOther) found.push_back(path);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::string> ignored_files(const Seams& seams, const HomeDirectories& homes, const std::string& workspace) {
  for (const std::string& own : {homes.data, homes.state, homes.config}) {
    const auto real = seams.files.canonical(own);
    if (real && workspace != *real && is_within(workspace, *real)) return {};
  }
  if (seams.files.kind(join_path(workspace, ".git")) == FileKind::kMissing) return {};
  // Nothing that the repository configures is run.
  const auto exit = seams.process.run(
      {.argv = {"git", "-C", workspace, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files",
                "-z", "--others", "--ignored", "--exclude-standard", "--directory"},
       .environment =
           std::map<std::string, std::string>{{"PATH", seams.environment.get("PATH").value_or("/usr/bin:/bin")},
                                              {"HOME", seams.environment.get("HOME").value_or("/")},
                                              {"GIT_TERMINAL_PROMPT", "0"}},
       .timeout_ms = kGitMs,
       .max_output_bytes = kListBytes});
  std::vector<std::string> found;
  if (!exit || exit->code != 0) return found;
  for (const std::string_view name : split(exit->output, '\0')) {
    if (name.empty() || name.ends_with('/')) continue;
    if (found.size() >= limits::kIgnoredFiles) break;
    found.push_back(join_path(workspace, name));
  }
  return found;
}

}  // namespace sb::sandbox
