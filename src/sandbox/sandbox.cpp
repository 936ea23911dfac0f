#include "sandbox/sandbox.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "sandbox/inside.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::sandbox {
namespace {

constexpr std::int64_t kTrialMs = 10'000;
constexpr int kOwnerLevels = 5;
constexpr const char* kNobody = "65534";  // has a name on every system
constexpr std::int64_t kMegabyte = 1 << 20;

// Only from absolute folders: a program of that name in the workspace must not be used.
std::string find_bubblewrap(const Seams& seams) {
  const std::string folders = seams.environment.get("PATH").value_or("/usr/bin:/bin");
  for (const std::string_view folder : split(folders, ':')) {
    const std::string path = join_path(folder, "bwrap");
    if (folder.starts_with('/') && seams.files.kind(path) == FileKind::kFile) return path;
  }
  return {};
}

// This program. A test is another one, which was built in a folder below it.
std::string find_own_program() {
  char* real = ::realpath("/proc/self/exe", nullptr);
  if (real == nullptr) return {};
  std::string path = real;
  ::free(real);
  if (const std::string name = base_name(path); name.starts_with("signalbox") && name.find("hook") == name.npos) {
    return path;
  }
  for (int level = 0; level < kOwnerLevels && path.size() > 1; ++level) {
    path = parent_path(path);
    if (const std::string own = join_path(path, "signalbox"); ::access(own.c_str(), X_OK) == 0) {
      if (char* whole = ::realpath(own.c_str(), nullptr); whole != nullptr) {
        std::string found = whole;
        ::free(whole);
        return found;
      }
    }
  }
  return {};
}

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

void add_temporary(std::vector<std::string>& words, const std::string& path, std::int64_t megabytes) {
  add(words, {"--size", std::to_string(megabytes * kMegabyte), "--tmpfs", path});
}

std::int64_t temporary_mb(const Limits& limits) {
  return std::min(limits::kTemporaryMb, limits.memory_mb);
}

std::vector<std::string> fixed_words(const Sandbox& sandbox) {
  std::vector<std::string> words = {sandbox.program, "--unshare-all", "--unshare-user", "--die-with-parent",
                                    "--as-pid-1",    "--new-session", "--cap-drop",     "ALL"};
  if (sandbox.is_root) add(words, {"--uid", kNobody, "--gid", kNobody});
  for (const std::string& folder : system_folders()) add(words, {"--ro-bind-try", folder, folder});
  // Read-only as a whole: the kernel's settings belong to root, and root outside is the owner of these processes when
  // it runs us.
  if (sandbox.has_own_proc) {
    add(words, {"--proc", "/proc", "--remount-ro", "/proc"});
  } else {
    add(words, {"--ro-bind", "/proc", "/proc"});
  }
  add(words, {"--dev", "/dev"});
  add_temporary(words, "/dev/shm", sandbox.settings.limits.shm_mb);
  add(words, {"--remount-ro", "/dev"});
  for (const char* folder : {"/tmp", "/var/tmp"}) add_temporary(words, folder, temporary_mb(sandbox.settings.limits));
  add_temporary(words, "/run", 1);
  add(words, {"--ro-bind-try", "/run/current-system", "/run/current-system"});
  add(words, {"--ro-bind", sandbox.inside, std::string(kInsideProgram)});
  return words;
}

// The part behind bubblewrap's own `--`.
std::vector<std::string> inside_words(const Limits& limits, const Place& place) {
  std::vector<std::string> words = {std::string(kInsideProgram), std::string(kInsideWord)};
  for (const int port : place.host_ports) add(words, {"--forward", std::to_string(port)});
  if (!place.door.empty()) add(words, {"--proxy", std::to_string(proxy_port(place))});
  add(words, {"--files", std::to_string(limits.open_files), "--processes", std::to_string(limits.processes), "--cpu",
              std::to_string(limits.cpu_s), "--"});
  return words;
}

struct Mount {
  std::string path;
  enum Kind { kEmpty, kWritable, kReadOnly, kHidden } kind;
  std::string from = {};
  bool is_in_tree = false;
};

// Below the workspace or a folder that is writable besides, and not hidden in it.
bool is_writable_part(const Place& place, const std::string& path) {
  const auto is_below = [&](const std::string& top) {
    const auto hides = [&](const std::string& hidden) { return is_within(hidden, top) && is_within(path, hidden); };
    return path != top && is_within(path, top) && std::ranges::none_of(place.hidden, hides);
  };
  return (place.is_writable && is_below(place.workspace)) || std::ranges::any_of(place.writable, is_below);
}

std::vector<Mount> mounts_of(const Sandbox& sandbox, const Files& files, const Place& place) {
  std::vector<Mount> mounts = {{place.workspace, place.is_writable ? Mount::kWritable : Mount::kReadOnly}};
  if (!place.home.empty() && place.home != place.workspace) mounts.push_back({place.home, Mount::kEmpty});
  for (const std::string& path : place.writable) mounts.push_back({path, Mount::kWritable});
  for (const std::string& path : place.readable) mounts.push_back({path, Mount::kReadOnly});
  for (const std::string& path : place.sealed) {
    mounts.push_back({path, Mount::kReadOnly});
    // A folder in which something is mounted cannot be moved away, but one above it can.
    for (std::string above = parent_path(path); is_writable_part(place, above); above = parent_path(above)) {
      mounts.push_back({above, Mount::kWritable});
    }
  }
  for (const std::string& path : place.hidden) mounts.push_back({path, Mount::kHidden});
  for (const std::string& path : sandbox.private_files) mounts.push_back({path, Mount::kHidden});
  for (const Place::Copy& copy : place.elsewhere) {
    mounts.push_back({copy.to, copy.is_writable ? Mount::kWritable : Mount::kReadOnly, copy.from});
  }
  for (Mount& mount : mounts) {
    mount.is_in_tree = mount.path != place.workspace && is_within(mount.path, place.workspace);
  }
  std::vector<std::string> shown = system_folders();
  for (const Mount& mount : mounts) {
    if (mount.kind == Mount::kReadOnly || mount.kind == Mount::kWritable) shown.push_back(mount.path);
  }
  for (std::string& path : sockets_below(files, shown)) mounts.push_back({std::move(path), Mount::kHidden});
  // A later mount covers an earlier one, so deeper paths come later: a workspace below a hidden folder is usable, a
  // hidden folder in the workspace is not.
  std::ranges::stable_sort(mounts, [](const Mount& a, const Mount& b) {
    const auto depth = [](const Mount& mount) { return std::ranges::count(mount.path, '/'); };
    return depth(a) != depth(b) ? depth(a) < depth(b) : a.kind < b.kind;
  });
  return mounts;
}

// Whether the path is there inside, so that something can and must be mounted over it.
bool is_shown(const std::vector<Mount>& mounts, const std::string& path) {
  const auto shows = [&](const Mount& mount) {
    return (mount.kind == Mount::kReadOnly || mount.kind == Mount::kWritable) && is_within(path, mount.path);
  };
  return std::ranges::any_of(mounts, shows) ||
         std::ranges::any_of(system_folders(), [&](const std::string& folder) { return is_within(path, folder); });
}

}  // namespace

