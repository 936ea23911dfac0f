// `signalbox run "GOAL"`: a whole run in the foreground.
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
      context.err(
          fmt::format("The ticket {} is closed already; the run works on it all the same.\n", request.ticket->id));
    }
  }
  if (request.goal.empty()) {
    return fail(ErrorCode::kInvalid, "neither a goal nor a ticket is given", "signalbox run \"GOAL\" --ticket FILE");
  }
  if (!options.mode.empty()) {
    request.mode = pipeline::run_mode_named(options.mode);
    if (!request.mode) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is no mode", quote_json(options.mode)),
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
  app.add_option("GOAL", options->goal, "What is to be done; the ticket's title when left out");
  app.add_option("--ticket", options->ticket, "A file (Markdown, YAML, JSON), an address the forge knows, or -");
  app.add_option("--mode", options->mode, "FULL or IMPLEMENT, instead of what the words say");
  app.add_option("--workspace", options->workspace, "The project's folder; the current one when not given");
  app.add_option("--wait", options->wait,
                 "Wait this long for each answer that must come from elsewhere (else: not at all), and in all for "
                 "servers that are out (else: 15m); then leave the run to runs resume");
  app.add_option("--replay", options->replay,
                 "Play this run again instead, offline and at no cost: its id, last, or a folder of runs export")
      ->excludes({"GOAL", "--ticket", "--mode", "--workspace", "--wait"});
  app.add_flag("--json", options->wants_json, "One JSON object a line: each event, and the result at the end");
  return [options](Context& context) { return run_goal(context, *options); };
}

}  // namespace sb::cli
