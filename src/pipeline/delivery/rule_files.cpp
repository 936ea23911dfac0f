// What rules for agents lead to; see judges.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "pipeline/delivery/judge_paths.hpp"
#include "pipeline/delivery/judge_tables.hpp"
#include "pipeline/delivery/judges.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

constexpr int kIncludeDepth = 5;

bool is_rule_file(std::string_view path) {
  const auto names = blank_separated(kRuleNames);
  return std::ranges::find(names, to_lower(base_name(path))) != names.end();
}

// `@docs/style.md`, at the beginning of a word.
std::vector<std::string> included_by(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    if (at > 0 && !std::isspace(static_cast<unsigned char>(text[at - 1]))) continue;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    const std::string_view name = trimmed(text.substr(at + 1, end - at - 1), ".,;:!?)`\"'");
    if (std::string target = path_named(name, folder_of(path)); !target.empty()) found.push_back(std::move(target));
  }
  return found;
}

}  // namespace

Result<JudgeFiles> files_of_rules(const std::vector<ListedFile>& all, const ReadEntries& read) {
  JudgeFiles found;
  std::vector<std::string> links, rules;
  for (const ListedFile& file : all) {
    if (file.is_link && !judges_in({{.status = 'M', .path = file.path}}, {}).empty()) links.push_back(file.path);
    if (!file.is_link && is_rule_file(file.path)) rules.push_back(file.path);
  }
  for (const auto& [path, entry] : SB_TRY(read(links))) {
    const std::string target = path_named(entry.text, folder_of(path));
    if (target.empty()) continue;
    found.below.emplace(target, fmt::format("target of the link {}", shown(path)));
    if (is_rule_file(path)) rules.push_back(target);
  }
  std::set<std::string> seen(rules.begin(), rules.end());
  for (int depth = 0; depth < kIncludeDepth && !rules.empty(); ++depth) {
    std::vector<std::string> next;
    for (const auto& [path, entry] : SB_TRY(read(rules))) {
      for (const std::string& target : included_by(path, entry.text)) {
        found.files.emplace(target, fmt::format("included by {}", shown(path)));
        if (seen.size() < limits::kJudgeNames && seen.insert(target).second) next.push_back(target);
      }
    }
    rules = std::move(next);
  }
  return found;
}

}  // namespace sb::pipeline
