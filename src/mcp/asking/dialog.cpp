#include "mcp/asking/dialog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
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
  return std::string(utf8_prefix(line, bytes));
}

// A gate asks for a reason: a rejection is returned with its reason.
bool takes_reason(const DecisionState& state, const decision::Declaration& declaration) {
  const decision::Decision* decision = declaration.decision();
  return decision != nullptr && decision->kind == decision::DecisionKind::kApproval && !state.opened.session.empty();
}

Result<DecisionForm> form_of(const DecisionState& state, const decision::Declaration& declaration, const Call& call,
                             const DialogState& asked) {
  return DecisionForm::of(
      declaration, state.opened.question,
      {.revision = call.revision, .page = asked.page, .takes_reason = takes_reason(state, declaration)});
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
  Hearing(inbox::Inbox& inbox, const DecisionState& state, const Call& call, const DialogState& asked)
      : inbox_(inbox), state_(state), call_(call), asked_(asked) {}

  Result<DialogResult> hear(const DecisionForm& form, const Value& result, OnDecline declining) {
    const FormAnswer answer = form.read(result);
    switch (answer.kind) {
      case FormAnswer::Kind::kAnswered:
        return take(form, answer, result);
      case FormAnswer::Kind::kMore: {
        DialogState next = next_round(asked_);
        ++next.page;
        return DialogResult{.again = next};
      }
      case FormAnswer::Kind::kDeclined:
        if (declining == OnDecline::kRecordOnly) return noted(inbox_.note_dialog_declined(state_.id, person()));
        return noted(inbox_.decline(state_.id, person(), R"({"action":"decline"})"));
      case FormAnswer::Kind::kCancelled:
        return noted(inbox_.note_no_answer(state_.id, HostResult::kCancelled, person()));
      case FormAnswer::Kind::kEmpty:
        SB_TRY(noted(inbox_.note_no_answer(state_.id, HostResult::kEmpty, person())));
        return ask_again("nothing was chosen");
      case FormAnswer::Kind::kInvalid:
        return ask_again(answer.problem);
    }
    return DialogResult{};
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

  Result<DialogResult> take(const DecisionForm& form, const FormAnswer& answer, const Value& result) {
    inbox::AnswerSubmission submission;
    submission.given = answer.given;
    submission.from = person();
    submission.raw = to_json(result["content"]);
    submission.render_hash = form.render_hash();
    const auto after = inbox_.answer(state_.id, submission, answer.remark);
    if (after) return DialogResult{.has_answer = true};
    const ErrorCode code = after.error().code;
    if (code == ErrorCode::kInvalid || code == ErrorCode::kLimit) return ask_again(after.error().message);
    return noted(after);
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

  inbox::Inbox& inbox_;
  const DecisionState& state_;
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
}

std::optional<DialogState> DialogState::read_from(const Value& state) {
  const auto decision = state.string_at("decision");
  const Value& page = state["page"];
  const Value& round = state["round"];
  if (!decision || !page.is_integer() || !round.is_integer()) return std::nullopt;
  return DialogState{*decision, static_cast<int>(page.as_integer()), static_cast<int>(round.as_integer()),
                     state.find("failed") != nullptr};
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
  if (!state.is_open() || state.opened.needs_signature) return std::nullopt;
  if (!call.caller.is_installed_client && !inbox.may_relay(state)) return std::nullopt;
  const auto form = form_of(state, declaration, call, asked);
  if (!form) return std::nullopt;
  InputRequired ask;
  ask.requests.push_back({asked.key(), "elicitation/create", form->params(asked.problem)});
  asked.write_to(handler_state);
  ask.state = std::move(handler_state);
  ask.bound_to = std::move(bound_to);
  ask.is_moot = [seams, id = state.id] { return is_closed(seams, id); };
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
  if (!state.is_open() || state.opened.needs_signature) return DialogResult{};
  Hearing hearing(inbox, state, call, asked);
  const Input* input = call.input(asked.key());
  if (input == nullptr || input->kind == Input::Kind::kUnanswered) return hearing.on_no_answer();
  if (input->kind == Input::Kind::kFailed) return DialogResult{};
  const auto form = form_of(state, declaration, call, asked);
  if (!form) return DialogResult{};
  return hearing.hear(*form, input->value, declining);
}

}  // namespace sb::mcp
