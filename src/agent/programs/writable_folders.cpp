#include "agent/programs/writable_folders.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/text/path_glob.hpp"

namespace sb::agent {
namespace {

using Folders = std::optional<std::vector<std::string>>;

// The folder that contains whatever a glob covers.
std::string folder_of_glob(std::string_view glob, const std::string& root) {
  const std::string_view fixed = glob.substr(0, glob.find_first_of("*?[{\\"));
  const std::size_t slash = fixed.rfind('/');
  if (slash == std::string_view::npos) return root;
  return lexically_normal(glob.starts_with('/') ? std::string(fixed.substr(0, slash))
                                                : join_path(root, std::string(fixed.substr(0, slash))));
}

Folders folders_of(const std::vector<std::string>& globs, const std::string& root) {
  std::vector<std::string> folders;
  for (const std::string& glob : globs) {
    std::string folder = folder_of_glob(glob, root);
    if (is_within(root, folder)) return std::nullopt;
    if (is_within(folder, root)) folders.push_back(std::move(folder));
  }
  return folders;
}

Folders in_both(const Folders& one, const Folders& other) {
  if (!one) return other;
  if (!other) return one;
  std::vector<std::string> shared;
  for (const std::string& a : *one) {
    for (const std::string& b : *other) {
      if (is_within(a, b)) {
        shared.push_back(a);
      } else if (is_within(b, a)) {
        shared.push_back(b);
      }
    }
  }
  return shared;
}

// Decisions, calls and loops are not an agent's work; their parts are.
bool is_work(const workflow::Step& step) {
  return !step.loop() && !step.decision() && !step.call() && !(step.parallel() && !step.parallel()->synthesis);
}

}  // namespace

Folders writable_folders(const engine::Program& program, const guard::OpenStepChain& parents, const std::string& root) {
  std::vector<std::string> globs;
  bool all_declare = true;
  for (int number = 0; number < program.size(); ++number) {
    const workflow::Step& step = *program.at(number).step;
    if (!is_work(step)) continue;
    all_declare = all_declare && step.interlock.writes_declared;
    globs.insert(globs.end(), step.interlock.writes.begin(), step.interlock.writes.end());
  }
  Folders folders = all_declare ? folders_of(globs, root) : std::nullopt;
  for (const guard::OpenStep& parent : parents) {
    if (parent.writes) folders = in_both(folders, folders_of(*parent.writes, root));
  }
  if (!folders) return folders;
  std::ranges::sort(*folders);
  folders->erase(std::unique(folders->begin(), folders->end()), folders->end());
  return folders;
}

Status make_folders(Files& files, const std::string& root, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::string path = root;
    for (const std::string_view name : split(std::string_view(folder).substr(root.size()), '/')) {
      if (name.empty()) continue;
      path = join_path(path, std::string(name));
      if (files.kind(path) == FileKind::kMissing && !files.status(path).is_link) SB_TRY(files.make_directories(path));
      if (files.canonical(path).value_or("") != path) break;
    }
  }
  return {};
}

}  // namespace sb::agent
