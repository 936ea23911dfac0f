#include "mcp/asking/dialog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "decision/texts.hpp"
#include "decision/walk/walk.hpp"
#include "engine/advance/questions.hpp"
#include "inbox/home.hpp"
#include "mcp/asking/decision_form.hpp"

namespace sb::mcp {
namespace {

using inbox::DecisionState;
using inbox::HostResult;

constexpr std::size_t kDialogNameBytes = 100;
constexpr std::size_t kProblemBytes = 200;

std::string short_line(std::string_view text, std::size_t bytes) {
  std::string line = printable(text.substr(0, bytes * 2));
  std::ranges::replace(line, '\n', ' ');
  return shortened(line, bytes);
}

// A gate asks why: a rejection is returned with its reason.
bool asks_why(const DecisionState& state, const decision::Declaration& declaration, std::string_view chosen) {
  const decision::Decision* decision = declaration.decision();
  return decision != nullptr && decision->kind == decision::DecisionKind::kApproval && !state.opened.session.empty() &&
         chosen == engine::kReject;
}

Result<DecisionForm> form_of(const DecisionState& state, const decision::Declaration& declaration, const Call& call,
                             const DialogState& asked) {
  const auto walk = SB_TRY(decision::Walk::at(declaration, state.position, 0));
  return DecisionForm::of(walk, state.opened.question,
                          {.revision = call.revision, .page = asked.page, .decision_id = state.id});
}

// Called from any worker, so it opens its own home; if the store cannot be read, the answer is no.
bool is_closed(const Seams& seams, const std::string& decision) {
  const auto home = inbox::Home::open(seams, store::Access::kReadOnly);
  if (!home) return false;
  const auto state = (*home)->inbox().load(decision);
  return state && !state->is_open();
}

DialogState next_round(const DialogState& asked) {
  DialogState next = asked;
  ++next.round;
  return next;
}

// Processes one answer of a client.
class Hearing {
 public:
  Hearing(inbox::Inbox& inbox, const DecisionState& state, const decision::Declaration& declaration, const Call& call,
          const DialogState& asked)
      : inbox_(inbox), state_(state), declaration_(declaration), call_(call), asked_(asked) {}

  Result<DialogResult> hear(const DecisionForm& form, const Value& result, OnDecline declining) {
    FormAnswer answer = form.read(result);
    const bool has_chosen = answer.kind == FormAnswer::Kind::kAnswered || answer.kind == FormAnswer::Kind::kInvalid;
    if (is_overtaken() && has_chosen) {
      answer.kind = FormAnswer::Kind::kAnswered;
      answer.host = {};
      answer.host.result = decision::HostAnswerKind::kFilled;
      answer.host.fields = result["content"];
    }
    switch (answer.kind) {
      case FormAnswer::Kind::kAnswered:
        return declaration_.decision() ? take(form, answer, result) : walk_on(form, answer, result);
      case FormAnswer::Kind::kMore:
        return turn_to(asked_.page + 1);
      case FormAnswer::Kind::kBack:
        return turn_to(asked_.page - 1);
      case FormAnswer::Kind::kDeclined:
        if (declining == OnDecline::kRecordOnly) return noted(inbox_.note_dialog_declined(state_.id, person()));
        return answered_or_second(inbox_.decline(state_.id, person(), R"({"action":"decline"})"));
      case FormAnswer::Kind::kCancelled:
        return noted(inbox_.note_no_answer(state_.id, HostResult::kCancelled, person()));
      case FormAnswer::Kind::kEmpty:
        SB_TRY(noted(inbox_.note_no_answer(state_.id, HostResult::kEmpty, person())));
        return ask_again(decision::text(form.locale(), "form.nothing"));
      case FormAnswer::Kind::kInvalid:
        return ask_again(answer.problem);
    }
    return DialogResult{};
  }

  // The answer to the form that asks why; there may be none, or the agent has read the rejection meanwhile.
  Result<DialogResult> explain(const Value& result) {
    const std::string reason = reason_in(result);
    if (!reason.empty()) SB_TRY(noted(inbox_.note_free_text(state_.id, reason, person())));
    return DialogResult{.has_answer = true};
  }

  Result<DialogResult> on_no_answer() {
    const bool is_cancelled = call_.is_cancelled && call_.is_cancelled->load();
    return noted(
        inbox_.note_no_answer(state_.id, is_cancelled ? HostResult::kDismissed : HostResult::kTimedOut, person()));
  }

 private:
  inbox::Responder person() const {
    const bool is_person = call_.caller.is_installed_client;
    return {is_person ? inbox::Channel::kElicitation : inbox::Channel::kRelay, answering_person(call_)};
  }

