// Runs as text: one line per event, the block shown on a terminal, the page of `runs show`. Pure. Text from tickets,
// models and agents is made printable first, so that no control sequence reaches the terminal.
#pragma once

#include <string>
#include <vector>

#include "agent/loop/worker.hpp"
#include "agent/model/prices.hpp"
#include "pipeline/run/run_log.hpp"
#include "pipeline/run/run_status.hpp"

namespace sb::cli {

// One line for an event; empty for events that are not shown.
std::string event_line(const pipeline::RunState& state, const pipeline::RunEvent& event);

// The warning shown if commands run without a sandbox; empty with bubblewrap.
std::string sandbox_note(const pipeline::RunState& state);

// `12:30:05 (in 57s)`; with the date if it is not today.
std::string until_text(TimestampMs until, TimestampMs now);

// The current activity of the running phase.
struct PhaseProgress {
  std::string workflow, step, doing;
  TimestampMs waits_until = 0;  // for its model's provider
  std::string wait_reason = {};
  int turns = 0;
  agent::Usage usage;
  std::int64_t micro_cents = 0;
  std::vector<std::string> children = {};
};

struct BlockStyle {
  TimestampMs now = 0;
  int width = 80;
  bool has_colour = false;
  int frame = 0;  // of the spinner
};
// No line is wider than the width.
std::vector<std::string> run_block(const pipeline::RunState& state, const PhaseProgress& now, const BlockStyle& style);

std::string run_page(const pipeline::RunState& state, const pipeline::RunStatus& run_status, bool has_colour);
// {type: result, run, status, standing, [outcome, reason, commit, request, url, waits_for, decision, ticket_open]}
Value result_of(const pipeline::RunState& state, const pipeline::RunStatus& run_status);

std::string token_count_text(std::int64_t tokens);    // 12.3k
std::string turn_count_text(int turns);               // 1 turn
std::string duration_text(std::int64_t duration_ms);  // 3m12s
std::string one_line(std::string_view text, std::size_t columns);

}  // namespace sb::cli
