// The parts of program_session.hpp that talk to the agent: its first prompt, and the tools of its session.
#include <fmt/format.h>

#include <utility>

#include "agent/programs/program_session.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

struct CountedCall {
  std::atomic<int>& count;
  explicit CountedCall(std::atomic<int>& counter) : count(counter) { ++count; }
  ~CountedCall() { --count; }
};

constexpr std::string_view kRest =
    "Someone else must act first. End your turn now: you will be started again when the work can continue.";
constexpr std::string_view kDone = "\n\nThe workflow is complete. End your turn; nothing is left to do.";
constexpr std::string_view kRepeated = "\n\nYou made this call several times with the same result. Try something else.";

std::string writing_text(const WorkTreeAccess& place) {
  if (!place.allows_writing()) return ", which is read-only";
  if (!place.writable_folders) return {};
  return fmt::format(", which is read-only except for {}", fmt::join(*place.writable_folders, ", "));
}

}  // namespace

std::optional<WorkResult> ProgramSession::enter() {
  {
    const std::scoped_lock lock(mutex_);
    if (const Status followed = follow(); !followed) {
      return WorkResult{.state = EndState::kInternalError, .reason = followed.error().to_string()};
    }
  }
  if (auto end = parts_.work_context.watchdog.end()) return end;
  StepOutcome settled = advance_session(work_context_);
  if (settled.kind == StepOutcome::Kind::kComplete) return WorkResult{.state = EndState::kComplete, .reason = {}};
  if (settled.kind == StepOutcome::Kind::kSuspended) return std::move(settled.ended);
  {
    const std::scoped_lock lock(mutex_);
    step_ = settled.step;
    if (upstream_ != nullptr) {
      if (auto end = parts_.transcript.must_wait(upstream_->name, now())) return end;
    }
  }
  const std::scoped_lock calling(call_mutex_);
  for (const OpenAsk& ask : open_asks()) {
    const ToolCall call{.id = ask.call, .name = "ask", .input = Value::object()};
    SessionToolResult done = tools_.run(call, "", ask.decision);
    if (done.left) return std::move(*done.left);
    answers_ += fmt::format("You asked a person something before. {}\n\n", done.result.text);
    end_call(call, std::move(done), 0);
  }
  return std::nullopt;
}

// Messages from people that the agent has not seen yet.
std::string ProgramSession::steering() {
  const ControlRequests requests = parts_.transcript.requests();
  std::string said;
  for (const std::string& text : requests.steered) {
    said += fmt::format("Message from the person supervising this work:\n{}\n\n", text);
  }
  if (said.empty()) return said;
  const Value seen = Value::object({{"turn", parts_.transcript.turn()}, {"upto", requests.upto}});
  return commit({{"steer_seen", seen}}) ? said : std::string();
}

// Questions that the agent asked a person before it ended.
std::vector<ProgramSession::OpenAsk> ProgramSession::open_asks() {
  std::vector<OpenAsk> open;
  const auto events = parts_.work_context.log.read();
  for (const LoggedEvent& event : events ? *events : std::vector<LoggedEvent>()) {
    const std::string call = event.payload.string_at("call").value_or("");
    if (event.type == "tool_started" && event.payload.find("decision") != nullptr) {
      open.push_back({call, event.payload.string_at("decision").value_or("")});
    }
    if (event.type == "tool_ended") std::erase_if(open, [&](const OpenAsk& ask) { return ask.call == call; });
  }
  return open;
}

Result<std::string> ProgramSession::prompt(bool again) {
  std::string step = SB_TRY(full_step_text(work_context_));
  const std::scoped_lock lock(mutex_);
  SB_TRY(follow());
  own_calls_.clear();
  const Assignment& assignment = parts_.work_context.assignment;
  std::string said = fmt::format(
      "# Your session\n\nYou work on session {} of the workflow {}, in the folder {}{}. Its tools are those of the MCP "
      "server `signalbox`: submit each step with complete_step. The work is done only when an answer says that the "
      "workflow is complete.\n\n",
      assignment.session, assignment.workflow, assignment.work_tree, writing_text(parts_.place));
  const bool is_new = !parts_.transcript.has_begun();
  if (again || !is_new) {
    said +=
        "You were started before and stopped before the workflow was complete. Submitted steps are kept. The folder "
        "may contain other changes you made: look before you edit.\n\n";
  }
  said += std::exchange(answers_, {}) + steering() + "# The open step\n\n" + step;
  std::string text;
  for (const Slot& slot : assignment.bundle.slots) {
    if (!slot.text.empty()) text += slot.text + "\n\n";
  }
  if (is_new) {
    const std::string made =
        to_canonical_json(Value::object({{"bundle", assignment.bundle.to_value()}, {"first", said}}));
    Value began = Value::object({{"v", 1},
                                 {"session", assignment.session},
                                 {"workflow", assignment.workflow},
                                 {"role", assignment.role},
                                 {"model", fmt::format("command/{}", parts_.model.name)},
                                 {"mode", to_string(assignment.bundle.mode)},
                                 {"bundle", sha256_hex(made)},
                                 {"keys", assignment.bundle.facts()["keys"]},
                                 {"limits", to_value(parts_.work_context.limits)},
                                 {"depth", assignment.depth},
                                 {"sandbox", sandbox_}});
    if (!assignment.run.empty()) began.set("run", assignment.run);
    if (upstream_ != nullptr) began.set("upstream", upstream_->name);
    SB_TRY(commit({{"began", std::move(began), {made}}}));
  } else {
    const std::string_view why = again ? "the program ended before the workflow was complete"
                                       : "the program is started again in the session's current state";
    SB_TRY(
        commit({{"recovered", Value::object({{"turn", parts_.transcript.turn()}, {"how", "resumed"}, {"why", why}})}}));
  }
  return text + said;
}

