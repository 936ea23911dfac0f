#include "agent/agent_home.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/value.hpp"

namespace sb::agent {
namespace {

// Where programs with a login of their own keep it.
constexpr std::array<std::string_view, 4> kLogins = {".claude", ".claude.json", ".codex", ".config"};

std::string temporary_folder(const Seams& seams) {
  const std::string wanted = seams.environment.get("TMPDIR").value_or("/tmp");
  const auto real = seams.files.canonical(wanted);
  return real ? *real : std::string("/tmp");
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

Result<AgentHome> AgentHome::make(const Seams& seams, const std::string& session) {
  const std::string folder = temporary_folder(seams);
  const std::string name = fmt::format("signalbox-agent-{}-", session);
  const auto names = seams.files.list(folder);
  for (const std::string& other : names ? *names : std::vector<std::string>()) {
    if (other.starts_with(name)) remove_all(join_path(folder, other));
  }
  std::string path = join_path(folder, name + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot make a home for the agent in {}: {}", folder, std::strerror(errno)));
  }
  AgentHome home(std::move(path));
  SB_TRY(seams.files.make_directories(join_path(home.path(), "tmp"), 0700));
  return home;
}

AgentHome::~AgentHome() {
  if (!path_.empty()) remove_all(path_);
}

Status AgentHome::write(const Seams& seams, const std::map<std::string, std::string>& files) const {
  for (const auto& [name, text] : files) {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is no file of the agent's home", quote_json(name)));
    }
    const std::string path = join_path(path_, name);
    SB_TRY(seams.files.make_directories(parent_path(path), 0700));
    SB_TRY(seams.files.write_atomic(path, text, 0600));
  }
  return {};
}

std::vector<std::string> fence_words(const ProgramFence& fence, const Seams& seams, const Homes& homes) {
  if (!fence.sandbox.works()) return {};
  std::vector<std::string> hidden = engine::hidden_paths(seams.files, seams.environment, homes, fence.secret_files);
  std::vector<std::string> further;
  const std::string user_home = seams.environment.get("HOME").value_or("");
  if (fence.has_own_login && !user_home.empty()) {
    for (const std::string_view name : kLogins) {
      const std::string path = join_path(user_home, name);
      const auto real = seams.files.canonical(path);
      if (!real || std::erase(hidden, *real) == 0) continue;
      // What it writes there is its own; the settings of others are only read.
      further.insert(further.end(), {name == ".config" ? "--ro-bind" : "--bind", *real, *real});
    }
    // Also where they lie in a folder that was just shown again.
    for (const std::string& path : fence.secret_files) {
      const auto real = seams.files.canonical(path);
      if (real) further.insert(further.end(), {"--dev-bind", "/dev/null", *real});
    }
  }
  std::vector<std::string> words = engine::sandbox_words(fence.sandbox, seams.files, fence.work_tree, hidden);
  const auto all = std::ranges::find(words, "--unshare-all");
  if (all != words.end()) words.insert(all + 1, "--share-net");
  if (!fence.is_writable) {
    const auto bound = std::ranges::find(words, fence.work_tree);
    if (bound != words.end() && bound != words.begin() && *(bound - 1) == "--bind") *(bound - 1) = "--ro-bind";
  }
  further.insert(further.end(), {"--bind", fence.home, fence.home});
  // The sandbox has a temporary folder of its own.
  const auto real = seams.files.canonical(fence.program);
  for (const std::string& path : real ? std::set{fence.program, *real} : std::set<std::string>()) {
    if (path.starts_with("/tmp/")) further.insert(further.end(), {"--ro-bind", *real, path});
  }
  const std::string git = join_path(fence.work_tree, ".git");
  if (seams.files.kind(git) != FileKind::kMissing) further.insert(further.end(), {"--ro-bind", git, git});
  const auto change = std::ranges::find(words, "--chdir");
  words.insert(change, further.begin(), further.end());
  return words;
}

}  // namespace sb::agent
