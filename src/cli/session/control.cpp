// `session steer`, `pause`, `go-on`, `kill`, `retry`, `take-over`: what a person tells the agent that works a session.
// Each is an event in the agent's log; whoever works the session, in whatever process, sees it within about a second.
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

enum class Wish { kSteer, kPause, kGoOn, kKill, kRetry, kTakeOver };

struct WishRow {
  Wish wish;
  const char *name, *summary, *event;
};
constexpr WishRow kRows[] = {
    {Wish::kSteer, "steer", "Tell its agent something; it sees it at its next turn", "steered"},
    {Wish::kPause, "pause", "Let its agent rest before its next turn", "pause_asked"},
    {Wish::kGoOn, "go-on", "End a pause", "go_on_asked"},
    {Wish::kKill, "kill", "End its agent now; what it delivered stays", "kill_asked"},
    {Wish::kRetry, "retry", "Let its agent go on after it ended", "retried"},
    {Wish::kTakeOver, "take-over", "End its agent and go on by hand", "taken_over"},
};

// How the agent's work stands, as far as a wish depends on it.
struct Standing {
  bool has_begun = false, has_ended = false, was_retried = false;
  std::string state, run;
  agent::Wishes wishes;
};

Standing standing_of(const std::vector<agent::LoggedEvent>& events) {
  Standing standing;
  for (const agent::LoggedEvent& event : events) {
    if (event.type == "began") {
      standing.has_begun = true;
      standing.run = event.payload.string_at("run").value_or("");
    }
    if (event.type == "ended") {
      standing.has_ended = true;
      standing.state = event.payload.string_at("state").value_or("");
    }
    if (event.type == "retried") standing.has_ended = false;
    if (event.type == "retried" || event.type == "ended") standing.was_retried = event.type == "retried";
  }
  standing.wishes = agent::wishes_in(events);
  return standing;
}

Status check_open(const engine::Summary& summary, const Standing& standing) {
  const bool is_over =
      summary.status == engine::SessionStatus::kComplete || summary.status == engine::SessionStatus::kStopped;
  if (is_over) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is {}", summary.id, engine::to_string(summary.status)),
                "signalbox session show tells what became of it");
  }
  if (!summary.is_autonomous && !standing.has_begun) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is not worked by an agent of Signalbox", summary.id),
                "Whoever started it continues it: session continue, session stop");
  }
  return {};
}