std::string Sandbox::own_program() const {
  return works() ? std::string(kInsideProgram) : inside;
}

std::string Sandbox::name() const {
  if (!works()) return "none: " + missing;
  return has_own_proc ? "bubblewrap" : "bubblewrap; processes outside the sandbox are visible";
}

Sandbox find_sandbox(const Seams& seams, const Settings& settings) {
  Sandbox sandbox{.inside = find_own_program(), .settings = settings};
  if (settings.mode == Mode::kNone) {
    sandbox.missing = "turned off by sandbox: {mode: none} in config.yaml";
    return sandbox;
  }
  sandbox.is_root = ::geteuid() == 0;
  sandbox.program = find_bubblewrap(seams);
  if (sandbox.program.empty() || sandbox.inside.empty()) {
    sandbox.missing = sandbox.program.empty() ? "bubblewrap is not installed" : "the program signalbox was not found";
    sandbox.program.clear();
    return sandbox;
  }
  for (const bool has_own_proc : {true, false}) {
    sandbox.has_own_proc = has_own_proc;
    std::vector<std::string> words = fixed_words(sandbox);
    add(words, {"--remount-ro", "/", "--chdir", "/", "--"});
    const std::vector<std::string> start = inside_words(settings.limits, {});
    words.insert(words.end(), start.begin(), start.end());
    add(words, {"/bin/sh", "-c", "exit 0"});
    const auto exit = seams.process.run({.argv = words,
                                         .directory = "/",
                                         .environment = clean_environment(seams.environment),
                                         .timeout_ms = kTrialMs,
                                         .max_output_bytes = 4096});
    if (exit && exit->code == 0 && !exit->timed_out) {
      if (sandbox.is_root) sandbox.private_files = private_system_files();
      // A folder with too many files to look for sockets among them is not shown.
      for (const std::string& folder : tool_paths(seams.files, seams.environment)) {
        const auto special = special_files(folder, {});
        const std::vector<std::string> hidden = special.value_or(std::vector{folder});
        sandbox.private_files.insert(sandbox.private_files.end(), hidden.begin(), hidden.end());
      }
      return sandbox;
    }
    sandbox.missing = !exit             ? exit.error().message
                      : exit->timed_out ? "bubblewrap timed out"
                                        : std::string(first_line(exit->errors));
  }
  sandbox.program.clear();
  if (sandbox.missing.empty()) sandbox.missing = "bubblewrap does not work here";
  return sandbox;
}

