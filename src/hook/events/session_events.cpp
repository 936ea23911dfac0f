// Notes to a conversation about its session: when it begins, after a compaction, and when a decision was answered.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/shown_values.hpp"
#include "base/document/stored_reader.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "guard/host_session.hpp"
#include "guard/limits.hpp"
#include "hook/events/changed_places.hpp"
#include "hook/events/current_step.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/events/walk_words.hpp"
#include "inbox/home.hpp"
#include "store/paging.hpp"

namespace sb::hook {
namespace {

constexpr std::size_t kLongestChoice = 200;
constexpr std::size_t kEllipsisBytes = 3;

// What a conversation is working on, and the state of the decision it waits for.
struct Situation {
  CurrentStep current;
  std::optional<inbox::DecisionState> decision;  // the one waited for
  bool is_reported = false;                      // its end was already reported to this conversation
  Value context = {};                            // the values that the step sees

  bool has_answer() const { return decision && !decision->is_open(); }
};

Value visible_of(const guard::OpenStep& step, const Value& context) {
  if (!step.visible) return context;
  Value visible = Value::object();
  for (const std::string& key : *step.visible) {
    if (const Value* value = context.find(key)) visible.set(key, *value);
  }
  return visible;
}

// What the agent may see. Nothing for a row of an older version, or if the values cannot be read: the note matters more
// than they do.
Value context_of(store::Snapshot& snapshot, const guard::OpenStep& step) {
  const auto bytes = from_hex(step.context);
  Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return {};
  std::ranges::copy(*bytes, digest.begin());
  const auto blob = snapshot.blob(digest);
  if (!blob || !*blob) return {};
  return visible_of(step, parse_stored(**blob).value_or(Value()));
}

Result<std::optional<Situation>> situation_of(const HookEvent& event, inbox::Home& home, const Seams& seams) {
  const std::vector<std::string> folders = session_folders(seams.files, SB_TRY(folder_of(event, seams)));
  return home.store().read([&](store::Snapshot& snapshot) -> Result<std::optional<Situation>> {
    auto current = SB_TRY(current_step(snapshot, event, folders, seams.clock.now_ms()));
    if (!current) return std::nullopt;
    Situation situation{.current = std::move(*current), .decision = std::nullopt};
    situation.context = context_of(snapshot, situation.current.step());
    const std::string& decision = situation.current.step().decision;
    if (decision.empty()) return situation;
    auto state = home.inbox().peek_in(snapshot, decision);
    if (!state && state.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(state).error());
    if (state) situation.decision = std::move(*state);
    const auto host = SB_TRY(guard::read_host_session(snapshot, guard::host_key(event.session, "")));
    situation.is_reported = std::ranges::find(host.notified, decision) != host.notified.end();
    return situation;
  });
}

// `safe ("The safe way")`: the id for the agent, the label the person read.
std::string named(const inbox::Part* part, const std::string& id) {
  const inbox::Choice* choice = part == nullptr ? nullptr : part->find(id);
  return choice == nullptr || choice->label.empty() || choice->label == id
             ? id
             : fmt::format("{} (\"{}\")", id, choice->label);
}

std::string named_all(const inbox::Part* part, const Value& ids) {
  if (ids.is_string()) return named(part, ids.as_string());
  if (!ids.is_array()) return to_json(ids);
  std::string text;
  for (const Value& id : ids.items()) text += (text.empty() ? "" : ", ") + named_all(part, id);
  return text;
}

std::string chosen(const inbox::DecisionState& state) {
  const inbox::DecisionOutcome& outcome = *state.outcome;
  const inbox::Question& question = state.opened.question;
  std::string text = outcome.options.empty() ? ""
                                             : named_all(question.parts.empty() ? nullptr : &question.parts.front(),
                                                         Value::array(outcome.options));
  if (text.empty() && outcome.values.is_object()) {
    for (const auto& [key, ids] : outcome.values.members()) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", key, named_all(question.find(key), ids));
    }
  }
  if (text.empty()) text = inbox::to_string(outcome.kind);
  return shortened(one_line(printable(text)), kLongestChoice);
}

std::string answer_text(const Situation& situation) {
  const guard::OpenStep& step = situation.current.step();
  return fmt::format("Decision {} of step \"{}\" ({}) has been answered: {}.", step.decision, step.title, step.workflow,
                     chosen(*situation.decision));
}

std::string step_text(const Situation& situation) {
  const guard::OpenStep& step = situation.current.step();
  std::string text = fmt::format("Signalbox session {} of {} is open, at step {} of {}: {} ({}).", step.session,
                                 step.workflow, step.number, step.of, step.title, step.step);
  if (!step.goal.empty()) text += fmt::format("\nGoal: {}", one_line(printable(step.goal)));
  if (situation.has_answer()) {
    text += "\n" + answer_text(situation);
  } else if (!step.decision.empty()) {
    text += fmt::format("\nIt waits for a person to answer {}.", step.decision);
  } else if (step.waiting == "children") {
    text += "\nIt waits for the sessions it started.";
  } else if (!step.required_output.empty()) {
    text += fmt::format("\nRequired: {}.", step.required_output);
  }
  std::string rules;
  if (step.writes && step.writes->empty()) rules = "change no file";
  if (step.writes && !step.writes->empty()) rules = fmt::format("change only {}", fmt::join(*step.writes, ", "));
  if (step.commands_read_only) rules += fmt::format("{}run only read-only commands", rules.empty() ? "" : "; ");
  if (!rules.empty()) text += fmt::format("\nWhile it is open: {}.", rules);
  return text;
}

// The context values of its branch, as far as there is room.
std::string context_text(const Situation& situation, std::size_t room) {
  constexpr std::string_view kHeading = "\nContext:\n";
  constexpr std::size_t kLeastRoom = 80;
  if (room < kHeading.size() + kLeastRoom) return {};
  std::string values = shown_values(situation.context, room - kHeading.size(),
                                    fmt::format("signalbox://session/{}", situation.current.step().session), {"goal"});
  while (values.ends_with('\n')) values.pop_back();
  return values.empty() ? values : std::string(kHeading) + values;
}

// What the continue_workflow call does, by what the step waits for. A waiting step is not submitted: calling again
// continues it.
std::string call_text(const guard::OpenStep& step, bool has_answer) {
  const bool is_waiting = !step.waiting.empty() || !step.decision.empty();
  Value call = Value::object({{"continueToken", step.token}});
  if (!is_waiting) call.set("intent", "rehydrate");
  call.set("workspacePath", step.workspace);
  const std::string text = to_json(call);
  if (step.token.empty() || text.size() > limits::kHookNoteBytes / 2) return "resume_session returns its token.";
  std::string_view then = "shows the step again; calling it with the same token and your notes submits it.";
  if (is_waiting) then = "shows its status, and continues once that is done; there is nothing to submit.";
  if (has_answer) then = "continues; there is nothing to submit.";
  return fmt::format("continue_workflow {} {}", text, then);
}

// Never truncated: the conversation cannot continue without it.
std::string how_to_continue(const Situation& situation) {
  return fmt::format("\n{}{}", call_text(situation.current.step(), situation.has_answer()),
                     situation.current.is_used ? "" : " Ignore it if you were asked for something else.");
}

std::string prompt_text(const Situation& situation) {
  const std::string& token = situation.current.step().token;
  const std::string call = token.empty() ? "" : fmt::format(" with continueToken {}", token);
  return fmt::format("Signalbox: {} Call continue_workflow{} to continue.", answer_text(situation), call);
}

// What came after the first answer to a question without a session; one with a session hears of it with its next call.
Result<std::string> late_answers_in(const std::string& folder, inbox::Home& home, const Seams& seams) {
  if (SB_TRY(home.inbox().late_answers(folder)).empty()) return "";
  const auto writing = SB_TRY(open_home(seams, store::Access::kReadWrite));
  return writing ? writing->inbox().take_late_answers(folder) : Result<std::string>("");
}

Status record_notified_once(const HookEvent& event, const std::string& what, const Seams& seams) {
  const auto store = SB_TRY(open_store(seams, store::Access::kReadWrite));
  if (!store) return {};
  return store->write([&](store::Transaction& transaction) {
    return guard::record_notified(transaction, event.session, what, seams.clock.now_ms());
  });
}

// As many of these lines as there is room for, and how many there are beside them.
std::string fitted(std::string_view late, std::size_t room) {
  std::string text;
  std::size_t left_out = 0;
  for (const std::string_view line : lines_of(late)) {
    const std::string next = fmt::format("Signalbox: {}\n", line);
    if (left_out > 0 || text.size() + next.size() > room) {
      ++left_out;
    } else {
      text += next;
    }
  }
  if (left_out > 0) {
    text +=
        fmt::format("Signalbox: late answers that are not shown here: {}. See signalbox inbox list --all.\n", left_out);
  }
  return text;
}

std::string ago(TimestampMs ms) {
  constexpr std::array<std::pair<TimestampMs, std::string_view>, 3> kUnits{
      {{86'400'000, "day"}, {3'600'000, "hour"}, {60'000, "minute"}}};
  for (const auto& [unit, name] : kUnits) {
    if (ms >= unit) return fmt::format("{} {}{} ago", ms / unit, name, ms / unit == 1 ? "" : "s");
  }
  return "less than a minute ago";
}

// For a conversation without a session, one that was left open in its folder. Only the user knows whether the
// conversation that used it still lives.
std::string left_text(const LeftSession& left, TimestampMs now) {
  const guard::OpenStep& step = left.step;
  std::string text = fmt::format(
      "Signalbox session {} of {} was left open in {}, at step {} of {}: {} ({}). {} {}.", step.session, step.workflow,
      step.workspace, step.number, step.of, step.title, step.step,
      left.has_user ? "Another conversation works on it, last seen" : "It was last used", ago(now - left.last_seen));
  if (!step.goal.empty()) text += fmt::format("\nGoal: {}", one_line(printable(step.goal)));
  const std::string tail = fmt::format(
      "\nContinue it only if the user asks for that or confirms it{}: {} Otherwise leave it alone; start_workflow "
      "starts a new session.",
      left.has_user ? " and that conversation has ended" : "", call_text(step, false));
  return shortened(text, limits::kHookNoteBytes - kEllipsisBytes - tail.size()) + tail;
}

Result<std::optional<LeftSession>> left_for(const HookEvent& event, inbox::Home& home, const Seams& seams) {
  if (event.source == "compact") return std::nullopt;  // it was offered when the conversation began
  const std::vector<std::string> folders = session_folders(seams.files, SB_TRY(folder_of(event, seams)));
  return home.store().read(
      [&](store::Snapshot& snapshot) { return left_session(snapshot, seams.files, folders, seams.clock.now_ms()); });
}

// The session that this conversation used last, if another one has continued it since and this was not reported.
Result<std::optional<guard::OpenStep>> taken_over(const HookEvent& event, inbox::Home& home) {
  const std::string own = guard::host_key(event.session, "");
  return home.store().read([&](store::Snapshot& snapshot) -> Result<std::optional<guard::OpenStep>> {
    const guard::HostSession host = SB_TRY(guard::read_host_session(snapshot, own));
    if (host.sessions.empty()) return std::nullopt;
    const auto& [session, workspace] = host.sessions.front();
    const std::string user = SB_TRY(guard::last_user_of(snapshot, session));
    const bool is_reported = std::ranges::find(host.notified, session) != host.notified.end();
    if (user.empty() || user == own || is_reported) return std::nullopt;
    return guard::find_open_step(snapshot, workspace, session);
  });
}

std::string taken_over_text(const guard::OpenStep& step) {
  return fmt::format(
      "Signalbox: another conversation has continued session {} of {}, on which you worked. Leave it to that one, "
      "unless "
      "the user wants it back here.",
      step.session, step.workflow);
}

// The session id in the call's result: the last `"sessionId":"…"` of its texts.
void find_session(const Value& value, std::string& session) {
  constexpr std::string_view kMember = "\"sessionId\":\"";
  if (const auto own = value.string_at("sessionId")) session = *own;
  if (value.is_string()) {
    const std::string& text = value.as_string();
    if (const std::size_t at = text.rfind(kMember); at != std::string::npos) {
      const std::size_t begin = at + kMember.size();
      const std::size_t end = text.find('"', begin);
      if (end != std::string::npos && end - begin <= 64) session = text.substr(begin, end - begin);
    }
  } else if (value.is_array()) {
    for (const Value& item : value.items()) find_session(item, session);
  } else if (value.is_object()) {
    for (const Value::Member& member : value.members()) find_session(member.value, session);
  }
}

// In the host's folder or one above it; else found by id alone, because the call does not always name its folder.
Result<std::optional<guard::OpenStep>> open_step_of(store::Snapshot& snapshot, const std::string& session,
                                                    std::string folder) {
  for (int i = 0; i < limits::kParentFolders && !folder.empty(); ++i, folder = parent_path(folder)) {
    if (auto step = SB_TRY(guard::find_open_step(snapshot, folder, session))) return step;
    if (folder == "/") break;
  }
  const std::string end = "/" + session;
  std::optional<std::string> found;
  SB_TRY(store::each_row(snapshot, guard::kOpenSteps, {}, [&](const store::Row& row) {
    if (row.key.ends_with(end)) found = row.value;
    return !found;
  }));
  if (!found) return std::nullopt;
  return SB_TRY(guard::open_step_from(*found));
}

}  // namespace

Result<std::string> after_workflow(const HookEvent& event, const HookContext& hook_context) {
  std::string session;
  find_session(event.tool_response, session);
  if (session.empty() || event.session.empty()) return "";
  const Seams& seams = hook_context.seams;
  const auto store = SB_TRY(open_store(seams, store::Access::kReadOnly));
  if (!store) return "";
  std::optional<guard::HostSession::SessionUse> used;
  SB_TRY(store->read([&](store::Snapshot& snapshot) -> Status {
    const auto step = SB_TRY(open_step_of(snapshot, session, event.directory));
    if (!step) return {};
    const auto host = SB_TRY(guard::read_host_session(snapshot, guard::host_key(event.session, event.subagent)));
    const bool is_own = SB_TRY(guard::last_user_of(snapshot, session)) == guard::host_key(event.session, "");
    const guard::HostSession::SessionUse now{step->session, step->workspace};
    if (!is_own || !guard::is_latest(host, now)) used = now;
    return {};
  }));
  if (!used) return "";
  const auto writing = SB_TRY(open_store(seams, store::Access::kReadWrite));
  if (!writing) return "";
  SB_TRY(writing->write([&](store::Transaction& transaction) {
    return guard::record_use(transaction, event.session, event.subagent, event.transcript, *used, seams.clock.now_ms());
  }));
  return "";
}

Result<std::string> at_session_start(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return "";
  const auto situation = SB_TRY(situation_of(event, *home, seams));
  if (!situation) {
    const auto left = SB_TRY(left_for(event, *home, seams));
    return left ? additional_context("SessionStart", left_text(*left, seams.clock.now_ms())) : "";
  }
  if (situation->has_answer() && !situation->is_reported) {
    // Reporting twice is better than not at all.
    const Status kept = record_notified_once(event, situation->current.step().decision, seams);
    if (!kept) hook_context.log.add(kept.error());
  }
  const std::string tail = how_to_continue(*situation);
  const std::string text = shortened(step_text(*situation), limits::kHookNoteBytes - kEllipsisBytes - tail.size());
  return additional_context("SessionStart",
                            text + context_text(*situation, limits::kHookNoteBytes - tail.size() - text.size()) + tail);
}

Result<std::string> at_prompt(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return "";
  // Never truncated: it holds the next question.
  const std::string folder = SB_TRY(folder_of(event, seams));
  const std::string next = SB_TRY(continued_by(event, folder, seams));
  if (!next.empty()) return additional_context("UserPromptSubmit", next);
  const std::string late = SB_TRY(late_answers_in(folder, *home, seams));
  std::string note;
  // Without these records the same note would be repeated at every prompt.
  if (const auto lost = SB_TRY(taken_over(event, *home))) {
    SB_TRY(record_notified_once(event, lost->session, seams));
    note = taken_over_text(*lost);
  } else if (const auto situation = SB_TRY(situation_of(event, *home, seams));
             situation && situation->has_answer() && !situation->is_reported) {
    SB_TRY(record_notified_once(event, situation->current.step().decision, seams));
    note = prompt_text(*situation);
  }
  constexpr std::size_t kCountBytes = 120;  // of the line about those that are not shown
  note = fitted(late, limits::kHookNoteBytes - std::min(limits::kHookNoteBytes, note.size() + kCountBytes)) + note;
  note.resize(trimmed_end(note).size());
  return note.empty()
             ? ""
             : additional_context("UserPromptSubmit", shortened(note, limits::kHookNoteBytes - kEllipsisBytes));
}

Result<std::string> at_session_end(const HookEvent& event, const HookContext& hook_context) {
  if (event.session.empty()) return "";
  const Seams& seams = hook_context.seams;
  const auto reading = SB_TRY(open_store(seams, store::Access::kReadOnly));
  if (!reading) return "";
  const auto host = SB_TRY(reading->read([&](store::Snapshot& snapshot) {
    return guard::read_host_session(snapshot, guard::host_key(event.session, ""));
  }));
  if (host.sessions.empty() && host.at == 0) return "";
  const auto store = SB_TRY(open_store(seams, store::Access::kReadWrite));
  if (!store) return "";
  SB_TRY(
      store->write([&](store::Transaction& transaction) { return guard::record_ended(transaction, event.session); }));
  return "";
}

}  // namespace sb::hook
