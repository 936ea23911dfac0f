// `session steer`, `pause`, `unpause`, `kill`, `retry`, `take-over`: a person controls the agent of a session. Each is
// an event in the agent's log; the process that runs the agent sees it within about a second.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "cli/person.hpp"
#include "cli/session/session_commands.hpp"
#include "pipeline/run/run_status.hpp"

namespace sb::cli {
namespace {

constexpr std::int64_t kEndMs = 100;
constexpr int kEndTries = 50;

struct ControlOptions {
  std::string id, text, reason;
  bool wants_json = false;
};

enum class ControlAction { kSteer, kPause, kUnpause, kKill, kRetry, kTakeOver };

struct ControlRow {
  ControlAction action;
  const char *name, *summary, *event;
};
constexpr ControlRow kRows[] = {
    {ControlAction::kSteer, "steer", "Send the agent a message; it reads it at its next turn", "steered"},
    {ControlAction::kPause, "pause", "Pause the agent before its next turn", "pause_asked"},
    {ControlAction::kUnpause, "unpause", "Continue a paused agent", "go_on_asked"},
    {ControlAction::kKill, "kill", "End the agent now; what it delivered stays", "kill_asked"},
    {ControlAction::kRetry, "retry", "Continue an agent that ended", "retried"},
    {ControlAction::kTakeOver, "take-over", "End the agent and continue by hand", "taken_over"},
};

// The agent's status, as far as a control command depends on it.
struct AgentStatus {
  bool has_begun = false, has_ended = false, was_retried = false;
  std::string state, run;
  agent::ControlRequests requests;
};

AgentStatus agent_status_of(const std::vector<agent::LoggedEvent>& events) {
  AgentStatus agent_status;
  for (const agent::LoggedEvent& event : events) {
    if (event.type == "began") {
      agent_status.has_begun = true;
      agent_status.run = event.payload.string_at("run").value_or("");
    }
    if (event.type == "ended") {
      agent_status.has_ended = true;
      agent_status.state = event.payload.string_at("state").value_or("");
    }
    if (event.type == "retried") agent_status.has_ended = false;
    if (event.type == "retried" || event.type == "ended") agent_status.was_retried = event.type == "retried";
  }
  agent_status.requests = agent::control_requests_in(events);
  return agent_status;
}

Status check_open(const engine::Summary& summary, const AgentStatus& agent_status) {
  const bool is_over =
      summary.status == engine::SessionStatus::kComplete || summary.status == engine::SessionStatus::kStopped;
  if (is_over) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is {}", summary.id, engine::to_string(summary.status)),
                "See signalbox session show");
  }
  if (!summary.is_autonomous && !agent_status.has_begun) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is not run by an agent of Signalbox", summary.id),
                "Use session continue or session stop");
  }
  return {};
}

Status check(ControlAction action, const engine::Summary& summary, const AgentStatus& agent_status) {
  const bool is_held = agent_status.requests.is_killed || agent_status.requests.is_taken_over;
  if (action == ControlAction::kRetry && !agent_status.has_ended && !is_held) {
    return fail(ErrorCode::kConflict, fmt::format("the agent of session {} has not ended", summary.id),
                agent_status.has_begun ? "Send it a message with session steer" : "No agent has worked on it yet");
  }
  if (action == ControlAction::kUnpause && !agent_status.requests.is_paused) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is not paused", summary.id),
                "Pause it with session pause");
  }
  const bool is_again = action == ControlAction::kTakeOver && agent_status.requests.is_taken_over;
  if (action != ControlAction::kRetry && action != ControlAction::kUnpause && agent_status.has_ended && !is_again) {
    return fail(ErrorCode::kConflict,
                fmt::format("the agent of session {} has ended: {}", summary.id, agent_status.state),
                "Continue it with session retry");
  }
  return {};
}

Status check_text(std::string_view what, std::string_view text) {
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, fmt::format("{} is not UTF-8", what), "Send UTF-8 text");
  if (text.size() > limits::kTextBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} has {} bytes; at most {} are allowed", what, text.size(), limits::kTextBytes),
                "Shorten it");
  }
  return {};
}

