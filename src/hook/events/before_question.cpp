#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "gstack/memory_notes.hpp"
#include "hook/events/auto_decide.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/events/turn_note.hpp"
#include "hook/events/walk_words.hpp"
#include "hook/install/stop_projects.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kPreToolUse = "PreToolUse";

using PlannedList = std::vector<std::optional<PlannedQuestion>>;

// The differences from the plan, one line per question; empty when the call is as planned.
std::string complaints(const std::vector<CallQuestion>& questions, const PlannedList& planned,
                       const decision::Host& host) {
  std::string text;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!planned[i]) continue;
    const auto found = differences(*planned[i], questions[i], host);
    if (found.empty()) continue;
    std::vector<std::string> labels;
    for (const inbox::Choice& choice : planned[i]->prompt.options) labels.push_back(quote_json(choice.label));
    text += fmt::format("\n- Question {} is not the planned prompt {}: {}. Its options are {}.", i + 1,
                        planned[i]->prompt.nonce, fmt::join(found, "; "), fmt::join(labels, ", "));
  }
  if (text.empty()) return text;
  return "Signalbox blocked this question. Ask it again exactly as rendered, with every option." + text;
}

// A question that was answered already, here or elsewhere, is not put to the person again: its answer would not count.
// Says what to do instead; empty if it is still the open one.
Result<std::string> outdated(const PlannedQuestion& planned, const Seams& seams) {
  const inbox::DecisionState& state = planned.decision;
  if (!state.is_open()) return ending_words(state) + " Do not ask it again.";
  // Its pages may be asked in any order.
  const bool has_one_question = state.opened.question.shape == inbox::QuestionShape::kDecision;
  if (planned.prompt.is_open && has_one_question) return std::string();
  const decision::Host* host = decision::host_named(planned.prompt.host);
  if (!planned.declaration || host == nullptr) return std::string();
  if (planned.prompt.is_open && planned.shown) return std::string();
  const auto writing = SB_TRY(open_home(seams, store::Access::kReadWrite));
  return ask_next(*writing, state, *planned.declaration, *host,
                  fmt::format("Signalbox blocked this question of {}: it was answered already.", state.id));
}

Result<std::string> all_outdated(const PlannedList& planned, const Seams& seams) {
  std::string text;
  for (const auto& each : planned) {
    if (!each) continue;
    const std::string words = SB_TRY(outdated(*each, seams));
    if (!words.empty()) text += (text.empty() ? "" : "\n") + words;
  }
  return text;
}

struct Notes {
  std::string text;
  bool is_unmarked = false;  // a question matches an open prompt word for word and only lacks its marker
};

bool is_same_text(const inbox::PlannedPrompt& prompt, const CallQuestion& question) {
  return without_markers(prompt.question) == without_markers(question.text);
}

// Notes for the model that do not block the call.
Result<Notes> notes(const HookEvent& event, const std::vector<CallQuestion>& questions, const PlannedList& planned,
                    inbox::Home& home, const Seams& seams) {
  Notes found;
  const auto note = [&](std::string line) { found.text += (found.text.empty() ? "" : "\n") + line; };
  std::optional<std::vector<inbox::PlannedPrompt>> open;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (planned[i]) continue;
    if (!open) open = SB_TRY(home.inbox().open_prompts(limits::kHookPrompts));
    const auto is_it = [&](const auto& prompt) { return is_same_text(prompt, questions[i]); };
    found.is_unmarked = found.is_unmarked || std::ranges::any_of(*open, is_it);
    const auto like = SB_TRY(newest_in(home, SB_TRY(folder_of(event, seams)), *open,
                                       [&](const auto& prompt) { return overlaps(prompt, questions[i]); }));
    if (!like) continue;
    note(
        fmt::format("Signalbox: question {} looks like the planned prompt {} but does not carry its marker, so its "
                    "answer will not close that decision. Ask it exactly as rendered: {}",
                    i + 1, like->prompt.nonce, quote_json(like->prompt.question)));
  }
  return found;
}

std::string decided_reason(const std::vector<DecidedQuestion>& decided, const std::vector<bool>& holds) {
  std::string text;
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const DecidedQuestion& each = decided[i];
    if (!text.empty()) text += '\n';
    if (!holds[i]) {
      text += fmt::format("Signalbox: {} is not decided. Ask it again, on its own.", each.id);
      continue;
    }
    text += fmt::format(
        "[plan-tune auto-decide] {} → {} (your preference: {}). No one was asked: continue with this "
        "option and do not ask again.",
        each.id, each.option, each.preference);
  }
  return text;
}

// Most calls carry no such marker and need no lookup.
bool has_gstack_marker(const CallQuestion& question) {
  return !gstack_markers_in(question.text).ids.empty();
}

// What past answers suggest; empty for most questions.
Result<std::string> memory_of(const HookEvent& event, const std::vector<CallQuestion>& questions,
                              const gstack::PreferencePaths& place, const Seams& seams) {
  std::vector<std::string> ids;
  for (const CallQuestion& question : questions) {
    const GstackMarkers markers = gstack_markers_in(question.text);
    if (!markers.ids.empty()) ids.push_back(markers.ids.front());
  }
  const auto found = SB_TRY(gstack::memory_notes(place, event.session, ids, seams));
  if (found.empty()) return "";
  return fmt::format("[plan-tune memory] Past answers suggest: {}", fmt::join(found, " | "));
}

