#include "engine/recall/recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sb::engine {
namespace {

constexpr std::string_view kOpening = "Noted so far, newest first:\n\n";
// Reserved for the line about omitted notes.
constexpr std::size_t kClosingBytes = 512;
// After this many notes that do not fit, stop looking for a shorter, older one.
constexpr std::size_t kPassedOver = 8;

std::string name_of(const RecalledStep& step) {
  return fmt::format("{} ({})", step.title, step.step_id);
}

std::string entry_for(const RecalledStep& step) {
  const std::size_t end = step.notes.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return fmt::format("## {}: no notes\n\n", name_of(step));
  return fmt::format("## {}\n{}\n\n", name_of(step), std::string_view(step.notes).substr(0, end + 1));
}

// `Left out for length: A (a), B (b) and 40 more.`, as many names as fit; `unread` is -1 if unknown.
std::string closing(const std::vector<std::string>& names, int unread, std::size_t room) {
  if (names.empty() && unread == 0) return {};
  for (std::size_t shown = names.size() + 1; shown-- > 0;) {
    const int rest = unread < 0 ? -1 : unread + static_cast<int>(names.size() - shown);
    std::string text = "Left out for length: ";
    text += fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    const std::string_view and_ = shown == 0 ? "" : " and ";
    if (rest > 0) text += fmt::format("{}{} {}", and_, rest, shown == 0 ? "steps" : "more");
    if (rest < 0) text += fmt::format("{}{}", and_, shown == 0 ? "earlier steps" : "all earlier ones");
    text += ".\n";
    if (text.size() <= room) return text;
  }
  return {};
}

}  // namespace

Result<std::string> recall(NodeNo from, std::size_t budget,
                           const std::function<Result<std::optional<RecalledStep>>(NodeNo)>& before, int depth) {
  std::string text(kOpening);
  std::vector<std::string> left_out;
  int read = 0;
  bool reached_root = false;
  bool any = false;
  const std::size_t room = budget > kClosingBytes ? budget - kClosingBytes : 0;
  NodeNo at = from;
  while (text.size() < room && left_out.size() < kPassedOver) {
    const auto step = SB_TRY(before(at));
    if (!step) {
      reached_root = true;
      break;
    }
    ++read;
    at = step->node;
    const std::string entry = entry_for(*step);
    if (text.size() + entry.size() <= room) {
      text += entry;
      any = true;
    } else {
      left_out.push_back(name_of(*step));
    }
  }
  if (reached_root && read == 0) return std::string();
  const int unread = reached_root ? 0 : depth < 0 ? -1 : std::max(0, depth - read);
  if (!any) text.clear();
  if (text.size() > budget) return std::string();
  return text + closing(left_out, unread, budget - text.size());
}

}  // namespace sb::engine
