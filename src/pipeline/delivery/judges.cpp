#include "pipeline/delivery/judges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/delivery/judge_paths.hpp"
#include "pipeline/delivery/judge_tables.hpp"

namespace sb::pipeline {
namespace {

bool is_below(std::string_view folder, std::string_view path) {
  return path.size() > folder.size() && path[folder.size()] == '/' &&
         equals_ignoring_case(folder, path.substr(0, folder.size()));
}

// `json.py` and `json/__init__.py` in such a folder.
std::string replaced_module(const std::string& path, const JudgeFiles& known) {
  std::string_view module = path;
  if (module.ends_with("/__init__.py")) {
    module.remove_suffix(12);
  } else if (module.ends_with(".py")) {
    module.remove_suffix(3);
  } else {
    return {};
  }
  const auto there = known.module_folders.find(folder_of(module));
  const auto modules = blank_separated(kPythonModules);
  const bool is_one = there != known.module_folders.end() &&
                      std::ranges::find(modules, std::string_view(base_name(module))) != modules.end();
  return is_one ? fmt::format("replaces a module of Python for {}", there->second) : "";
}

// Why this path judges; empty if it does not.
std::string reason_for(const std::string& path, bool is_new, const JudgePolicy& policy) {
  const JudgeFiles& known = policy.known;
  for (const auto& [file, why] : known.files) {
    if (equals_ignoring_case(file, path)) return why;
  }
  for (const auto& [folder, why] : known.below) {
    if (equals_ignoring_case(folder, path) || is_below(folder, path)) return why;
  }
  for (const auto& [glob, why] : known.globs) {
    if (judge_glob_covers(glob, path)) return why;
  }
  for (const Group& group : kAlways) {
    for (const std::string_view glob : blank_separated(group.globs)) {
      if (judge_glob_covers(glob, path)) return std::string(group.why);
    }
  }
  const auto is_any = [&](const std::vector<std::string>& globs) {
    return std::ranges::any_of(globs, [&](const std::string& glob) { return judge_glob_covers(glob, path); });
  };
  if (is_any(policy.rules)) return "rules for agents";
  if (is_any(policy.protected_paths)) return "protected";
  return is_new ? replaced_module(path, known) : "";
}

}  // namespace

void JudgeFiles::add(JudgeFiles more) {
  files.merge(more.files);
  below.merge(more.below);
  globs.merge(more.globs);
  module_folders.merge(more.module_folders);
}

std::vector<Judge> judges_in(const std::vector<Change>& changes, const JudgePolicy& policy) {
  std::map<std::string, std::string> found;
  for (const Change& change : changes) {
    const bool is_new = change.status == 'A' || change.status == 'R';
    for (const std::string& path : {change.old_path, change.path}) {
      if (path.empty()) continue;
      if (std::string why = reason_for(path, is_new && path == change.path, policy); !why.empty())
        found.emplace(path, std::move(why));
    }
  }
  std::vector<Judge> judges;
  for (auto& [file, why] : found) judges.push_back({file, why});
  return judges;
}

}  // namespace sb::pipeline
