#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "decision/gstack_literals.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/render.hpp"
#include "gstack/log_text.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/execution_silence.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/events/question_record.hpp"
#include "hook/events/walk_words.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::hook {
namespace {

using decision::AnswerShape;
using decision::HostAnswer;
using decision::HostAnswerKind;

constexpr std::string_view kPostToolUse = "PostToolUse";

// An MCP server's replacement for the tool returns its result as text.
Value unwrapped(const Value& response) {
  const Value* text = &response;
  if (response.is_array() && response.size() == 1) text = response.items().front().find("text");
  if (!text || !text->is_string()) return response;
  const auto parsed = parse_json(text->as_string());
  return parsed && parsed->is_object() ? *parsed : response;
}

// The person wrote in the chat instead of choosing. The result is `dismissed`; the log and the model get the
// difference.
bool is_replied_in_chat(const Value& response, const CallQuestion& question) {
  const Value& annotations = response["annotations"];
  if (!annotations.is_object()) return false;
  return std::ranges::any_of(annotations.members(), [&](const Value::Member& each) {
    return without_markers(each.name) == without_markers(question.text) &&
           each.value.string_at("unanswered") == "replied_in_chat";
  });
}

// The host's response without the questions it repeats.
std::string raw_of(const Value& response) {
  Value raw = response;
  if (raw.is_object()) raw.erase("questions");
  return to_json(raw);
}

// As planned, with the names that the call gave to its questions.
AnswerShape shape_of(const PlannedQuestion& planned, const CallQuestion& question) {
  AnswerShape shape = planned.shown->shape;
  for (std::size_t i = 0; i < shape.questions.size(); ++i) {
    const CallQuestion& asked = i == 0 ? question : question.rows[i - 1];
    shape.questions[i].text = asked.text;
    shape.questions[i].key = asked.id;
  }
  return shape;
}

// An unplanned question: its options are their labels.
AnswerShape shape_of(const CallQuestion& question, const decision::Host& host) {
  AnswerShape shape;
  shape.host = &host;
  if (question.is_many()) shape.select = {decision::SelectMode::kMany, 1, static_cast<int>(question.options.size())};
  decision::ShownQuestion shown{question.id, question.text, question.is_many(), {}};
  for (const CallOption& option : question.options) {
    shown.options.push_back(
        {gstack::without_recommended_mark(option.label), option.label, option.label, decision::EntryKind::kOption});
  }
  shape.questions.push_back(std::move(shown));
  return shape;
}

bool is_choice(HostAnswerKind result) {
  return result == HostAnswerKind::kSelected || result == HostAnswerKind::kNone || result == HostAnswerKind::kMore;
}

std::string label_text(const HostAnswer& answer) {
  if (!answer.option_ids.empty()) return fmt::format("{}", fmt::join(answer.option_ids, ", "));
  return answer.text.empty() ? std::string(decision::to_string(answer.result)) : answer.text;
}

// The decision is closed. The same event may come twice: then the agent hears again how it ended.
Result<std::string> after_the_end(const inbox::DecisionState& state, const HostAnswer& answer, const std::string& raw) {
  const inbox::DecisionOutcome& outcome = *state.outcome;
  const bool is_plain = state.opened.question.shape == inbox::QuestionShape::kDecision;
  if (outcome.raw == raw && outcome.channel == inbox::Channel::kHook) return is_plain ? "" : ending_words(state);
  if (!is_choice(answer.result)) return ending_words(state);
  return fmt::format(
      "{} It was answered by {} first; what was chosen here ({}) does not count and is kept in the record. Tell the "
      "person so.",
      ending_words(state), outcome.principal.empty() ? to_string(outcome.channel) : std::string_view(outcome.principal),
      label_text(answer));
}

// A choice, a text, or something that can at least be read.
bool has_said_something(const HostAnswer& answer) {
  const bool is_readable =
      answer.result == HostAnswerKind::kInvalid && answer.reason != "shape" && answer.reason != "encoding";
  return is_choice(answer.result) || answer.result == HostAnswerKind::kFreeText || is_readable;
}

// Nothing was chosen.
std::string unchosen(const PlannedQuestion& planned, const HostAnswer& answer) {
  return fmt::format("Signalbox: {} is still open ({}). The person has not chosen; do not choose for them.",
                     planned.decision.id, decision::to_string(answer.result));
}

// The prompt or its decision was answered already.
Result<std::string> came_second(inbox::Home& home, const PlannedQuestion& planned,
                                const decision::Declaration& declaration, const HostAnswer& answer,
                                const std::string& raw) {
  const inbox::DecisionState state = SB_TRY(home.inbox().load(planned.decision.id));
  if (!state.is_open()) return after_the_end(state, answer, raw);
  const decision::Host& host = *decision::host_named(planned.prompt.host);
  return ask_next(home, state, declaration, host,
                  fmt::format("Signalbox: that question of {} was answered already; this is the open one.", state.id));
}

// Passes the host's answer to the inbox. The returned text is for the model.
Result<std::string> close_planned(const HookEvent& event, inbox::Home& home, const PlannedQuestion& planned,
                                  const HostAnswer& answer, const std::string& raw, const HookContext& hook_context) {
  inbox::Inbox& inbox = home.inbox();
  const inbox::Responder from{inbox::Channel::kHook, std::string(principal_of(event))};
  const auto& declaration = planned.declaration;
  if (!declaration || decision::host_named(planned.prompt.host) == nullptr) {
    return fmt::format("Signalbox: {} is still open. It was rendered by another version: render it again.",
                       planned.decision.id);
  }
  if (answer.result == HostAnswerKind::kInvalid) {
    hook_context.log.add(
        fmt::format("the answer to prompt {} cannot be read: {}", planned.prompt.nonce, answer.reason));
  }
  const bool has_remark = !answer.notes.empty() && planned.prompt.is_open && planned.decision.is_open();
  const inbox::WalkAnswer given{.given = answer,
                                .from = from,
                                .raw = raw,
                                .reader = fmt::format("{} ({})", from.principal, to_string(from.channel)),
                                .remark = has_remark ? answer.notes : std::string()};
  const auto walked = inbox.walk_prompt(planned.prompt.nonce, *declaration, given);
  if (walked) {
    const Status followed = follow_turn(event, walked->turn, profile_of(walked->state), hook_context.seams);
    if (!followed) hook_context.log.add(followed.error());
    if (walked->state.last_no_answer && !has_said_something(answer)) return unchosen(planned, answer);
    return words_after(home, *walked, *declaration, planned.prompt);
  }
  if (walked.error().code == ErrorCode::kConflict) return came_second(home, planned, *declaration, answer, raw);
  if (walked.error().code != ErrorCode::kForbidden) return std::unexpected(walked.error());
  // Stored but not counted: the operator who signs later can read what was chosen here.
  SB_TRY(inbox.note_free_text(planned.decision.id, fmt::format("chosen without a signature: {}", label_text(answer)),
                              from));
  return fmt::format("Signalbox: {} is still open. The choice made here does not count: {}", planned.decision.id,
                     walked.error().to_string());
}

// The question asked under the marker was a different one, so its answer does not count. It is kept for reference.
Result<std::string> keep_stray(const HookEvent& event, inbox::Home& home, const PlannedQuestion& planned,
                               const std::vector<std::string>& found, const HostAnswer& answer) {
  const std::string text = label_text(answer);
  if (!planned.prompt.is_open || !planned.decision.is_open()) return "";
  SB_TRY(home.inbox().note_free_text(planned.decision.id,
                                     fmt::format("answer to another question under this marker: {}", text),
                                     {inbox::Channel::kHook, std::string(principal_of(event))}));
  return fmt::format(
      "Signalbox: {} is still open. The question asked is not the planned prompt {}: {}. The answer does not count; "
      "ask again exactly as rendered.",
      planned.decision.id, planned.prompt.nonce, fmt::join(found, "; "));
}

// The choice as one text for the log, and everything else known about it.
void describe(const CallQuestion& question, const HostAnswer& answer, Value& record) {
  record.set("source", "hook");
  const std::vector<std::string> recommended = recommended_in(question);
  switch (answer.result) {
    case HostAnswerKind::kSelected:
      record.set("user_choice", fmt::format("{}", fmt::join(answer.option_ids, ", ")));
      if (question.is_many()) record.set("user_choices", Value::array(answer.option_ids));
      if (!question.is_many() && recommended.size() == 1) record.set("recommended", recommended.front());
      break;
    case HostAnswerKind::kFreeText:
      record.set("user_choice", answer.text);
      record.set("free_text", answer.text);
      record.set("source", "auq-other");
      break;
    case HostAnswerKind::kInvalid:
    case HostAnswerKind::kEmpty:
      record.set("user_choice", decision::gstack_literals()["unknown_choice"]);
      break;
    default:
      record.set("user_choice", fmt::format("__{}__", decision::to_string(answer.result)));
      break;
  }
  record.set("host_result", decision::to_string(answer.result));
  if (answer.notes.empty()) return;
  record.set("free_text", answer.notes);
  record.set("source", "auq-other");
}

Status log_question(const HookEvent& event, const CallQuestion& question, std::size_t index, const Value& response,
                    const HookContext& hook_context) {
  const HostAnswer answer = decision::parse_answer(shape_of(question, host_of(event)), response);
  if (answer.result == HostAnswerKind::kInvalid) {
    hook_context.log.add(fmt::format("the answer to question {} cannot be read: {}", index + 1, answer.reason));
  }
  Value record = question_record(event, question, index);
  describe(question, answer, record);
  if (is_replied_in_chat(response, question)) record.set("unanswered", "replied_in_chat");
  const Seams& seams = hook_context.seams;
  const std::string folder =
      event.directory.empty() ? SB_TRY(gstack::working_directory(seams.files, seams.environment)) : event.directory;
  return append_record(seams, SB_TRY(gstack::preference_paths(seams.files, seams.environment, folder)),
                       std::move(record));
}

// What follows the choice of an option of a question that was not planned is said after an answer, too.
Status follow_unplanned(const HookEvent& event, const CallQuestion& question, const HostAnswer& answer,
                        const Seams& seams) {
  if (!answer.is_answer()) return {};
  return begin_silence(event, gstack_markers_in(question.text).ids.empty() ? "interaction" : "gstack", seams);
}

bool has_planned_marker(const std::vector<CallQuestion>& questions) {
  return std::ranges::any_of(questions,
                             [](const CallQuestion& question) { return !decision::nonces_in(question.text).empty(); });
}

}  // namespace