std::unexpected<Error> run_moved_on(const std::string& run, const std::string& session) {
  return fail(ErrorCode::kConflict, fmt::format("run {} has moved on without session {}", run, session),
              fmt::format("See signalbox runs show {}", run));
}

// The run that the session is a phase of, as far as a control command depends on it.
struct RunSnapshot {
  std::string id;
  bool is_driven = false, has_noted_end = false;
  std::vector<std::string> asks = {};  // open questions about the end of the phase
};

// kConflict if the run has moved on without the session.
Result<RunSnapshot> run_of(const Context& context, inbox::Home& home, const std::string& session,
                           const AgentStatus& agent_status) {
  RunSnapshot run{.id = agent_status.run};
  if (run.id.empty()) return run;
  const auto state = pipeline::RunLog(home.store(), context.seams.clock).state(run.id);
  if (!state) return RunSnapshot{};  // an imported session whose run is not here
  run.is_driven = pipeline::is_driven(context.seams.files, home.homes(), run.id);
  if (state->phases.empty() || state->phases.back().session != session) {
    const auto older = std::ranges::find(state->phases, session, &pipeline::PhaseRecord::session);
    if (older != state->phases.end()) return run_moved_on(run.id, session);
    return run;
  }
  const pipeline::PhaseRecord& record = state->phases.back();
  run.has_noted_end = record.is_over;
  for (const pipeline::RunQuestion& asked : state->asked) {
    if (!record.is_over || asked.seq < record.ended_seq || asked.question != "escalation") continue;
    if (!asked.choice.empty()) return run_moved_on(run.id, session);
    run.asks.push_back(asked.decision);
  }
  return run;
}

std::string result_text(ControlAction action, const RunSnapshot& run) {
  const bool is_left = !run.id.empty() && !run.is_driven;
  const std::string resume = is_left ? fmt::format(" Resume with: signalbox runs resume {}", run.id) : std::string();
  switch (action) {
    case ControlAction::kSteer:
      return "The agent reads the message at its next turn." + resume;
    case ControlAction::kPause:
      return "The agent pauses before its next turn. Continue it with session unpause.";
    case ControlAction::kUnpause:
      return "The agent continues." + resume;
    case ControlAction::kKill:
      if (is_left) return "No process is running it; the agent ends when the run is resumed." + resume;
      return "The agent and its children end within about a second. Continue it with session retry.";
    case ControlAction::kRetry:
      return "The agent continues where it ended." + resume;
    case ControlAction::kTakeOver:
      return "The session is yours; the agent ends within about a second.";
  }
  return {};
}

// A retry answers the run's questions about the end of the phase. An answer that was given already is kept.
Status settle_questions(store::Transaction& transaction, inbox::Inbox& inbox, const RunSnapshot& run) {
  for (const std::string& decision : run.asks) {
    if (!SB_TRY(inbox.load_in(transaction, decision)).is_open()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} is already answered, and the run follows that answer", decision),
                  fmt::format("Resume with: signalbox runs resume {}", run.id));
    }
    SB_TRY(inbox.discard_in(transaction, decision));
  }
  return {};
}

struct ControlResult {
  std::string session, token;
  RunSnapshot run;
};

// Waits for a kill to be recorded first: the process that records it must not do so after the retry.
Result<AgentStatus> current_agent_status(const Context& context, inbox::Home& home, const agent::AgentLog& log,
                                         ControlAction action) {
  AgentStatus agent_status = agent_status_of(SB_TRY(log.read()));
  for (int tries = 0; action == ControlAction::kRetry && tries < kEndTries; ++tries) {
    const bool is_ending =
        !agent_status.has_ended && (agent_status.requests.is_killed || agent_status.requests.is_taken_over);
    if (!is_ending || agent_status.run.empty() ||
        !pipeline::is_driven(context.seams.files, home.homes(), agent_status.run))
      break;
    context.seams.clock.sleep_ms(kEndMs);
    agent_status = agent_status_of(SB_TRY(log.read()));
  }
  return agent_status;
}

