#include "engine/command/sandbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::engine {
namespace {

constexpr std::int64_t kTrialMs = 10'000;

// Relative to the user's home. The home itself is not hidden: compilers, package caches and version managers live
// there.
constexpr std::array<std::string_view, 46> kPrivate = {
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".local/share/keyrings",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".kube",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".vault-token",
    ".terraform.d",
    ".terraformrc",
    ".databrickscfg",
    ".snowsql",
    ".oci",
    ".s3cfg",
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".subversion/auth",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".mozilla",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".sqlite_history",
    ".local/share/signalbox",
    ".local/state/signalbox",
};

std::vector<std::string> split_path_list(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// Only from absolute folders: a program of that name in the workspace must not be used.
std::string find_program(const Seams& seams, std::string_view name) {
  for (const std::string& folder : split_path_list(seams.environment.get("PATH").value_or("/usr/bin:/bin"))) {
    const std::string path = join_path(folder, name);
    if (folder.starts_with('/') && seams.files.kind(path) == FileKind::kFile) return path;
  }
  return {};
}

std::vector<std::string> fixed_words(const Sandbox& sandbox) {
  std::vector<std::string> words = {sandbox.program,
                                    "--unshare-all",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--cap-drop",
                                    "ALL",
                                    "--ro-bind",
                                    "/",
                                    "/",
                                    "--dev",
                                    "/dev"};
  if (sandbox.has_own_proc) {
    words.insert(words.end(), {"--proc", "/proc"});
  } else {
    words.insert(words.end(), {"--ro-bind", "/proc", "/proc"});
  }
  // Service sockets live in /run; a read-only mount does not prevent connecting to them.
  words.insert(words.end(), {"--size", "1073741824", "--tmpfs", "/tmp", "--size", "1048576", "--tmpfs", "/run"});
  words.insert(words.end(), {"--ro-bind-try", "/run/current-system", "/run/current-system"});
  return words;
}

}  // namespace

std::string Sandbox::name() const {
  if (!works()) return "none: " + missing;
  return has_own_proc ? "bubblewrap" : "bubblewrap, with the processes outside visible";
}

Sandbox find_sandbox(const Seams& seams) {
  Sandbox sandbox{.program = find_program(seams, "bwrap"), .missing = {}};
  if (!sandbox.works()) return {.program = {}, .missing = "bubblewrap is not installed"};
  for (const bool has_own_proc : {true, false}) {
    sandbox.has_own_proc = has_own_proc;
    std::vector<std::string> words = fixed_words(sandbox);
    words.insert(words.end(), {"--chdir", "/", "--", "/bin/sh", "-c", "exit 0"});
    const auto exit = seams.process.run({.argv = words,
                                         .directory = "/",
                                         .environment = clean_environment(seams.environment),
                                         .timeout_ms = kTrialMs,
                                         .max_output_bytes = 4096});
    if (exit && exit->code == 0 && !exit->timed_out) return sandbox;
    sandbox.missing = !exit             ? exit.error().message
                      : exit->timed_out ? "bubblewrap timed out"
                                        : first_line(exit->errors);
  }
  sandbox.program.clear();
  if (sandbox.missing.empty()) sandbox.missing = "bubblewrap does not work here";
  return sandbox;
}

std::map<std::string, std::string> clean_environment(const Environment& environment) {
  std::map<std::string, std::string> clean = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/"}};
  for (const char* name : {"PATH", "HOME", "LANG", "TERM"}) {
    if (const auto value = environment.get(name)) clean[name] = *value;
  }
  return clean;
}

std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      const std::vector<std::string>& further) {
  std::vector<std::string> wanted = {homes.config, homes.data, homes.state};
  wanted.insert(wanted.end(), further.begin(), further.end());
  if (const auto home = environment.get("HOME")) {
    for (const std::string_view name : kPrivate) wanted.push_back(join_path(*home, name));
  }
  if (const auto config = environment.get("XDG_CONFIG_HOME")) wanted.push_back(*config);
  // What `signalbox mcp install` wrote there makes its reader a person's client; clients keep their logins there, too.
  const std::string home = environment.get("HOME").value_or("/");
  for (const char* name : {"CLAUDE_CONFIG_DIR", "CODEX_HOME"}) {
    const auto folder = environment.get(name);
    if (folder && !is_within(home, *folder)) wanted.push_back(*folder);
  }
  for (std::string& path : inbox::client_config_files(files, homes)) wanted.push_back(std::move(path));
  std::vector<std::string> hidden;
  for (const std::string& path : wanted) {
    if (!path.starts_with('/') || files.kind(path) == FileKind::kMissing) continue;
    if (const auto real = files.canonical(path); real && *real != "/") hidden.push_back(*real);
  }
  std::ranges::sort(hidden);
  hidden.erase(std::unique(hidden.begin(), hidden.end()), hidden.end());
  return hidden;
}

std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const SandboxSpec& place) {
  struct Mount {
    std::string path;
    enum Kind { kWritable, kReadOnly, kHidden } kind;
  };
  std::vector<Mount> mounts = {{place.workspace, place.is_writable ? Mount::kWritable : Mount::kReadOnly}};
  for (const std::string& path : place.writable) mounts.push_back({path, Mount::kWritable});
  for (const std::string& path : place.readable) mounts.push_back({path, Mount::kReadOnly});
  for (const std::string& path : place.sealed) mounts.push_back({path, Mount::kReadOnly});
  for (const std::string& path : place.hidden) mounts.push_back({path, Mount::kHidden});
  // A later mount covers an earlier one, so deeper paths come later: a workspace below a hidden folder is usable, a
  // hidden folder in the workspace is not.
  std::ranges::stable_sort(mounts, [](const Mount& a, const Mount& b) {
    const auto depth = [](const Mount& mount) { return std::ranges::count(mount.path, '/'); };
    return depth(a) != depth(b) ? depth(a) < depth(b) : a.kind < b.kind;
  });
  std::vector<std::string> words = fixed_words(sandbox);
  if (place.has_network) {
    words.insert(words.begin() + 2, "--share-net");
    words.insert(words.end(), {"--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"});
  }
  std::vector<std::string> closing;
  for (const Mount& mount : mounts) {
    const FileKind kind = files.kind(mount.path);
    if (mount.kind != Mount::kHidden) {
      if (kind == FileKind::kMissing) continue;
      words.insert(words.end(), {mount.kind == Mount::kWritable ? "--bind" : "--ro-bind", mount.path, mount.path});
    } else if (kind == FileKind::kDirectory) {
      words.insert(words.end(), {"--size", "1048576", "--tmpfs", mount.path});
      closing.insert(closing.end(), {"--remount-ro", mount.path});
    } else {
      words.insert(words.end(), {"--dev-bind", "/dev/null", mount.path});
    }
  }
  words.insert(words.end(), closing.begin(), closing.end());
  words.insert(words.end(), {"--chdir", place.directory.empty() ? place.workspace : place.directory, "--"});
  return words;
}

std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const std::string& workspace,
                                           const std::vector<std::string>& hidden) {
  // A command that could replace `.git` could choose what git runs for the user, outside the sandbox.
  return sandbox_arguments(sandbox, files,
                           {.workspace = workspace, .sealed = {join_path(workspace, ".git")}, .hidden = hidden});
}

}  // namespace sb::engine
