// `session steer`, `pause`, `go-on`, `kill`, `retry`, `take-over`: what a person tells the agent that works a session.
// Each is an event in the agent's log; whoever works the session, in whatever process, sees it within about a second.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "agent/agent_log.hpp"
#include "base/limits.hpp"
#include "base/unicode.hpp"
#include "cli/session_parts.hpp"

namespace sb::cli {
namespace {

struct ControlOptions {
  std::string id, text, reason;
  bool wants_json = false;
};

enum class Wish { kSteer, kPause, kGoOn, kKill, kRetry, kTakeOver };

struct WishRow {
  Wish wish;
  const char *name, *summary, *event, *told;
};
constexpr WishRow kRows[] = {
    {Wish::kSteer, "steer", "Tell its agent something; it sees it at its next turn", "steered",
     "Its agent is told at its next turn."},
    {Wish::kPause, "pause", "Let its agent rest before its next turn", "pause_asked",
     "Its agent rests before its next turn; go-on ends that."},
    {Wish::kGoOn, "go-on", "End a pause", "go_on_asked", "Its agent goes on."},
    {Wish::kKill, "kill", "End its agent now; what it delivered stays", "kill_asked",
     "Its agent ends within about a second. Its run then asks what to do: answer retry to start the phase again."},
    {Wish::kRetry, "retry", "Let its agent go on after it ended", "retried",
     "Its agent may go on where it ended. A run that has noted the end asks what to do when it is resumed: answer "
     "retry to start the phase again."},
    {Wish::kTakeOver, "take-over", "End its agent and go on by hand", "taken_over",
     "The session is yours: its agent leaves within about a second."},
};

// How the agent's work stands, as far as a wish depends on it.
struct Standing {
  bool has_begun = false, has_ended = false;
  std::string state;
  agent::Wishes wishes;
};

Standing standing_of(const std::vector<agent::LoggedEvent>& events) {
  Standing standing;
  for (const agent::LoggedEvent& event : events) {
    standing.has_begun = true;
    if (event.type == "ended") {
      standing.has_ended = true;
      standing.state = event.payload.string_at("state").value_or("");
    }
    if (event.type == "retried") standing.has_ended = false;
  }
  standing.wishes = agent::wishes_in(events);
  return standing;
}

Status check(Wish wish, const engine::Summary& summary, const Standing& standing) {
  const bool is_over =
      summary.status == engine::SessionStatus::kComplete || summary.status == engine::SessionStatus::kStopped;
  if (is_over) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is {}", summary.id, engine::to_string(summary.status)),
                "signalbox session show tells what became of it");
  }
  const bool is_held = standing.wishes.is_killed || standing.wishes.is_taken_over;
  if (wish == Wish::kRetry && !standing.has_ended && !is_held) {
    return fail(ErrorCode::kConflict, fmt::format("the agent of session {} has not ended", summary.id),
                standing.has_begun ? "session steer tells it something" : "No agent has worked it yet");
  }
  if (wish == Wish::kGoOn && !standing.wishes.is_paused) {
    return fail(ErrorCode::kConflict, fmt::format("session {} is not paused", summary.id), "session pause pauses it");
  }
  if ((wish == Wish::kSteer || wish == Wish::kPause) && standing.has_ended) {
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

struct Told {
  std::string session, token;
};

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
  const engine::Summary summary = SB_TRY(sessions.summary(id));
  agent::AgentLog log(desk->desk().store(), context.seams.clock, id);
  SB_TRY(check(row.wish, summary, standing_of(SB_TRY(log.read()))));
  Value payload = Value::object({{"by", context.seams.environment.get("USER").value_or("a person")}});
  if (row.wish == Wish::kSteer) payload.set("text", options.text);
  if (!options.reason.empty()) payload.set("reason", options.reason);
  SB_TRY(log.append({{row.event, std::move(payload)}}));
  Told told{id, {}};
  if (row.wish == Wish::kTakeOver) told.token = SB_TRY(sessions.token_for(summary));
  return told;
}

int run_wish(const Context& context, const ControlOptions& options, const WishRow& row) {
  const auto told = tell(context, options, row);
  if (!told) return print_error(context, engine::session_error(told.error()), options.wants_json);
  if (options.wants_json) {
    Value line = Value::object({{"kind", "told"}, {"sessionId", told->session}, {"event", row.event}});
    if (!told->token.empty()) line.set("continueToken", told->token);
    context.out(to_json(line) + "\n");
    return kDone;
  }
  context.out(fmt::format("{}: {}\n", told->session, row.told));
  if (!told->token.empty()) context.out(fmt::format("continue with {}\n", told->token));
  return kDone;
}

}  // namespace

std::vector<Subcommand> declare_session_control(CLI::App& session) {
  std::vector<Subcommand> all;
  for (const WishRow& row : kRows) {
    auto options = std::make_shared<ControlOptions>();
    CLI::App* app = session.add_subcommand(row.name, row.summary);
    app->add_option("id", options->id, "The session's id, or the beginning of it")->required();
    if (row.wish == Wish::kSteer) app->add_option("text", options->text, "What its agent is to know")->required();
    if (row.wish == Wish::kKill || row.wish == Wish::kRetry) app->add_option("--reason", options->reason, "Why");
    app->add_flag("--json", options->wants_json, "Print one line of JSON");
    all.push_back({app, [options, &row](Context& context) { return run_wish(context, *options, row); }});
  }
  return all;
}

}  // namespace sb::cli
