#include "guard/declared_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "guard/open_step.hpp"

namespace sb::guard {
namespace {

constexpr std::size_t kPathsShown = 12;
constexpr std::size_t kLongestShownPath = 120;

std::string list_of_paths(const std::vector<std::string>& paths) {
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kPathsShown); ++i) {
    text += (i == 0 ? "" : ", ") + shortened(one_line(printable(paths[i])), kLongestShownPath);
  }
  if (paths.size() > kPathsShown) text += fmt::format(" and {} more", paths.size() - kPathsShown);
  return text;
}

}  // namespace

std::vector<std::string> declared_globs(const std::vector<std::string>& entries) {
  std::vector<std::string> globs;
  for (const std::string& entry : entries) {
    const std::size_t begin = std::min(entry.find_first_not_of(" \t\n`"), entry.size());
    const std::size_t end = entry.find_last_not_of(" \t\n`");
    const std::string plain = begin < entry.size() ? entry.substr(begin, end - begin + 1) : "";
    if (!plain.empty()) globs.push_back(lexically_normal(plain));
    for (std::string& path : paths_named(entry)) globs.push_back(lexically_normal(path));
  }
  return globs;
}

bool any_covers(const std::vector<std::string>& globs, std::string_view path) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_covers(glob, path); });
}

bool covers_everything(std::string_view glob) {
  return glob == "." || glob.empty() || glob_covers(glob, "signalbox-probe-1/signalbox-probe-2/signalbox-probe.3");
}

std::string DeclarationGap::text() const {
  std::string text;
  if (!undeclared.empty()) text = fmt::format("Changed but not declared: {}.", list_of_paths(undeclared));
  if (!unchanged.empty()) {
    text += fmt::format("{}Declared but not changed: {}.", text.empty() ? "" : " ", list_of_paths(unchanged));
  }
  return text;
}

DeclarationGap gap_between(const std::vector<std::string>& entries, const std::vector<std::string>& changed,
                           std::string_view folder) {
  DeclarationGap gap;
  std::vector<std::string> declared;
  for (const std::string& entry : entries) {
    std::vector<std::string> globs = declared_globs({entry});
    for (std::string& glob : globs) {
      if (is_within(glob, folder) && glob.size() > folder.size()) glob = glob.substr(folder.size() + 1);
    }
    std::erase_if(globs, [](const std::string& glob) { return covers_everything(glob); });
    const bool is_changed = std::ranges::any_of(changed, [&](const auto& path) { return any_covers(globs, path); });
    if (!is_changed) gap.unchanged.push_back(entry);
    declared.insert(declared.end(), globs.begin(), globs.end());
  }
  std::ranges::copy_if(changed, std::back_inserter(gap.undeclared),
                       [&](const std::string& path) { return !any_covers(declared, path); });
  return gap;
}

}  // namespace sb::guard
