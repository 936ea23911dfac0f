#include "sandbox/enclosed_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "base/text.hpp"
#include "sandbox/door.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::sandbox {
namespace {

constexpr std::size_t kGroupFileBytes = 65'536;
constexpr int kGroupLevels = 8;
constexpr std::array<const char*, 6> kDevices = {"/dev/null",   "/dev/zero",    "/dev/full",
                                                 "/dev/random", "/dev/urandom", "/dev/tty"};

// The settings name files and folders as people do.
std::string path_of(const std::string& name, const std::string& home, const std::string& workspace) {
  if (name.starts_with('/')) return name;
  if (name.starts_with("~/")) return home.empty() ? std::string() : join_path(home, name.substr(2));
  return join_path(workspace, name);
}

// What nothing but looking at every file finds: sockets with a relative name or of another network namespace. In our
// own folders there are none: only agents and we make files there.
Status hide_special_files(const Seams& seams, const HomeDirectories& homes, std::vector<std::string> shown,
                          Place& place) {
  for (const std::string& folder : shown) {
    if (is_ours(seams.files, homes, folder)) continue;
    for (std::string& path : SB_TRY(special_files(folder, place.hidden))) place.hidden.push_back(std::move(path));
  }
  return {};
}

Status add_settings(const Seams& seams, const HomeDirectories& homes, const Settings& settings, Place& place) {
  place.home = users_home(seams.files, seams.environment);
  std::vector<std::string> named;
  for (const std::string& name : settings.read) {
    std::string path = path_of(name, place.home, place.workspace);
    if (!path.empty()) named.push_back(std::move(path));
  }
  // A command that replaces the `.git` of a submodule chooses what git runs for the user there, outside the sandbox.
  std::vector<std::string> ignored;
  std::vector<std::string> nested = submodules_of(seams.files, place.workspace);
  if (!is_ours(seams.files, homes, place.workspace)) {
    CheckoutPaths found = SB_TRY(checkout_paths(seams, place.workspace));
    ignored = std::move(found.ignored);
    nested = std::move(found.nested);
  }
  place.sealed.insert(place.sealed.end(), nested.begin(), nested.end());
  std::vector<std::string> shown = place.readable;
  shown.insert(shown.end(), place.writable.begin(), place.writable.end());
  shown.push_back(place.workspace);
  for (std::string& path : tool_paths(seams.files, seams.environment)) {
    // Tools of the project itself belong to the work; those of a home that is the workspace do not.
    const bool is_of_the_project = is_within(path, place.workspace) && place.workspace != place.home;
    if (!is_of_the_project) place.readable.push_back(std::move(path));
  }
  std::vector<std::string> behind_links;
  for (std::string& path : named) {
    const auto real = seams.files.canonical(path);
    // Our own homes and keys stay hidden whatever is named around them; a file named itself is shown.
    if (real) std::erase(place.hidden, *real);
    // Where a link is named, what is hidden below its target would be visible below the link.
    for (const std::string& hidden : real && *real != path ? place.hidden : std::vector<std::string>()) {
      if (is_within(hidden, *real)) behind_links.push_back(path + hidden.substr(real->size()));
    }
    const auto is_around = [&](const std::string& hidden) { return is_within(path, hidden) && path != hidden; };
    std::erase_if(ignored, [&](const std::string& hidden) { return is_within(hidden, path); });
    shown.push_back(path);
    if (!is_within(path, place.workspace) || std::ranges::any_of(ignored, is_around)) {
      place.readable.push_back(std::move(path));
    }
  }
  place.hidden.insert(place.hidden.end(), ignored.begin(), ignored.end());
  place.hidden.insert(place.hidden.end(), behind_links.begin(), behind_links.end());
  return hide_special_files(seams, homes, std::move(shown), place);
}

// How programs find a proxy.
void add_proxy(const Place& place, std::map<std::string, std::string>& environment) {
  const std::string url = fmt::format("http://127.0.0.1:{}", proxy_port(place));
  for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    environment.emplace(name, url);
  }
  for (const char* name : {"no_proxy", "NO_PROXY"}) environment.emplace(name, "127.0.0.1,localhost");
  environment.emplace("NODE_USE_ENV_PROXY", "1");
}

std::string one_value(const Files& files, const std::string& path) {
  return without_trailing_newlines(files.read(path, kGroupFileBytes).value_or(""));
}

bool write_value(const std::string& path, const std::string& value) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const bool is_written = ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  return ::close(file) == 0 && is_written;
}

bool can_bound(const Files& files, const std::string& folder) {
  const std::string enabled = " " + one_value(files, folder + "/cgroup.subtree_control") + " ";
  return enabled.find(" memory ") != std::string::npos && enabled.find(" pids ") != std::string::npos &&
         ::access(folder.c_str(), W_OK) == 0;
}

