#include "hook/statusline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "hook/events/changed_places.hpp"
#include "hook/events/current_step.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"

namespace sb::hook {
namespace {

constexpr std::size_t kLongestTitle = 40;

HookEvent event_of(std::string_view json) {
  HookEvent event;
  const auto root = parse_json(json);
  if (!root || !root->is_object()) return event;
  event.session = root->string_at("session_id").value_or("");
  event.directory = (*root)["workspace"].string_at("current_dir").value_or(root->string_at("cwd").value_or(""));
  return event;
}

std::string line_of(const std::optional<CurrentStep>& current, std::int64_t questions) {
  std::string line;
  if (current) {
    const guard::OpenStep& step = current->step();
    std::string title = one_line(printable(step.title));
    if (title.size() > kLongestTitle) title = std::string(utf8_prefix(title, kLongestTitle)) + "…";
    line = fmt::format("{} {}/{} {}", step.workflow, step.number, step.of, title);
    if (!step.waiting.empty())
      line += step.waiting == "children" ? " (waiting for child sessions)" : " (waiting for a person)";
  }
  if (questions > 0) {
    line += fmt::format("{}{} question{} open", line.empty() ? "" : " · ", questions, questions == 1 ? "" : "s");
  }
  return line;
}

Result<std::string> statusline(const Seams& seams) {
  const auto input = seams.streams.read_input(limits::kHookEventBytes);
  const HookEvent event = event_of(input ? *input : "");
  const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return "";
  const std::string folder = SB_TRY(folder_of(event, seams));
  const std::vector<std::string> folders = session_folders(seams.files, folder);
  const auto current = SB_TRY(home->store().read(
      [&](store::Snapshot& snapshot) { return current_step(snapshot, event, folders, seams.clock.now_ms()); }));
  return line_of(current, SB_TRY(home->inbox().count_open_in(with_parents(folder))));
}

}  // namespace

void run_statusline(const Seams& seams) {
  ErrorLog log(seams);
  try {
    const auto line = statusline(seams);
    if (!line) return log.add(line.error());
    if (!line->empty()) seams.streams.out(*line + "\n");
    if (const Status written = seams.streams.flush(); !written) log.add(written.error());
  } catch (const std::exception& error) {
    log.add(error.what());
  }
}

}  // namespace sb::hook