Result<ControlResult> control(const Context& context, const ControlOptions& options, const ControlRow& row) {
  if (row.action == ControlAction::kSteer && is_blank(options.text)) {
    return fail(ErrorCode::kInvalid, "the message is empty", "Write the message after the session's id");
  }
  SB_TRY(check_text("the text", options.text));
  SB_TRY(check_text("the reason", options.reason));
  const auto home = SB_TRY(SessionHome::open(context.seams));
  engine::Sessions& sessions = home->sessions();
  const std::string id = SB_TRY(sessions.resolve(options.id));
  agent::AgentLog log(home->home().store(), context.seams.clock, id);
  AgentStatus agent_status = SB_TRY(current_agent_status(context, home->home(), log, row.action));
  const engine::Summary summary = SB_TRY(sessions.summary(id));
  SB_TRY(check_open(summary, agent_status));
  if (row.action == ControlAction::kTakeOver && summary.is_driven()) {
    SB_TRY(refuse_known_agents(context, "take a run's session over"));
  }
  ControlResult result{id, {}, SB_TRY(run_of(context, home->home(), id, agent_status))};
  if (result.run.has_noted_end && !agent_status.was_retried) agent_status.has_ended = true;
  SB_TRY(check(row.action, summary, agent_status));
  Value payload = Value::object({{"by", user_name()}});
  if (row.action == ControlAction::kSteer) payload.set("text", options.text);
  if (!options.reason.empty()) payload.set("reason", options.reason);
  SB_TRY(log.append_with([&](store::Transaction& transaction) -> Result<std::vector<agent::AgentLog::Entry>> {
    if (row.action == ControlAction::kRetry) {
      SB_TRY(settle_questions(transaction, home->home().inbox(), result.run));
      SB_TRY(sessions.return_to_run_in(transaction, id));
    }
    if (row.action == ControlAction::kTakeOver) {
      const std::string run = summary.run.empty() ? agent_status.run : summary.run;
      SB_TRY(sessions.take_over_in(transaction, id, run, user_name()));
    }
    return std::vector<agent::AgentLog::Entry>{{row.event, payload}};
  }));
  if (row.action == ControlAction::kTakeOver) result.token = SB_TRY(sessions.token_for(SB_TRY(sessions.summary(id))));
  return result;
}

int run_request(const Context& context, const ControlOptions& options, const ControlRow& row) {
  const auto result = control(context, options, row);
  if (!result) return print_error(context, engine::session_error(result.error()), options.wants_json);
  if (options.wants_json) {
    Value line = Value::object({{"kind", "recorded"}, {"sessionId", result->session}, {"event", row.event}});
    if (!result->token.empty()) line.set("continueToken", result->token);
    if (!result->run.id.empty()) {
      line.set("run", result->run.id);
      line.set("driven", result->run.is_driven);
    }
    context.out(to_json(line) + "\n");
    return kExitOk;
  }
  context.out(fmt::format("{}: {}\n", result->session, result_text(row.action, result->run)));
  if (!result->token.empty()) context.out(fmt::format("continue with {}\n", result->token));
  return kExitOk;
}

}  // namespace

std::vector<Subcommand> declare_session_control(App& session) {
  std::vector<Subcommand> all;
  for (const ControlRow& row : kRows) {
    auto options = std::make_shared<ControlOptions>();
    App* app = session.add_subcommand(row.name, row.summary);
    app->add_option("ID", options->id, "The session's id, or a prefix of it")->required();
    if (row.action == ControlAction::kSteer)
      app->add_option("TEXT", options->text, "The message for the agent")->required();
    if (row.action == ControlAction::kKill || row.action == ControlAction::kRetry)
      app->add_option("--reason", options->reason, "Why");
    app->add_flag("--json", options->wants_json, "Print one line of JSON");
    all.push_back({app, [options, &row](Context& context) { return run_request(context, *options, row); }});
  }
  return all;
}

}  // namespace sb::cli
