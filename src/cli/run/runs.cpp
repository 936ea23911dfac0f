// `signalbox runs list|show|resume|stop|export`.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"
#include "agent/model/prices.hpp"
#include "cli/paging.hpp"
#include "cli/person.hpp"
#include "cli/run/display.hpp"
#include "cli/run/foreground.hpp"
#include "cli/run/runs_parts.hpp"
#include "runs/request.hpp"

namespace sb::cli {
namespace {

using pipeline::RunLog;
using pipeline::RunState;

// For reading: falls back to read-only access if the home is not writable.
Result<std::unique_ptr<inbox::Home>> open_for_reading(const Context& context) {
  auto home = inbox::Home::open(context.seams, store::Access::kReadWrite);
  if (!home && home.error().code == ErrorCode::kIo) return inbox::Home::open(context.seams, store::Access::kReadOnly);
  return home;
}

std::int64_t number(const Value& row, std::string_view name) {
  return row[name].is_integer() ? row[name].as_integer() : 0;
}

std::string list_line(const Value& row, TimestampMs now) {
  const auto text = [&](std::string_view name) { return row.string_at(name).value_or(""); };
  return one_line(
      fmt::format("{}  {:<15} {:<9} {:>6} ago  {:>7} tok  {}  {}", text("run"), text("standing"), text("mode"),
                  duration_text(now - number(row, "updated_at")), token_count_text(number(row, "tokens")),
                  agent::dollars(number(row, "micro_cents")), text("goal")),
      160);
}

// The stored row as programs get it: times and money in one form everywhere.
Value public_row(const Value& row) {
  Value shown = Value::object({});
  for (const Value::Member& member : row.members()) {
    if (member.name == "started_at" || member.name == "updated_at") {
      shown.set(member.name, to_rfc3339(number(row, member.name)));
    } else if (member.name == "micro_cents") {
      shown.set("cost_usd", agent::cost_in_dollars(number(row, member.name)));
    } else {
      shown.set(member.name, member.value);
    }
  }
  return shown;
}

// Adds the current status, which the stored row does not have; the stored one if it cannot be read.
void set_status(const Context& context, inbox::Home& home, const RunLog& log, Value& row) {
  const std::string status = row.string_at("status").value_or("");
  pipeline::RunStatus run_status{.word = status};
  if (status == "running" || status == "waiting" || status == "parked") {
    const auto state = log.state(row.string_at("run").value_or(""));
    auto looked = state ? pipeline::read_run_status(context.seams, home, *state) : std::unexpected(state.error());
    if (looked) run_status = std::move(*looked);
  }
  row.set("standing", run_status.word);
  row.set("driven", run_status.is_driven);
}

int list(const Context& context, const RunsOptions& options) {
  const auto home = open_for_reading(context);
  if (!home) return report(context, home.error());
  RunLog log((*home)->store(), context.seams.clock);
  auto page = log.list(options.page);
  if (!page) return report(context, page.error());
  for (Value& row : page->runs) set_status(context, **home, log, row);
  if (options.wants_json) {
    Value items = Value::array();
    for (const Value& row : page->runs) items.push_back(public_row(row));
    context.out(to_json(page_value("runs", std::move(items), page->facts)) + "\n");
    return kExitOk;
  }
  if (page->runs.empty()) context.out("There are no runs yet. Start one: signalbox run \"GOAL\"\n");
  for (const Value& row : page->runs) context.out(list_line(row, context.seams.clock.now_ms()) + "\n");
  const bool has_limit = options.page.limit != store::PageRequest().limit;
  context.out(more_line(page->facts, has_limit ? fmt::format("signalbox runs list --limit {}", options.page.limit)
                                               : "signalbox runs list"));
  return kExitOk;
}

int show(const Context& context, const RunsOptions& options) {
  const auto home = open_for_reading(context);
  if (!home) return report(context, home.error());
  RunLog log((*home)->store(), context.seams.clock);
  const auto id = log.resolve(options.id);
  if (!id) return report(context, id.error());
  const auto state = log.state(*id);
  if (!state) return report(context, state.error());
  const auto run_status = pipeline::read_run_status(context.seams, **home, *state);
  if (!run_status) return report(context, run_status.error());
  if (!options.wants_json) {
    context.out(run_page(*state, *run_status, context.has_colour));
    return kExitOk;
  }
  Value value = state->to_value();
  value.set("standing", run_status->word);
  value.set("driven", run_status->is_driven);
  if (run_status->waits_until != 0) {
    value.set("model_wait",
              Value::object({{"until", to_rfc3339(run_status->waits_until)}, {"reason", run_status->wait_reason}}));
  }
  context.out(to_json(value) + "\n");
  return kExitOk;
}

// New comments do not change what the ticket asks for, but the user should know about them.
void print_comments(const Context& context, const pipeline::Ticket& now, const RunState& state) {
  std::int64_t count = 0;
  for (const pipeline::Ticket::Comment& comment : now.comments) {
    const bool is_ours = comment.text.find("<!-- signalbox: ") != std::string::npos;
    if (!is_ours && std::ranges::find(state.ticket.comments, comment) == state.ticket.comments.end()) ++count;
  }
  if (count == 0) return;
  context.err(fmt::format("The ticket has {} since the run started; agents do not see new comments.\n",
                          count == 1 ? "a new comment" : fmt::format("{} new comments", count)));
}

// The current ticket: the one given, else read again from its source; nothing if it cannot be read.
Result<std::optional<pipeline::Ticket>> ticket_now(const Context& context, runs::RunEnvironment& run_environment,
                                                   const RunState& state, const RunsOptions& options) {
  if (!options.ticket.empty()) return SB_TRY(runs::load_ticket(context.seams, run_environment.forge(), options.ticket));
  if (state.ticket_source.empty() || !state.outcome.empty()) return std::nullopt;
  auto ticket = runs::load_ticket(context.seams, run_environment.forge(), state.ticket_source);
  if (ticket) {
    print_comments(context, *ticket, state);
    return std::move(*ticket);
  }
  context.err(fmt::format("The ticket cannot be read again ({}); the run continues with the stored one.\n",
                          one_line(ticket.error().to_string(), 300)));
  return std::nullopt;
}

int resume(const Context& context, const RunsOptions& options) {
  const auto fail_with = [&](const Error& error) { return report_run(context, error, options.wants_json); };
  const auto wait = parse_wait(options.wait);
  if (!wait) return fail_with(wait.error());
  std::string id;
  RunState state;
  {
    const auto home = inbox::Home::open(context.seams, store::Access::kReadWrite);
    if (!home) return fail_with(home.error());
    RunLog log((*home)->store(), context.seams.clock);
    const auto resolved = log.resolve(options.id);
    if (!resolved) return fail_with(resolved.error());
    const auto read = log.state(*resolved);
    if (!read) return fail_with(read.error());
    id = *resolved;
    state = *read;
  }
  const auto run_environment = runs::RunEnvironment::open(context.seams, state.workspace);
  if (!run_environment && options.wants_json) return fail_with(run_environment.error().front());
  if (!run_environment) return report(context, run_environment.error());
  const auto ticket = ticket_now(context, **run_environment, state, options);
  if (!ticket) return fail_with(ticket.error());
  return resume_run(context, **run_environment, id, *ticket, {.wants_json = options.wants_json, .wait_ms = *wait});
}

// Records the request first: a process that drives the run sees it; if there is none, the caller ends the run.
Status ask_to_stop(const Context& context, const RunsOptions& options, RunState& state) {
  const auto home = SB_TRY(inbox::Home::open(context.seams, store::Access::kReadWrite));
  RunLog log(home->store(), context.seams.clock);
  const std::string id = SB_TRY(log.resolve(options.id));
  state = SB_TRY(log.state(id));
  if (!state.outcome.empty()) return {};
  const std::string by = user_name();
  if (!state.stop_requested) {
    SB_TRY(log.append_at_head(id, "stop_asked", Value::object({{"by", by}, {"reason", options.reason}})));
  }
  if (state.phases.empty() || state.phases.back().is_over) return {};
  agent::AgentLog agent(home->store(), context.seams.clock, state.phases.back().session);
  return agent.append({{"kill_asked", Value::object({{"by", by}, {"reason", "the run is stopped"}}), {}}});
}

int stop(const Context& context, const RunsOptions& options) {
  RunState state;
  if (const Status asked = ask_to_stop(context, options, state); !asked) return report(context, asked.error());
  if (!state.outcome.empty()) {
    context.out(fmt::format("{} has already ended: {}\n", state.id, state.outcome));
    return kExitOk;
  }
  const auto run_environment = runs::RunEnvironment::open(context.seams, state.workspace, runs::RunPurpose::kStopOnly);
  if (!run_environment) return report(context, run_environment.error());
  const auto ended = (*run_environment)->coordinator({}).drive(state.id, {});
  if (!ended && ended.error().code == ErrorCode::kConflict) {
    context.out(fmt::format("Asked {} to stop; the process that drives it will end it\n", state.id));
    return kExitOk;
  }
  if (!ended) return report(context, ended.error());
  context.out(fmt::format("{} is {}\n", ended->id, ended->outcome));
  if (has_work_tree(context.seams.files, *ended)) {
    context.out(fmt::format("Undelivered work is in {}\n", ended->tree.path));
  }
  return kExitOk;
}

using Run = int (*)(const Context&, const RunsOptions&);

Subcommand subcommand(App& runs, const std::string& name, const std::string& summary,
                      const std::shared_ptr<RunsOptions>& options, Run run) {
  App* app = runs.add_subcommand(name, summary);
  return {app, [options, run](Context& context) { return run(context, *options); }};
}

void add_id(App& app, RunsOptions& options) {
  app.add_option("ID", options.id, "The run's id, a prefix of it, or last")->required();
}

}  // namespace

Action declare_runs(App& app) {
  app.require_subcommand(1);
  auto options = std::make_shared<RunsOptions>();
  std::vector<Subcommand> all;
  all.push_back(subcommand(app, "list", "List the newest runs", options, list));
  add_page_options(*all.back().app, options->page);
  all.back().app->add_flag("--json", options->wants_json, "Print JSON: {runs, total, more, next}");
  all.push_back(subcommand(app, "show", "Show everything about a run", options, show));
  add_id(*all.back().app, *options);
  all.back().app->add_flag("--json", options->wants_json, "Print JSON");
  all.push_back(subcommand(app, "resume", "Resume a run", options, resume));
  add_id(*all.back().app, *options);
  all.back().app->add_option("--ticket", options->ticket, "The current ticket, if it changed");
  all.back().app->add_option("--wait", options->wait,
                             "Wait this long for each answer from elsewhere (default: do not wait), and in total for "
                             "unreachable servers (default: 15m); then exit, and continue with runs resume");
  all.back().app->add_flag("--json", options->wants_json, "Print one JSON object per line");
  all.push_back(subcommand(app, "stop", "Stop a run; undelivered work is kept", options, stop));
  add_id(*all.back().app, *options);
  all.back().app->add_option("--reason", options->reason, "Why, for the record");
  all.push_back(subcommand(app, "export", "Print a run's events, one JSON object per line", options, export_run));
  add_id(*all.back().app, *options);
  all.back().app->add_option("--as-test", options->directory,
                             "Instead write a new folder with everything needed to replay the run");
  return [all, app = &app](Context& context) {
    for (const Subcommand& one : all) {
      if (app->got_subcommand(one.app)) return one.action(context);
    }
    return kExitUsage;
  };
}

}  // namespace sb::cli