// A person at Conductor. gstack's own hook goes by the variables alone, and would make a headless agent wait for a
// reply.
bool is_conductor(const Environment& environment) {
  if (environment.get("OPENCLAW_SESSION") || environment.get("GSTACK_HEADLESS")) return false;
  return environment.get("CONDUCTOR_WORKSPACE_PATH") || environment.get("CONDUCTOR_PORT");
}

// Conductor turns the host's question tool off, and calls of its own one get lost. So what is neither decided nor wrong
// is asked in the reply.
std::string ask_in_prose(const PlannedList& planned) {
  std::string text =
      "[conductor] Questions asked with a tool get lost in Conductor. Do not call AskUserQuestion, the host's or "
      "any mcp__*__AskUserQuestion.";
  bool is_all_planned = !planned.empty();
  for (const auto& each : planned) {
    is_all_planned = is_all_planned && each.has_value();
    if (!each) continue;
    const bool is_brief = each->decision.opened.source.string_at("profile") == "gstack";
    text += fmt::format(
        "\n{0}: print exactly what `signalbox render --next {0} --host {1}` prints and stop; the person answers with "
        "`signalbox inbox answer {0} CHOICE`.",
        each->decision.id, is_brief ? "brief" : "text");
  }
  if (is_all_planned) return text;
  return text +
         "\nWrite the decision into your reply instead: a D<N> title, an ELI10 of the issue, a Recommendation line, "
         "then one paragraph per choice with its letter, `(recommended)` where it applies and `Completeness: X/10`. "
         "Tell the user to reply with a letter, then stop. Something irreversible needs a typed confirmation: do not "
         "continue on a vague reply. Record the answer with gstack-question-log, because no hook sees it.";
}

// For the check at Stop: the dialog that opens now. If the person sends another message, they passed it over.
Status note_shown(const HookEvent& event, const PlannedList& planned, const Seams& seams) {
  Value nonces = Value::array();
  for (const auto& each : planned) {
    if (each) nonces.push_back(each->prompt.nonce);
  }
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  if (nonces.size() == 0 || !SB_TRY(is_stop_enabled(seams.files, homes, SB_TRY(folder_of(event, seams))))) return {};
  return TurnNote(seams.files, homes, kShown, event).keep(std::move(nonces));
}

}  // namespace

std::string deny_response(std::string_view reason) {
  return to_json(Value::object({{"hookSpecificOutput", Value::object({{"hookEventName", kPreToolUse},
                                                                      {"permissionDecision", "deny"},
                                                                      {"permissionDecisionReason", reason}})}}));
}

std::string additional_context(std::string_view event_name, std::string_view text) {
  return to_json(Value::object(
      {{"hookSpecificOutput", Value::object({{"hookEventName", event_name}, {"additionalContext", text}})}}));
}

Result<std::string> folder_of(const HookEvent& event, const Seams& seams) {
  if (event.directory.empty()) return gstack::working_directory(seams.files, seams.environment);
  const auto canonical = seams.files.canonical(event.directory);
  return canonical ? *canonical : event.directory;
}

Result<std::string> before_question(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const std::vector<CallQuestion> questions = questions_of(event.tool_input);
  if (has_answers(event.tool_input)) {
    return deny_response(
        "Signalbox blocked this question: it already contains answers. Only the person answers; ask again "
        "without `answers` and `annotations`.");
  }
  if (questions.empty()) return "";
  PlannedList planned;
  Notes note;
  if (const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly))) {
    auto found = find_planned(*home, questions, seams);
    if (!found && found.error().code == ErrorCode::kInvalid)
      return deny_response("Signalbox: " + found.error().to_string());
    planned = SB_TRY(std::move(found));
    if (const std::string text = complaints(questions, planned, host_of(event)); !text.empty()) {
      return deny_response(text);
    }
    if (const std::string text = SB_TRY(all_outdated(planned, seams)); !text.empty()) {
      return deny_response(text);
    }
    note = SB_TRY(notes(event, questions, planned, *home, seams));
  }
  if (std::ranges::any_of(questions, has_gstack_marker)) {
    const auto place = SB_TRY(gstack::preference_paths(
        seams.files, seams.environment,
        event.directory.empty() ? SB_TRY(gstack::working_directory(seams.files, seams.environment)) : event.directory));
    // Without our marker the planned id is unknown.
    const bool may_decide = !note.is_unmarked && std::ranges::all_of(questions, has_gstack_marker);
    const auto decided =
        may_decide ? SB_TRY(decide_by_preference(questions, planned, seams.files, place)) : std::nullopt;
    if (decided) {
      const auto holds = SB_TRY(record_decided(event, questions, planned, *decided, place, hook_context));
      if (std::ranges::find(holds, true) != holds.end()) return deny_response(decided_reason(*decided, holds));
    }
    const auto memory = memory_of(event, questions, place, seams);
    if (!memory) hook_context.log.add(memory.error());
    if (memory && !memory->empty()) note.text += (note.text.empty() ? "" : "\n") + *memory;
  }
  if (is_conductor(seams.environment)) {
    return deny_response(ask_in_prose(planned) + (note.text.empty() ? "" : "\n" + note.text));
  }
  if (const Status shown = note_shown(event, planned, seams); !shown) hook_context.log.add(shown.error());
  return note.text.empty() ? "" : additional_context(kPreToolUse, note.text);
}

}  // namespace sb::hook
