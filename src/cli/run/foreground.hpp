// Shared by `run`, `runs resume` and the demo: drives a run in the foreground until it ends or waits for someone else.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "runs/run_environment.hpp"

namespace sb::cli {

struct DriveOptions {
  bool wants_json = false;
  std::optional<std::int64_t> wait_ms = {};  // for answers from elsewhere and unreachable servers; absent: the default
};

// Exit codes: 0 merged, or requested if merging is off; 1 waiting, escalated or stopped; 2 wrong use; 3 internal error.
int start_run(const Context& context, runs::RunEnvironment& run_environment, const pipeline::RunRequest& request,
              const DriveOptions& options);
// `ticket`: its current content, if known.
int resume_run(const Context& context, runs::RunEnvironment& run_environment, const std::string& run,
               const std::optional<pipeline::Ticket>& ticket, const DriveOptions& options);

// Parses --wait; nothing if it was not given.
Result<std::optional<std::int64_t>> parse_wait(const std::string& given);
// Reports the error; with --json also prints it as one line.
int report_run(const Context& context, const Error& error, bool wants_json, std::string_view run = {});

// Whether the run's own work tree still exists; it holds undelivered work.
bool has_work_tree(const Files& files, const pipeline::RunState& state);

}  // namespace sb::cli