// The nearest group above ours in which we may make others.
std::string delegated_folder(const Files& files, const std::string& root, const std::string& own) {
  const std::string groups = files.read(own, kGroupFileBytes).value_or("");
  for (const std::string_view line : lines_of(groups)) {
    if (!line.starts_with("0::/")) continue;
    std::string folder = root + std::string(line.substr(3));
    while (folder.size() > root.size() && folder.ends_with('/')) folder.pop_back();
    for (int level = 0; level < kGroupLevels && folder.size() >= root.size(); ++level) {
      if (can_bound(files, folder)) return folder;
      if (folder == root) break;
      folder = parent_path(folder);
    }
  }
  return {};
}

}  // namespace

std::optional<ControlGroup> ControlGroup::make(Files& files, const Limits& limits, const std::string& root,
                                               const std::string& own) {
  static std::atomic<int> count = 0;
  const std::string folder = delegated_folder(files, root, own);
  if (folder.empty()) return std::nullopt;
  ControlGroup group(fmt::format("{}/signalbox-{}-{}", folder, ::getpid(), ++count));
  if (::mkdir(group.path_.c_str(), 0755) != 0) {
    group.path_.clear();
    return std::nullopt;
  }
  const bool is_bounded = write_value(group.path_ + "/memory.max", std::to_string(limits.memory_mb << 20)) &&
                          write_value(group.path_ + "/pids.max", std::to_string(limits.processes));
  if (!is_bounded) return std::nullopt;
  (void)write_value(group.path_ + "/memory.swap.max", "0");
  (void)write_value(group.path_ + "/memory.oom.group", "1");
  return group;
}

ControlGroup::~ControlGroup() {
  if (path_.empty()) return;
  (void)write_value(path_ + "/cgroup.kill", "1");
  for (int round = 0; round < 500 && ::rmdir(path_.c_str()) != 0 && errno == EBUSY; ++round) ::usleep(1'000);
}

std::string describe_limits(Files& files, const Sandbox& sandbox) {
  const bool has_group = ControlGroup::make(files, sandbox.settings.limits).has_value();
  return fmt::format("{}; {}", sandbox.settings.limits.text(),
                     has_group ? "enforced by a control group" : "memory and processes are watched, not reserved");
}

Result<ProcessResult> run_enclosed(const Seams& seams, const HomeDirectories& homes, const Sandbox& sandbox,
                                   Place place, Command command) {
  if (!sandbox.works()) {
    command.directory = place.directory.empty() ? place.workspace : place.directory;
    return seams.process.run(command);
  }
  SB_TRY(add_settings(seams, homes, sandbox.settings, place));
  std::vector<std::string> reachable = sandbox.settings.network;
  reachable.insert(reachable.end(), place.servers.begin(), place.servers.end());
  const bool has_servers = !reachable.empty();
  for (const int port : place.host_ports) reachable.push_back(fmt::format("127.0.0.1:{}", port));
  std::unique_ptr<Door> door;
  if (!reachable.empty()) {
    door = SB_TRY(Door::open(seams, join_path(homes.state, "doors"), std::move(reachable)));
    place.door = door->socket();
    if (has_servers && command.environment) add_proxy(place, *command.environment);
  }
  if (command.environment && !place.home.empty() &&
      (*command.environment)["HOME"] == seams.environment.get("HOME").value_or("")) {
    (*command.environment)["HOME"] = place.home;
  }
  std::vector<std::string> words = sandbox_arguments(sandbox, seams.files, place);
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  command.argv = std::move(words);
  command.directory = "/";
  command.ceiling = {.memory_bytes = sandbox.settings.limits.memory_mb << 20,
                     .processes = sandbox.settings.limits.processes,
                     .memory_folders = {"/tmp", "/var/tmp", "/dev/shm"}};
  if (!place.home.empty()) command.ceiling.memory_folders.push_back(place.home);
  // The sandbox has the machine's own devices, and root owns them: their modes would change for everyone.
  if (sandbox.is_root) command.sealed_files.assign(kDevices.begin(), kDevices.end());
  const auto group = ControlGroup::make(seams.files, sandbox.settings.limits);
  if (group) command.control_group = group->entrance();
  ProcessResult result = SB_TRY(seams.process.run(command));
  if (!result.exceeded.empty()) {
    std::string& text = command.merge_stderr ? result.output : result.errors;
    text += fmt::format("\n[killed: the sandbox's limit of {} was reached: {}]\n", result.exceeded,
                        sandbox.settings.limits.text());
  }
  return result;
}

}  // namespace sb::sandbox
