// `signalbox run "GOAL"`: a run in the foreground.
#include <fmt/format.h>

#include "cli/run/foreground.hpp"
#include "cli/run/replay.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "runs/request.hpp"

namespace sb::cli {
namespace {

struct RunOptions {
  std::string goal, ticket, mode, workspace, replay;
  std::string wait;
  bool wants_json = false;
};

Result<pipeline::RunRequest> request_of(const Context& context, runs::RunEnvironment& run_environment,
                                        const RunOptions& options, const std::string& workspace) {
  pipeline::RunRequest request;
  request.goal = options.goal;
  request.workspace = workspace;
  if (!options.ticket.empty()) {
    request.ticket =
        SB_TRY(runs::load_ticket(context.seams, run_environment.forge(), options.ticket, &request.ticket_source));
    if (request.goal.empty()) request.goal = request.ticket->title;
    if (request.ticket->is_closed) {
      context.err(fmt::format("Ticket {} is already closed; the run continues anyway.\n", request.ticket->id));
    }
  }
  if (request.goal.empty()) {
    return fail(ErrorCode::kInvalid, "a goal or a ticket is required", "signalbox run \"GOAL\" --ticket FILE");
  }
  if (!options.mode.empty()) {
    request.mode = pipeline::run_mode_named(options.mode);
    if (!request.mode) {
      return fail(ErrorCode::kInvalid, fmt::format("unknown mode {}", quote_json(options.mode)),
                  "Modes: FULL, IMPLEMENT, REVIEW_ONLY, QUICK_REVIEW, ESCALATE");
    }
  }
  return request;
}

int run_goal(const Context& context, const RunOptions& options) {
  if (!options.replay.empty()) return replay_run(context, options.replay, options.wants_json);
  const auto fail_with = [&](const Error& error) { return report_run(context, error, options.wants_json); };
  const auto wait = parse_wait(options.wait);
  if (!wait) return fail_with(wait.error());
  const auto workspace = workspace_of(context, options.workspace);
  if (!workspace) return fail_with(workspace.error());
  const auto run_environment = runs::RunEnvironment::open(context.seams, *workspace);
  if (!run_environment) {
    int code = kExitUsage;
    for (const Error& fault : run_environment.error()) code = std::max(code, fail_with(fault));
    return code;
  }
  const auto request = request_of(context, **run_environment, options, *workspace);
  if (!request) return fail_with(request.error());
  return start_run(context, **run_environment, *request, {.wants_json = options.wants_json, .wait_ms = *wait});
}

}  // namespace

Action declare_run(App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("GOAL", options->goal, "What should be done (default: the ticket's title)");
  app.add_option("--ticket", options->ticket, "A file (Markdown, YAML, JSON), a URL of the forge, or - for stdin");
  app.add_option("--mode", options->mode, "FULL or IMPLEMENT, instead of choosing by the ticket's text");
  app.add_option("--workspace", options->workspace, "The project's folder (default: the current folder)");
  app.add_option("--wait", options->wait,
                 "Wait this long for each answer from elsewhere (default: do not wait), and in total for unreachable "
                 "servers (default: 15m); then exit, and continue with runs resume");
  app.add_option("--replay", options->replay,
                 "Replay this run instead, offline and at no cost: its id, last, or a folder of runs export")
      ->excludes({"GOAL", "--ticket", "--mode", "--workspace", "--wait"});
  app.add_flag("--json", options->wants_json, "Print one JSON object per line: each event, and the result at the end");
  return [options](Context& context) { return run_goal(context, *options); };
}

}  // namespace sb::cli