Status ProgramSession::start_call(const ToolCall& call, std::string& token, std::string& decision) {
  const auto start = SessionTools::only_logs(call.name) ? Result<ToolStart>(ToolStart()) : tools_.prepare(call);
  if (!start) return std::unexpected(start.error());
  token = start->token;
  Value started = Value::object({{"turn", work_context_.turn},
                                 {"call", call.id},
                                 {"tool", call.name},
                                 {"what", tools_.what(call)},
                                 {"led", true}});
  if (!token.empty()) started.set("token", token);
  const auto make = [&](store::Transaction& transaction) -> Result<std::vector<AgentLog::Entry>> {
    if (start->question) {
      const Assignment& assignment = parts_.work_context.assignment;
      decision =
          SB_TRY(work_context_.parts.home.home().inbox().open_in(
                     transaction, *start->question, {.workspace = assignment.work_tree, .session = assignment.session}))
              .id;
      started.set("decision", decision);
    }
    return std::vector<AgentLog::Entry>{{"tool_started", started}};
  };
  return parts_.work_context.log.append_with(make);
}

std::string ProgramSession::note_repeats(const ToolCall& call, const std::string& result) {
  const std::string made = sha256_hex(fmt::format("{}\n{}\n{}", call.name, to_canonical_json(call.input), result));
  repeats_ = made == repeated_ ? repeats_ + 1 : 1;
  repeated_ = made;
  if (repeats_ > parts_.work_context.limits.repeats) {
    set_end({.state = EndState::kRepeating,
             .reason = fmt::format("the same call was repeated {} times in a row with the same result", repeats_)});
  }
  return std::string(repeats_ == parts_.work_context.limits.repeats ? kRepeated : "");
}

ToolResult ProgramSession::end_call(const ToolCall& call, SessionToolResult done, std::int64_t ms) {
  const std::scoped_lock lock(mutex_);
  ToolResult result = std::move(done.result);
  result.text = parts_.work_context.redactor.clean(as_utf8(result.text));
  if (result.facts["refused"] == Value(true)) {
    const std::string hint = hint_for_refusal(parts_.transcript.refusals() + 1, result.facts["blockers"]);
    if (!hint.empty()) result.text += "\n\n" + hint;
  }
  const std::string repeated = note_repeats(call, result.text);
  result.text += repeated;
  Value ended = Value::object({{"turn", work_context_.turn},
                               {"call", call.id},
                               {"tool", call.name},
                               {"result", sha256_hex(result.text)},
                               {"error", result.is_error},
                               {"ms", ms},
                               {"led", true}});
  if (!result.facts.is_null()) ended.set("facts", result.facts);
  std::vector<AgentLog::Entry> entries = std::move(done.entries);
  entries.push_back({"tool_ended", std::move(ended), {result.text}});
  if (const Status kept = commit(std::move(entries)); !kept) {
    set_end({.state = EndState::kInternalError, .reason = kept.error().to_string()});
  }
  if (done.is_complete) {
    finished_at_ms_ = now();
    result.text += kDone;
  } else {
    result.text = steering() + result.text;
  }
  return result;
}

ToolResult ProgramSession::call(const ToolCall& made, const ToolRun&) {
  const CountedCall running(calls_running_);
  const std::scoped_lock calling(call_mutex_);
  ToolCall call = made;
  const ToolDeclaration* declared = tools_.find(call.name);
  if (declared == nullptr) return {.text = fmt::format("Unknown tool {}.", call.name), .is_error = true};
  {
    const std::scoped_lock lock(mutex_);
    call.id = fmt::format("mcp_{}", ++calls_);
    work_context_.turn = parts_.transcript.turn();
  }
  if (!parts_.work_context.watchdog.should_continue())
    return {.text = "The session was ended. End your turn.", .is_error = true};
  if (finished_at_ms_ != 0) return {.text = std::string(kRest), .is_error = true};
  if (std::string wrong = schema_errors(*declared, call.input); !wrong.empty())
    return {.text = std::move(wrong), .is_error = true};
  std::string token, decision;
  const TimestampMs from = now();
  if (const auto started = start_call(call, token, decision); !started) {
    return {.text = started.error().to_string(), .is_error = true};
  }
  work_context_.report(Progress::Kind::kTool, fmt::format("{} {}", call.name, tools_.what(call)), "");
  SessionToolResult done = tools_.run(call, token, decision);
  if (!done.left) return end_call(call, std::move(done), now() - from);
  const std::scoped_lock lock(mutex_);
  finished_at_ms_ = now();
  left_ = std::move(*done.left);
  return {.text = std::string(kRest), .is_error = false};
}

std::string ProgramSession::tool_denial(const ToolCall& call) {
  note_activity();
  const std::string why = interlock_denial(parts_.place, call);
  if (why.empty()) return why;
  const std::scoped_lock lock(mutex_);
  const std::string cleaned = parts_.work_context.redactor.clean(why);
  const Value refused = Value::object({{"turn", parts_.transcript.turn()}, {"what", call.name}, {"why", cleaned}});
  if (const Status kept = commit({{"refused", refused}}); !kept) {
    set_end({.state = EndState::kInternalError, .reason = kept.error().to_string()});
  }
  return cleaned;
}

}  // namespace sb::agent
