#include "cli/session/summary_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/text/printable.hpp"
#include "cli/local_time.hpp"
#include "engine/answer/session_view.hpp"

namespace sb::cli {
namespace {

std::string one_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

std::string session_line(const engine::Summary& summary) {
  const std::string where = summary.step_id.empty() ? "" : fmt::format("  at {}", one_line(summary.step_id));
  return fmt::format("{}  {:8}  {}  {}  {}{}", summary.id, to_string(summary.status), local_minute(summary.updated_at),
                     one_line(summary.workflow_id), one_line(engine::shown_title(summary)), where);
}

}  // namespace sb::cli
