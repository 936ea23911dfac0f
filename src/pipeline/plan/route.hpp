// Chooses the mode of a run for a ticket, with reasons. Pure. Keywords are matched as words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/ticket.hpp"

namespace sb::pipeline {

enum class RunMode { kQuickReview, kReviewOnly, kImplement, kFull, kEscalate };
std::string_view to_string(RunMode mode);  // QUICK_REVIEW, …
std::optional<RunMode> run_mode_named(std::string_view name);

struct RouteFacts {
  std::string goal;
  Ticket ticket;
  bool has_pitch = false;  // in the workspace
  std::string trigger = {};
  std::optional<RunMode> wanted = {};
};
struct Route {
  RunMode mode = RunMode::kFull;
  std::vector<std::string> reasons;  // each signal and what was found
  bool touches_ui = false;
};
Route route(const RouteFacts& facts);

// Words such as `ui`, `screen`, `layout`, never parts of words.
bool mentions_ui(std::string_view text);

}  // namespace sb::pipeline
