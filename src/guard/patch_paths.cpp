#include "guard/patch_paths.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "guard/limits.hpp"

namespace sb::guard {
namespace {

constexpr std::string_view kHeader = "***";
constexpr std::array<std::string_view, 4> kNaming = {
    "*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"};
constexpr std::array<std::string_view, 3> kOthers = {"*** Begin Patch", "*** End Patch", "*** End of File"};

std::string_view without_blanks(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const std::size_t begin = std::min(line.find_first_not_of(kBlank), line.size());
  line.remove_prefix(begin);
  return line.substr(0, line.find_last_not_of(kBlank) + 1);
}

}  // namespace

std::optional<std::vector<std::string>> paths_of_patch(std::string_view patch) {
  std::vector<std::string> paths;
  std::set<std::string_view> seen;
  while (!patch.empty()) {
    const std::size_t end = std::min(patch.find('\n'), patch.size());
    const std::string_view line = patch.substr(0, end);
    patch.remove_prefix(std::min(end + 1, patch.size()));
    // Programs that apply patches accept indented headers in some places: a line that could be one counts as one.
    const std::string_view text = without_blanks(line);
    const auto naming =
        std::ranges::find_if(kNaming, [&](std::string_view header) { return text.starts_with(header); });
    if (naming != kNaming.end()) {
      const std::string_view path = without_blanks(text.substr(naming->size()));
      if (path.empty()) return std::nullopt;
      if (!seen.insert(path).second) continue;
      paths.emplace_back(path);
      if (paths.size() > limits::kChangedPaths) return std::nullopt;
    } else if (line.starts_with(kHeader) && std::ranges::find(kOthers, text) == kOthers.end()) {
      return std::nullopt;
    }
  }
  if (paths.empty()) return std::nullopt;
  return paths;
}

}  // namespace sb::guard