Result<std::string> after_question(const HookEvent& event, const HookContext& hook_context) {
  const std::vector<CallQuestion> questions = questions_of(event.tool_input);
  if (questions.empty()) return "";
  const Value response = unwrapped(event.tool_response);
  std::vector<std::optional<PlannedQuestion>> planned(questions.size());
  std::unique_ptr<inbox::Home> home;
  if (has_planned_marker(questions)) {
    // The questions are logged even when the store is broken.
    auto opened = open_home(hook_context.seams, store::Access::kReadWrite);
    if (!opened) hook_context.log.add(opened.error());
    if (opened) home = std::move(*opened);
    auto found = home ? find_planned(*home, questions, hook_context.seams)
                      : Result<std::vector<std::optional<PlannedQuestion>>>(planned);
    if (!found) hook_context.log.add(found.error());
    if (found) planned = std::move(*found);
  }
  const auto logged = [&](const Status& status) {
    if (!status) hook_context.log.add(status.error());
  };
  std::string words;
  std::size_t number = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const CallQuestion& question = questions[i];
    const std::size_t first_number = number;
    number += 1 + question.rows.size();
    const auto found = planned[i] ? differences(*planned[i], question, host_of(event)) : std::vector<std::string>();
    const bool is_planned = planned[i] && found.empty();
    const auto shape =
        is_planned && planned[i]->shown ? shape_of(*planned[i], question) : shape_of(question, host_of(event));
    const HostAnswer answer = decision::parse_answer(shape, response);
    if (planned[i]) {
      const auto word = is_planned ? close_planned(event, *home, *planned[i], answer, raw_of(response), hook_context)
                                   : keep_stray(event, *home, *planned[i], found, answer);
      if (!word) hook_context.log.add(word.error());
      if (word && !word->empty()) words += (words.empty() ? "" : "\n") + *word;
      if (word && !word->empty() && is_replied_in_chat(response, question)) {
        words += " The person replied in the chat instead: read that reply first.";
      }
    } else {
      logged(follow_unplanned(event, question, answer, hook_context.seams));
    }
    // Questions without a gstack id are recorded only in the inbox.
    if (is_planned && gstack_markers_in(question.text).ids.empty()) continue;
    logged(log_question(event, question, first_number, response, hook_context));
    for (std::size_t row = 0; row < question.rows.size(); ++row) {
      logged(log_question(event, question.rows[row], first_number + 1 + row, response, hook_context));
    }
  }
  return words.empty() ? "" : additional_context(kPostToolUse, words);
}

}  // namespace sb::hook