  // The form shows a question of a walk that was answered elsewhere, so it cannot be read as the one that is open.
  bool is_overtaken() const {
    return !declaration_.decision() && asked_.shown_at != inbox::position_digest(state_.position);
  }

  Result<DialogResult> take(const DecisionForm& form, const FormAnswer& answer, const Value& result) {
    const bool is_rejection = answer.given.options.size() == 1 && !call_.is_late && state_.is_open() &&
                              asks_why(state_, declaration_, answer.given.options.front());
    DialogResult taken = SB_TRY(submit(answer.given, to_json(result["content"]), form));
    if (!is_rejection || !taken.has_answer) return taken;
    // It counts already; the reason is asked for before the agent gets it.
    taken.again = next_round(asked_);
    taken.again->rejection = answer.given.options.front();
    return taken;
  }

  Result<DialogResult> submit(const inbox::AnswerInput& given, std::string raw, const DecisionForm& form) {
    inbox::AnswerSubmission submission;
    submission.given = given;
    submission.from = person();
    submission.raw = std::move(raw);
    submission.render_hash = form.render_hash();
    const auto after = inbox_.answer(state_.id, submission);
    if (after) return DialogResult{.has_answer = true};
    const ErrorCode code = after.error().code;
    if (code == ErrorCode::kInvalid || code == ErrorCode::kLimit) return ask_again(problem_in(form, after.error()));
    return answered_or_second(after);
  }

  // The answer to the open prompt of a flow or chain; what follows is asked next.
  Result<DialogResult> walk_on(const DecisionForm& form, const FormAnswer& answer, const Value& result) {
    const auto walk = SB_TRY(decision::Walk::at(declaration_, state_.position, 0));
    inbox::WalkAnswer given{.given = answer.host,
                            .from = person(),
                            .raw = to_json(result["content"]),
                            .render_hash = form.render_hash(),
                            .shown_at = asked_.shown_at};
    const std::vector<std::string>& ids = answer.host.option_ids;
    if (walk.is_held() && ids.size() == 1) given.given = ids.front();
    if (ids.size() == 1 && ids.front() == kPreviousPage) given.given = std::string("back");
    const auto walked = inbox_.walk(state_.id, declaration_, 0, given);
    if (!walked) {
      const ErrorCode code = walked.error().code;
      if (code == ErrorCode::kInvalid || code == ErrorCode::kLimit) return ask_again(problem_in(form, walked.error()));
      const DecisionState now = SB_TRY(inbox_.load(state_.id));
      if (code != ErrorCode::kConflict || !now.is_open() || call_.is_late) {
        return answered_or_second(std::unexpected(walked.error()));
      }
      // Answered elsewhere meanwhile: the question that is open now is asked instead.
      const std::string late = fmt::format("answered second, does not count: {}", to_json(result["content"]));
      SB_TRY(noted(inbox_.note_free_text(state_.id, short_line(late, kProblemBytes), person())));
      DialogState next = next_round(asked_);
      next.problem = decision::text(form.locale(), "form.overtaken");
      return DialogResult{.again = next};
    }
    const decision::WalkTurn& turn = walked->turn;
    if (turn.kind != decision::WalkTurn::Kind::kAsk || call_.is_late) {
      return DialogResult{.has_answer = !walked->state.is_open()};
    }
    DialogState next = next_round(asked_);
    next.has_failed = false;
    next.problem = short_line(turn.error, kProblemBytes);
    return DialogResult{.again = next};
  }

  // The inbox reports in English.
  static std::string problem_in(const DecisionForm& form, const Error& error) {
    return form.locale() == "en" ? error.message : std::string(decision::text(form.locale(), "form.unfit"));
  }

  DialogResult turn_to(int page) const {
    DialogState next = next_round(asked_);
    next.page = page;
    return {.again = next};
  }

  Result<DialogResult> ask_again(std::string_view problem) const {
    if (asked_.has_failed || call_.is_late) return DialogResult{};
    DialogState next = next_round(asked_);
    next.has_failed = true;
    next.problem = short_line(problem, kProblemBytes);
    return DialogResult{.again = next};
  }

  // Another answer was first, or this one is not allowed: the decision stays as it is.
  static Result<DialogResult> noted(const Result<DecisionState>& written) {
    if (written) return DialogResult{};
    const ErrorCode code = written.error().code;
    if (code == ErrorCode::kConflict || code == ErrorCode::kForbidden) return DialogResult{};
    return std::unexpected(written.error());
  }

