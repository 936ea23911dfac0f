// What `run`, `runs resume` and the demo share: a run driven to its end, or to where somebody else must move, with
// somebody watching.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "runs/run_environment.hpp"

namespace sb::cli {

struct DriveOptions {
  bool wants_json = false;
  std::optional<std::int64_t> wait_ms = {};  // for people who are not here, and for what is out; absent: the default
};

// ProcessResult codes: 0 merged, or requested where nobody merges; 1 waits, escalated or stopped; 2 wrong use; 3 broke.
int start_run(const Context& context, runs::RunEnvironment& run_environment, const pipeline::RunRequest& request,
              const DriveOptions& options);
// `ticket`: as it is now, where that is known.
int resume_run(const Context& context, runs::RunEnvironment& run_environment, const std::string& run,
               const std::optional<pipeline::Ticket>& ticket, const DriveOptions& options);

// What --wait says; nothing when it was not given.
Result<std::optional<std::int64_t>> parse_wait(const std::string& given);
// With --json also as one line on the output.
int report_run(const Context& context, const Error& error, bool wants_json, std::string_view run = {});

// Whether the run's own work tree is still there: it holds what was not delivered.
bool has_work_tree(const Files& files, const pipeline::RunState& state);

}  // namespace sb::cli
