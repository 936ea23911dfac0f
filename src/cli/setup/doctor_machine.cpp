// Doctor: the machine: the port, the sandbox, git, the terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "cli/server/local_server.hpp"
#include "cli/setup/doctor.hpp"
#include "inbox/config.hpp"
#include "sandbox/enclosed_run.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::cli {
namespace {

constexpr std::int64_t kGitMs = 5'000;

// Linux settings that keep bubblewrap from working, and their bad values.
struct KernelSwitch {
  const char* path;
  std::string_view bad;
  std::string_view remedy;
};
constexpr KernelSwitch kSwitches[] = {
    {"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
    {"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
     "Let AppArmor allow user namespaces for bwrap (a profile for /usr/bin/bwrap with `userns,`)"},
};

std::string sandbox_remedy(const Files& files) {
  for (const KernelSwitch& each : kSwitches) {
    const auto value = files.read(each.path, 64);
    if (value && value->substr(0, value->find('\n')) == each.bad) return std::string(each.remedy);
  }
  return "Allow user namespaces for this account; containers often forbid them";
}

}  // namespace

std::string program_in_path(const Seams& seams, std::string_view name) {
  const std::string list = seams.environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const std::string folder = list.substr(at, end - at);
    const std::string path = join_path(folder, name);
    if (folder.starts_with('/') && seams.files.kind(path) == FileKind::kFile) return path;
    at = end + 1;
  }
  return {};
}

Diagnoses check_server(const DoctorInput& input) {
  const LocalServer server = probe_port(input.port);
  switch (server.who) {
    case LocalServer::Owner::kNone:
      return {{Health::kOk, fmt::format("port {} is free for signalbox serve", input.port)}};
    case LocalServer::Owner::kOther:
      return {{Health::kWarning, fmt::format("port {} is used by another program", input.port),
               "Use another port: signalbox serve --port P"}};
    case LocalServer::Owner::kSignalbox:
      break;
  }
  if (server.version != input.version) {
    return {{Health::kWarning,
             fmt::format("signalbox {} serves at port {}; this is {}", server.version, input.port, input.version),
             "Restart it"}};
  }
  return {{Health::kOk, fmt::format("signalbox serves at port {}", input.port)}};
}

Diagnoses check_sandbox(const DoctorInput& input) {
  const sandbox::Sandbox sandbox =
      input.homes ? inbox::find_users_sandbox(input.seams, *input.homes) : sandbox::find_sandbox(input.seams);
  Diagnoses found;
  if (sandbox.works()) {
    found.push_back({sandbox.has_own_proc ? Health::kOk : Health::kWarning, sandbox.name()});
    found.push_back({Health::kOk, "limits: " + sandbox::describe_limits(input.seams.files, sandbox)});
  } else if (sandbox.settings.mode == sandbox::Mode::kNone) {
    found.push_back({Health::kWarning,
                     "agents run without a sandbox, as config.yaml says: they can read everything you can",
                     "Remove sandbox: {mode: none}"});
  } else {
    const bool is_missing = program_in_path(input.seams, "bwrap").empty();
    found.push_back({Health::kWarning,
                     fmt::format("no runs, and workflow commands run without a sandbox: {}",
                                 is_utf8(sandbox.missing) ? sandbox.missing : "bubblewrap does not work here"),
                     is_missing ? "Install bubblewrap" : sandbox_remedy(input.seams.files)});
  }
  if (::geteuid() == 0)
    found.push_back({Health::kWarning, std::string(sandbox::kRootWarning), "Run it as another user"});
  return found;
}

Diagnoses check_git(const DoctorInput& input) {
  const std::string path = program_in_path(input.seams, "git");
  const Command asked{.argv = {path, "--version"}, .timeout_ms = kGitMs};
  const auto exit = path.empty() ? fail(ErrorCode::kNotFound, "") : input.seams.process.run(asked);
  if (!exit || exit->code != 0 || exit->timed_out) {
    return {
        {Health::kWarning, "not found or does not run; branches and remotes of projects stay unknown", "Install git"}};
  }
  const std::string line = exit->output.substr(0, exit->output.find('\n'));
  return {{Health::kOk, is_utf8(line) ? line : path}};
}

Diagnoses check_terminal(const DoctorInput& input) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = input.seams.environment.get(name);
    if (!value) continue;
    const std::string folded = is_utf8(*value) ? case_fold(*value) : "";
    if (folded.find("utf-8") != std::string::npos || folded.find("utf8") != std::string::npos) {
      return {{Health::kOk, fmt::format("{}={}", name, *value)}};
    }
    break;  // only the first that is set is used
  }
  return {{Health::kWarning, "the locale is not UTF-8; non-ASCII text may be garbled", "export LC_ALL=C.UTF-8"}};
}

}  // namespace sb::cli
