#include "agent/programs/program_home.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kLoginFileBytes = 16u << 20;

// Where programs store their own login in the user's home. Settings next to it could run anything, so a program neither
// sees nor leaves any.
struct Login {
  std::string_view name;
  enum { kShared, kCopied, kRead } how;
};
constexpr std::array<Login, 6> kLogins = {{{".claude/.credentials.json", Login::kShared},
                                           {".claude.json", Login::kCopied},
                                           {".claude/local", Login::kRead},
                                           {".codex/auth.json", Login::kShared},
                                           {".local/share/opencode/auth.json", Login::kShared},
                                           {".config/opencode", Login::kRead}}};

// Of a copied file, only what belongs to the login: the rest are settings, among them the secrets of the user's MCP
// servers, ours included.
constexpr std::array<std::string_view, 5> kLoginMembers = {"oauthAccount", "userID", "primaryApiKey",
                                                           "customApiKeyResponses", "hasCompletedOnboarding"};

std::string login_part(const std::string& json) {
  Value kept = Value::object();
  const auto all = parse_json(json, {.bytes = kLoginFileBytes});
  for (const std::string_view name : kLoginMembers) {
    const Value* member = all && all->is_object() ? all->find(name) : nullptr;
    if (member != nullptr) kept.set(name, *member);
  }
  return to_json(kept) + "\n";
}

}  // namespace

Result<AgentHome> AgentHome::make(const Seams& seams, const HomeDirectories& homes, const std::string& session) {
  const std::string wanted = join_path(homes.state, "agents");
  SB_TRY(seams.files.make_directories(wanted, 0700));
  const std::string folder = SB_TRY(seams.files.canonical(wanted));
  const std::string name = session + "-";
  const auto names = seams.files.list(folder);
  for (const std::string& other : names ? *names : std::vector<std::string>()) {
    if (other.starts_with(name)) (void)seams.files.remove_tree(join_path(folder, other));
  }
  std::string path = join_path(folder, name + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create a home for the agent in {}: {}", folder, std::strerror(errno)));
  }
  AgentHome home(seams.files, std::move(path));
  SB_TRY(seams.files.make_directories(join_path(home.path(), "tmp"), 0700));
  return home;
}

AgentHome::~AgentHome() {
  if (!path_.empty()) (void)files_.remove_tree(path_);
}

Status AgentHome::write(const Seams& seams, const std::map<std::string, std::string>& files) const {
  for (const auto& [name, text] : files) {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not a path in the agent's home", quote_json(name)));
    }
    const std::string path = join_path(path_, name);
    SB_TRY(seams.files.make_directories(parent_path(path), 0700));
    SB_TRY(seams.files.write_atomic(path, text, 0600));
  }
  return {};
}

Status AgentHome::copy_login(const Seams& seams) const {
  const std::string user_home = seams.environment.get("HOME").value_or("");
  for (const Login& login : kLogins) {
    if (login.how != Login::kCopied || user_home.empty()) continue;
    const auto bytes = seams.files.read(join_path(user_home, login.name), kLoginFileBytes);
    if (bytes) SB_TRY(seams.files.write_atomic(join_path(path_, login.name), login_part(*bytes), 0600));
  }
  return {};
}

sandbox::Place place_of(ProgramPlace program, const Seams& seams) {
  sandbox::Place place = std::move(program.work_tree);
  place.writable.push_back(program.home);
  for (std::string& path : sandbox::program_paths(seams.files, program.program)) {
    place.readable.push_back(std::move(path));
  }
  place.host_ports = std::move(program.host_ports);
  const std::string user_home = seams.environment.get("HOME").value_or("");
  for (const Login& login : kLogins) {
    const std::string path = join_path(user_home, login.name);
    if (!program.has_own_login || user_home.empty() || login.how == Login::kCopied) continue;
    if (seams.files.kind(path) == FileKind::kMissing) continue;
    place.elsewhere.push_back({path, join_path(program.home, login.name), login.how == Login::kShared});
  }
  const std::string real_home = sandbox::users_home(seams.files, seams.environment);
  for (const std::string& name : sandbox::tools_of_every_home(seams.files, real_home)) {
    place.elsewhere.push_back({join_path(real_home, name), join_path(program.home, name)});
  }
  if (program.has_own_login) place.servers = program.login_servers;
  return place;
}

}  // namespace sb::agent
