#include "sandbox/visible_paths.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <set>

#include "base/document/document.hpp"
#include "base/git_origin.hpp"
#include "base/text.hpp"
#include "sandbox/data.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::sandbox {
namespace {

constexpr std::int64_t kGitMs = 20'000;
constexpr std::size_t kListBytes = 16u << 20;
constexpr std::size_t kModuleConfigBytes = 64u << 10;
constexpr int kModuleDepth = 16;
constexpr int kSystemDepth = 64;

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

constexpr int kUnreadable = -1;

// Visits every entry below a folder without following links: its path and its type as in dirent. `enters`: whether to
// go on below it. What cannot be looked into is visited again as kUnreadable.
Status walk(const std::string& top, const std::set<std::string>& skipped,
            const std::function<bool(const std::string& path, int type)>& enters) {
  std::size_t count = 0;
  for (std::vector<std::string> open = {top}; !open.empty();) {
    const std::string folder = std::move(open.back());
    open.pop_back();
    const int descriptor =
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (folder == top ? 0 : O_NOFOLLOW));
    DIR* entries = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
    if (entries == nullptr) {
      if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) enters(folder, kUnreadable);
      continue;
    }
    while (const dirent* entry = ::readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      ++count;
      std::string path = join_path(folder, name);
      struct stat status{};
      const bool is_unknown = entry->d_type == DT_UNKNOWN && ::lstat(path.c_str(), &status) == 0;
      const int type = is_unknown ? static_cast<int>(IFTODT(status.st_mode)) : entry->d_type;
      if (!skipped.contains(path) && enters(path, type)) open.push_back(std::move(path));
    }
    ::closedir(entries);
    if (count > limits::kVisibleEntries) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{} has more than {} files; too many to look for sockets among them", top,
                              limits::kVisibleEntries),
                  "Run in a smaller folder, and name smaller ones in sandbox: {read: […]}");
    }
  }
  return {};
}

// Dependencies, caches and build output, without which tools do not work. A name may begin with one `*`.
bool is_kept(std::string_view name, bool is_folder) {
  static const std::vector<std::string> kFolders = listed("kept_folders"), kFiles = listed("kept_files");
  return std::ranges::any_of(is_folder ? kFolders : kFiles, [&](std::string_view kept) {
    return kept.starts_with('*') ? name.ends_with(kept.substr(1)) : name == kept;
  });
}

// The nearest folder that is one of git's.
std::string checkout_above(const Files& files, std::string folder) {
  while (files.kind(join_path(folder, ".git")) == FileKind::kMissing) {
    if (folder == "/") return {};
    folder = parent_path(folder);
  }
  return folder;
}

struct IgnoredPaths {
  std::vector<std::string> hidden;
  std::set<std::string> kept;
};

// Of one checkout, in `part` of it.
Status add_ignored(const Seams& seams, const std::string& checkout, const std::string& part, IgnoredPaths& ignored) {
  // Nothing that the repository configures is run.
  Command git{.argv = {"git", "-C", checkout, "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c",
                       "core.hooksPath=/dev/null", "ls-files", "-z", "--others", "--ignored", "--exclude-standard",
                       "--directory"},
              .environment = clean_environment(seams.environment),
              .timeout_ms = kGitMs,
              .max_output_bytes = kListBytes};
  (*git.environment)["GIT_TERMINAL_PROMPT"] = "0";
  // In a partial clone git fetches a missing `.gitignore`, with a command that the repository names.
  (*git.environment)["GIT_ALLOW_PROTOCOL"] = "none";
  if (const auto config = seams.environment.get("XDG_CONFIG_HOME")) (*git.environment)["XDG_CONFIG_HOME"] = *config;
  if (part != checkout)
    git.argv.insert(git.argv.end(), {"--", part.substr(checkout.size() == 1 ? 1 : checkout.size() + 1)});
  const auto listed = seams.process.run(git);
  const std::string why = !listed                    ? listed.error().message
                          : listed->timed_out        ? "git took too long"
                          : listed->output_truncated ? "the list is too long"
                          : listed->code != 0        ? fmt::format("git: {}", first_line(listed->errors))
                                                     : "";
  if (!why.empty()) {
    return fail(ErrorCode::kIo, fmt::format("cannot list the files in {} that git ignores: {}", checkout, why),
                fmt::format("They must be hidden from the command. Make `git -C {} status` work first", checkout));
  }
  for (std::string_view name : split(listed->output, '\0')) {
    const bool is_folder = name.ends_with('/');
    if (is_folder) name.remove_suffix(1);
    std::string path = join_path(checkout, name);
    // A workspace that an outer repository ignores is not part of it.
    if (name.empty() || name == "." || is_within(part, path)) continue;
    if (is_kept(base_name(path), is_folder)) {
      ignored.kept.insert(std::move(path));
    } else {
      ignored.hidden.push_back(std::move(path));
    }
  }
  return {};
}