  // The same for an answer: the inbox keeps one that came second.
  static Result<DialogResult> answered_or_second(const Result<DecisionState>& written) {
    DialogResult result = SB_TRY(noted(written));
    result.came_second = !written && written.error().code == ErrorCode::kConflict;
    return result;
  }

  inbox::Inbox& inbox_;
  const DecisionState& state_;
  const decision::Declaration& declaration_;
  const Call& call_;
  const DialogState& asked_;
};

}  // namespace

std::string DialogState::key() const {
  return round == 1 ? decision : fmt::format("{}.{}", decision, round);
}

void DialogState::write_to(Value& state) const {
  state.set("decision", decision);
  state.set("page", page);
  state.set("round", round);
  if (has_failed) state.set("failed", true);
  if (!shown_at.empty()) state.set("at", shown_at);
  if (!rejection.empty()) state.set("rejection", rejection);
}

std::optional<DialogState> DialogState::read_from(const Value& state) {
  const auto decision = state.string_at("decision");
  const Value& page = state["page"];
  const Value& round = state["round"];
  if (!decision || !page.is_integer() || !round.is_integer()) return std::nullopt;
  return DialogState{*decision,
                     static_cast<int>(page.as_integer()),
                     static_cast<int>(round.as_integer()),
                     state.find("failed") != nullptr,
                     state.string_at("at").value_or(""),
                     state.string_at("rejection").value_or("")};
}

std::string answering_person(const Call& call) {
  const std::string client = short_line(call.client_name, kDialogNameBytes);
  const std::string owner = short_line(call.caller.principal, kDialogNameBytes);
  if (client.empty()) return owner;
  return owner.empty() ? client : fmt::format("{} ({})", client, owner);
}

std::optional<InputRequired> ask_in_dialog(const Seams& seams, const inbox::Inbox& inbox, const DecisionState& state,
                                           const decision::Declaration& declaration, const Call& call,
                                           const DialogState& asked, Value handler_state, std::string bound_to) {
  const bool is_cancelled = call.is_cancelled && call.is_cancelled->load();
  if (!call.client.has_form_elicitation || call.is_late || is_cancelled) return std::nullopt;
  const bool asks_reason = !asked.rejection.empty();
  if ((!state.is_open() && !asks_reason) || state.opened.needs_signature) return std::nullopt;
  if (!call.caller.is_installed_client && !inbox.may_relay(state)) return std::nullopt;
  const auto form = form_of(state, declaration, call, asked);
  if (!form) return std::nullopt;
  DialogState shown = asked;
  shown.shown_at = declaration.decision() ? "" : inbox::position_digest(state.position);
  InputRequired ask;
  ask.requests.push_back({asked.key(), "elicitation/create",
                          asks_reason ? reason_form(form->locale(), state.id) : form->params(asked.problem)});
  shown.write_to(handler_state);
  ask.state = std::move(handler_state);
  ask.bound_to = std::move(bound_to);
  if (!asks_reason) ask.is_moot = [seams, id = state.id] { return is_closed(seams, id); };
  return ask;
}

std::string dialog_advice(const inbox::Inbox& inbox, const DecisionState& state, const Call& call) {
  if (!call.client.has_form_elicitation || call.caller.is_installed_client || call.is_late) return {};
  if (!state.is_open() || state.opened.needs_signature || inbox.may_relay(state)) return {};
  const std::string name = to_lower(call.client_name);
  const std::string_view client = name.find("claude") != std::string::npos  ? "claude-code"
                                  : name.find("codex") != std::string::npos ? "codex"
                                                                            : "other --name NAME";
  return fmt::format(
      "Not asked in this client: it was not set up by Signalbox, so its answers do not count as a person's. To be "
      "asked "
      "here, the person runs once: signalbox mcp install --client {}",
      client);
}

Result<DialogResult> record_dialog_answer(inbox::Inbox& inbox, const DecisionState& state,
                                          const decision::Declaration& declaration, const Call& call,
                                          const DialogState& asked, OnDecline declining) {
  if (state.opened.needs_signature) return DialogResult{};
  Hearing hearing(inbox, state, declaration, call, asked);
  const Input* input = call.input(asked.key());
  const bool is_answered = input != nullptr && input->kind == Input::Kind::kAnswered;
  if (!asked.rejection.empty()) return hearing.explain(is_answered ? input->value : Value());
  if (input == nullptr || input->kind == Input::Kind::kUnanswered) {
    return state.is_open() ? hearing.on_no_answer() : DialogResult{};
  }
  if (!is_answered) return DialogResult{};
  const auto form = form_of(state, declaration, call, asked);
  if (!form) return DialogResult{};
  return hearing.hear(*form, input->value, declining);
}

}  // namespace sb::mcp