Status check(Wish wish, const engine::Summary& summary, const Standing& standing) {
  const bool is_held = standing.wishes.is_killed || standing.wishes.is_taken_over;
  if (wish == Wish::kRetry && !standing.has_ended && !is_held) {
    return fail(ErrorCode::kConflict, fmt::format("the agent of session {} has not ended", summary.id),
                standing.has_begun ? "session steer tells it something" : "No agent has worked it yet");
  }
  if (wish == Wish::kGoOn && !standing.wishes.is_paused) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is not paused", summary.id), "session pause pauses it");
  }
  const bool is_again = wish == Wish::kTakeOver && standing.wishes.is_taken_over;
  if (wish != Wish::kRetry && wish != Wish::kGoOn && standing.has_ended && !is_again) {
    return fail(ErrorCode::kConflict, fmt::format("the agent of session {} has ended: {}", summary.id, standing.state),
                "session retry lets it go on");
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

std::unexpected<Error> gone_on(const std::string& run, const std::string& session) {
  return fail(ErrorCode::kConflict, fmt::format("run {} has gone on without session {}", run, session),
              fmt::format("signalbox runs show {} tells how", run));
}

// The run whose phase the session works, as far as a wish depends on it.
struct RunNow {
  std::string id;
  bool is_driven = false, has_noted_end = false;
  std::vector<std::string> asks = {};  // what it asks about the end of the phase and nobody has answered
};

// kConflict where the run has gone on without the session.
Result<RunNow> run_of(const Context& context, inbox::Desk& desk, const std::string& session, const Standing& standing) {
  RunNow run{.id = standing.run};
  if (run.id.empty()) return run;
  const auto state = pipeline::RunLog(desk.store(), context.seams.clock).state(run.id);
  if (!state) return RunNow{};  // a session that was brought here without its run
  run.is_driven = pipeline::is_driven(context.seams.files, desk.homes(), run.id);
  if (state->phases.empty() || state->phases.back().session != session) {
    const auto older = std::ranges::find(state->phases, session, &pipeline::PhaseRecord::session);
    if (older != state->phases.end()) return gone_on(run.id, session);
    return run;
  }
  const pipeline::PhaseRecord& record = state->phases.back();
  run.has_noted_end = record.is_over;
  for (const pipeline::Asked& asked : state->asked) {
    if (!record.is_over || asked.seq < record.ended_seq || asked.question != "escalation") continue;
    if (!asked.choice.empty()) return gone_on(run.id, session);
    run.asks.push_back(asked.decision);
  }
  return run;
}

std::string told_text(Wish wish, const RunNow& run) {
  const bool is_left = !run.id.empty() && !run.is_driven;
  const std::string resume = is_left ? fmt::format(" Go on with: signalbox runs resume {}", run.id) : std::string();
  switch (wish) {
    case Wish::kSteer:
      return "Its agent is told at its next turn." + resume;
    case Wish::kPause:
      return "Its agent rests before its next turn; go-on ends that.";
    case Wish::kGoOn:
      return "Its agent goes on." + resume;
    case Wish::kKill:
      if (is_left) return "Nobody works it now; its agent ends when the run is taken up." + resume;
      return "Its agent, and those below it, end within about a second. session retry lets it go on where it ended.";
    case Wish::kRetry:
      return "Its agent goes on where it ended." + resume;
    case Wish::kTakeOver:
      return "The session is yours: its agent leaves within about a second.";
  }
  return {};
}

// The answer to what the run asks about the end. One that somebody gave stands.
Status settle_questions(store::Transaction& transaction, inbox::Inbox& inbox, const RunNow& run) {
  for (const std::string& decision : run.asks) {
    if (!SB_TRY(inbox.load_in(transaction, decision)).is_open()) {
      return fail(ErrorCode::kConflict, fmt::format("{} is answered already, and the run goes by that", decision),
                  fmt::format("Go on with: signalbox runs resume {}", run.id));
    }
    SB_TRY(inbox.drop_in(transaction, decision));
  }
  return {};
}

struct Told {
  std::string session, token;
  RunNow run;
};

// Somebody who is about to note that it was killed must not do so after it was retried.
Result<Standing> standing_now(const Context& context, inbox::Desk& desk, const agent::AgentLog& log, Wish wish) {
  Standing standing = standing_of(SB_TRY(log.read()));
  for (int tries = 0; wish == Wish::kRetry && tries < kEndTries; ++tries) {
    const bool is_ending = !standing.has_ended && (standing.wishes.is_killed || standing.wishes.is_taken_over);
    if (!is_ending || standing.run.empty() || !pipeline::is_driven(context.seams.files, desk.homes(), standing.run))
      break;
    context.seams.clock.sleep_ms(kEndMs);
    standing = standing_of(SB_TRY(log.read()));
  }
  return standing;
}

Result<Told> tell(const Context& context, const ControlOptions& options, const WishRow& row) {
  if (row.wish == Wish::kSteer && is_blank(options.text)) {
    return fail(ErrorCode::kInvalid, "there is nothing to tell",
                "Write what the agent is to know behind the session's id");
  }
  SB_TRY(check_text("the text", options.text));
  SB_TRY(check_text("the reason", options.reason));
  const auto desk = SB_TRY(SessionDesk::open(context.seams));
  engine::Sessions& sessions = desk->sessions();
  const std::string id = SB_TRY(sessions.resolve(options.id));
  agent::AgentLog log(desk->desk().store(), context.seams.clock, id);
  Standing standing = SB_TRY(standing_now(context, desk->desk(), log, row.wish));
  const engine::Summary summary = SB_TRY(sessions.summary(id));
  SB_TRY(check_open(summary, standing));
  Told told{id, {}, SB_TRY(run_of(context, desk->desk(), id, standing))};
  if (told.run.has_noted_end && !standing.was_retried) standing.has_ended = true;
  SB_TRY(check(row.wish, summary, standing));
  Value payload = Value::object({{"by", user_name()}});
  if (row.wish == Wish::kSteer) payload.set("text", options.text);
  if (!options.reason.empty()) payload.set("reason", options.reason);
  SB_TRY(log.append_with([&](store::Transaction& transaction) -> Result<std::vector<agent::AgentLog::Entry>> {
    if (row.wish == Wish::kRetry) SB_TRY(settle_questions(transaction, desk->desk().inbox(), told.run));
    return std::vector<agent::AgentLog::Entry>{{row.event, payload}};
  }));
  if (row.wish == Wish::kTakeOver) told.token = SB_TRY(sessions.token_for(summary));
  return told;
}

int run_wish(const Context& context, const ControlOptions& options, const WishRow& row) {
  const auto told = tell(context, options, row);
  if (!told) return print_error(context, engine::session_error(told.error()), options.wants_json);
  if (options.wants_json) {
    Value line = Value::object({{"kind", "told"}, {"sessionId", told->session}, {"event", row.event}});
    if (!told->token.empty()) line.set("continueToken", told->token);
    if (!told->run.id.empty()) {
      line.set("run", told->run.id);
      line.set("driven", told->run.is_driven);
    }
    context.out(to_json(line) + "\n");
    return kDone;
  }
  context.out(fmt::format("{}: {}\n", told->session, told_text(row.wish, told->run)));
  if (!told->token.empty()) context.out(fmt::format("continue with {}\n", told->token));
  return kDone;
}

}  // namespace

std::vector<Subcommand> declare_session_control(App& session) {
  std::vector<Subcommand> all;
  for (const WishRow& row : kRows) {
    auto options = std::make_shared<ControlOptions>();
    App* app = session.add_subcommand(row.name, row.summary);
    app->add_option("id", options->id, "The session's id, or the beginning of it")->required();
    if (row.wish == Wish::kSteer) app->add_option("text", options->text, "What its agent is to know")->required();
    if (row.wish == Wish::kKill || row.wish == Wish::kRetry) app->add_option("--reason", options->reason, "Why");
    app->add_flag("--json", options->wants_json, "Print one line of JSON");
    all.push_back({app, [options, &row](Context& context) { return run_wish(context, *options, row); }});
  }
  return all;
}

}  // namespace sb::cli
