// Runs in words: one line an event, the block a terminal shows, the page of `runs show`. Pure. Text of tickets, models
// and agents is made printable first: no control sequence of theirs reaches a terminal.
#pragma once

#include <string>
#include <vector>

#include "agent/loop/worker.hpp"
#include "agent/model/prices.hpp"
#include "pipeline/run/run_log.hpp"
#include "pipeline/run/run_status.hpp"

namespace sb::cli {

// What just happened; empty for events nobody need read about.
std::string event_line(const pipeline::RunState& state, const pipeline::RunEvent& event);

// What a person must know where nothing keeps commands in; empty where bubblewrap does.
std::string sandbox_note(const pipeline::RunState& state);

// 12:30:05 (in 57s); with the day where that is another one.
std::string until_text(TimestampMs until, TimestampMs now);

// What goes on inside the phase that is worked on.
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
  int frame = 0;  // for the mark of what is under way
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