Error refusal(const Sandbox& sandbox) {
  return {
      ErrorCode::kForbidden,
      fmt::format("agents need a sandbox, and there is none: {}", sandbox.missing),
      "Install bubblewrap and allow user namespaces (signalbox doctor shows what is missing). To run agents without "
      "a sandbox, where they can read everything you can, write sandbox: {mode: none} into your config.yaml",
      {}};
}

std::map<std::string, std::string> clean_environment(const Environment& environment) {
  std::map<std::string, std::string> clean = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/"}};
  for (const char* name : {"PATH", "HOME", "LANG", "TERM"}) {
    if (const auto value = environment.get(name)) clean[name] = *value;
  }
  return clean;
}

int proxy_port(const Place& place) {
  int port = kProxyPort;
  while (std::ranges::find(place.host_ports, port) != place.host_ports.end()) ++port;
  return port;
}

std::vector<std::string> sandbox_arguments(const Sandbox& sandbox, const Files& files, const Place& place) {
  const std::vector<Mount> mounts = mounts_of(sandbox, files, place);
  std::vector<std::string> words = fixed_words(sandbox);
  if (!place.door.empty()) add(words, {"--ro-bind", place.door, std::string(kInsideDoor)});
  std::vector<std::string> closing = {"--remount-ro", "/run"};
  for (const Mount& mount : mounts) {
    const std::string& from = mount.from.empty() ? mount.path : mount.from;
    const FileKind kind = files.kind(from);
    // An agent may have put a link where a later command has something to seal or hide: bubblewrap would follow it, to
    // any file of the user. What it leads to is absent inside, or hidden itself.
    if (mount.is_in_tree && files.status(mount.path).is_link) continue;
    if (mount.kind == Mount::kEmpty) {
      add_temporary(words, mount.path, temporary_mb(sandbox.settings.limits));
    } else if (kind == FileKind::kMissing) {
      continue;
    } else if (mount.kind != Mount::kHidden) {
      add(words, {mount.kind == Mount::kWritable ? "--bind" : "--ro-bind", from, mount.path});
    } else if (!is_shown(mounts, mount.path)) {
      continue;
    } else if (kind == FileKind::kDirectory) {
      add_temporary(words, mount.path, 1);
      add(closing, {"--remount-ro", mount.path});
    } else {
      add(words, {"--dev-bind", "/dev/null", mount.path});
    }
  }
  words.insert(words.end(), closing.begin(), closing.end());
  add(words, {"--remount-ro", "/", "--chdir", place.directory.empty() ? place.workspace : place.directory, "--"});
  const std::vector<std::string> start = inside_words(sandbox.settings.limits, place);
  words.insert(words.end(), start.begin(), start.end());
  return words;
}

}  // namespace sb::sandbox
