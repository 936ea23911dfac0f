// Compares the changes with the declared files.
#include <fmt/format.h>

#include <algorithm>

#include "agent/tools/guarded_files.hpp"
#include "base/text/path_glob.hpp"
#include "guard/declared_paths.hpp"
#include "guard/open_step.hpp"
#include "pipeline/delivery/delivery.hpp"

namespace sb::pipeline {
namespace {

constexpr std::string_view kOurs = ".signalbox";

std::vector<std::string> globs_named(const std::vector<std::string>& sentences) {
  std::vector<std::string> globs;
  for (const std::string& sentence : sentences) {
    for (std::string& path : guard::paths_named(sentence)) globs.push_back(lexically_normal(path));
  }
  return globs;
}

struct Rules {
  std::vector<std::string> declared, forbidden, protected_paths;
  const std::vector<std::string>& out_of_scope;  // sentences
};

// Why a file may not be delivered; empty if it may.
std::optional<DeliveryFinding> fault_of(const std::string& path, const Rules& rules) {
  const auto finding = [&](const char* severity, std::string summary, const char* cause) {
    return DeliveryFinding{severity, std::move(summary), shown(path), cause};
  };
  const auto names_it = [&](const std::string& sentence) { return guard::names_path(sentence, path); };
  if (guard::any_covers(rules.forbidden, path) || std::ranges::any_of(rules.out_of_scope, names_it)) {
    return finding("critical", fmt::format("{} was changed although it is out of scope", shown(path)), "out_of_scope");
  }
  if (guard::any_covers(rules.protected_paths, path) || path.starts_with(std::string(kOurs) + "/")) {
    return finding("critical", fmt::format("{} was changed although it is protected", shown(path)), "protected_path");
  }
  if (!guard::any_covers(rules.declared, path)) {
    return finding("major", fmt::format("{} was changed but not declared", shown(path)), "undeclared_file");
  }
  return std::nullopt;
}

}  // namespace

bool is_internal(const Change& change, const DeliverySpec& spec) {
  if (guard::any_covers(spec.internal_paths, change.path)) return true;
  if (agent::is_interrupted_write(base_name(change.path))) return true;
  // Notes and designs that phases write for each other.
  return change.status == 'A' && change.path.starts_with(std::string(kOurs) + "/") && change.path.ends_with(".md");
}

DeliveryFinding repository_finding(const std::string& path) {
  return {"major", fmt::format("{} is a nested repository", shown(path)), shown(path), "nested_repository"};
}

DeliveryFinding git_folder_finding(const std::string& path) {
  return {"critical", fmt::format("{} has the name of git's own folder on some systems; remove it", shown(path)),
          shown(path), "git_folder"};
}

ScopeReport check_scope(const std::vector<Change>& changes, const DeliverySpec& spec) {
  ScopeReport report;
  Rules rules{.declared = guard::declared_globs(spec.files_changed),
              .forbidden = globs_named(spec.out_of_scope),
              .protected_paths = spec.protected_paths,
              .out_of_scope = spec.out_of_scope};
  std::erase_if(rules.declared, [&](const std::string& glob) {
    if (!guard::covers_everything(glob)) return false;
    report.blocking.push_back(
        {"major", fmt::format("the declared files cover everything ({})", shown(glob)), "", "undeclared_file"});
    return true;
  });
  std::vector<std::string> touched;
  for (const Change& change : changes) {
    if (is_internal(change, spec)) continue;
    for (const std::string& path : {change.old_path, change.path}) {  // a rename touches both
      if (path.empty()) continue;
      touched.push_back(path);
      auto fault = fault_of(path, rules);
      if (!fault) continue;
      report.blocking.push_back(std::move(*fault));
      report.collateral.push_back(shown(path));
    }
    if (names_git_folder(change.path)) report.blocking.push_back(git_folder_finding(change.path));
    if (change.is_repository && !change.was_repository) {
      report.blocking.push_back(repository_finding(change.path));
    }
  }
  for (const std::string& entry : spec.files_changed) {
    const auto globs = guard::declared_globs({entry});
    const bool is_touched =
        std::ranges::any_of(touched, [&](const auto& path) { return guard::any_covers(globs, path); });
    if (!is_touched) report.unchanged.push_back(shown(entry));
  }
  return report;
}

Value DeliveryFinding::to_value() const {
  Value value = Value::object({{"severity", severity}, {"summary", summary}});
  if (!file.empty()) value.set("file", file);
  if (!cause.empty()) value.set("cause", cause);
  return value;
}

std::string_view to_string(DeliveryStep step) {
  switch (step) {
    case DeliveryStep::kHead:
      return "head";
    case DeliveryStep::kScope:
      return "scope";
    case DeliveryStep::kChecks:
      return "checks";
    case DeliveryStep::kSecrets:
      return "secrets";
    case DeliveryStep::kCommit:
      return "commit";
    case DeliveryStep::kPush:
      return "push";
    case DeliveryStep::kRequest:
      return "request";
    case DeliveryStep::kRequestChecks:
      return "request_checks";
    case DeliveryStep::kUpdate:
      return "update";
    case DeliveryStep::kMerge:
      return "merge";
    case DeliveryStep::kConfirm:
      return "confirm";
    case DeliveryStep::kClose:
      return "close";
  }
  return "?";
}

}  // namespace sb::pipeline