void add_submodules(const Files& files, const std::string& folder, int depth, std::vector<std::string>& found) {
  const auto names = files.list(folder);
  if (!names || depth == 0) return;
  for (const std::string& name : *names) {
    const std::string path = join_path(folder, name);
    if (files.kind(path) != FileKind::kDirectory) continue;
    if (files.kind(join_path(path, "HEAD")) != FileKind::kFile) {
      add_submodules(files, path, depth - 1, found);  // a name with a slash
      continue;
    }
    const auto config = files.read(join_path(path, "config"), kModuleConfigBytes);
    for (std::string_view line : config ? lines_of(*config) : std::vector<std::string_view>()) {
      constexpr std::string_view kSetting = "worktree = ";
      if (line = trimmed(line); !line.starts_with(kSetting)) continue;
      const auto real = files.canonical(join_path(path, line.substr(kSetting.size())));
      if (real) found.push_back(join_path(*real, ".git"));
    }
    add_submodules(files, join_path(path, "modules"), depth - 1, found);
  }
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

std::vector<std::string> tools_of_every_home(const Files& files, const std::string& home) {
  std::vector<std::string> names = home.empty() ? std::vector<std::string>() : listed("found_in_home");
  std::erase_if(names,
                [&](const std::string& name) { return files.kind(join_path(home, name)) == FileKind::kMissing; });
  return names;
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

Result<std::vector<std::string>> special_files(const std::string& folder, const std::vector<std::string>& hidden) {
  std::vector<std::string> found;
  SB_TRY(walk(folder, {hidden.begin(), hidden.end()}, [&](const std::string& path, int type) {
    if (type == DT_SOCK || type == DT_FIFO || type == kUnreadable) found.push_back(path);
    return type == DT_DIR;
  }));
  if (found.size() <= limits::kSpecialFiles) return found;
  return fail(ErrorCode::kLimit,
              fmt::format("{} has {} sockets and named pipes; at most {} can be hidden from a command", folder,
                          found.size(), limits::kSpecialFiles),
              fmt::format("Delete old ones (find {} -type s -o -type p)", folder));
}

bool is_ours(const Files& files, const HomeDirectories& homes, const std::string& path) {
  return std::ranges::any_of(std::array{homes.data, homes.state, homes.config}, [&](const std::string& own) {
    const auto real = files.canonical(own);
    return real && path != *real && is_within(path, *real);
  });
}

std::vector<std::string> submodules_of(const Files& files, const std::string& work_tree) {
  std::vector<std::string> found;
  const std::vector<std::string> folders = git_folders(files, work_tree);
  if (!folders.empty()) add_submodules(files, join_path(folders.front(), "modules"), kModuleDepth, found);
  std::erase_if(found, [&](const std::string& path) { return !is_within(path, work_tree); });
  return found;
}

Result<CheckoutPaths> checkout_paths(const Seams& seams, const std::string& workspace) {
  IgnoredPaths ignored;
  const std::string top = checkout_above(seams.files, workspace);
  if (!top.empty()) SB_TRY(add_ignored(seams, top, workspace, ignored));
  std::set<std::string> skipped = ignored.kept;
  skipped.insert(ignored.hidden.begin(), ignored.hidden.end());
  std::vector<std::string> nested;
  SB_TRY(walk(workspace, skipped, [&](const std::string& path, int type) {
    const bool is_git = base_name(path) == ".git";
    if (is_git && parent_path(path) != top) nested.push_back(parent_path(path));
    return type == DT_DIR && !is_git;
  }));
  if (nested.size() > limits::kNestedCheckouts) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} has {} checkouts within it; ignored files can be hidden in at most {}", workspace,
                            nested.size(), limits::kNestedCheckouts),
                "Run in a smaller folder");
  }
  for (const std::string& checkout : nested) SB_TRY(add_ignored(seams, checkout, checkout, ignored));
  for (std::string& checkout : nested) checkout = join_path(checkout, ".git");
  if (ignored.hidden.size() <= limits::kIgnoredFiles)
    return CheckoutPaths{std::move(ignored.hidden), std::move(nested)};
  return fail(ErrorCode::kLimit,
              fmt::format("git ignores {} files and folders in {}; at most {} can be hidden from a command",
                          ignored.hidden.size(), workspace, limits::kIgnoredFiles),
              "Delete those you do not need, or move them into one folder (git ls-files --others --ignored "
              "--exclude-standard --directory lists them)");
}

}  // namespace sb::sandbox
