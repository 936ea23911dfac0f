#include "mcp/asking/carried_decisions.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "engine/advance/questions.hpp"
#include "mcp/asking/dialog.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tool_answers.hpp"

namespace sb::mcp {
namespace {

using engine::SessionResponse;
using inbox::DecisionState;

constexpr int kMovesInOneCall = 8;             // decisions answered through other channels meanwhile
constexpr std::size_t kKeptNoteBytes = 1'000;  // of a note, kept while a person is asked

// The state with which a call that asked is resumed. The token belongs to the answer that was waited for; no earlier
// call returned it: `start_workflow` must not start again, and a blocked submission must not be submitted again.
struct Waited {
  std::string session, token, note;

  Value to_value() const {
    return Value::object({{"session", session}, {"token", token}, {"note", shortened(note, kKeptNoteBytes)}});
  }
  static std::optional<Waited> from(const Value& state) {
    const auto session = state.string_at("session");
    const auto token = state.string_at("token");
    if (!session || !token) return std::nullopt;
    return Waited{*session, *token, state.string_at("note").value_or("")};
  }
};

std::string with_note(std::string_view note, const std::string& more) {
  return fmt::format("{}{}{}", note, note.empty() || more.empty() ? "" : "\n", more);
}

// A person answered a question of this session after it was closed: said once.
std::string late_answers(inbox::Inbox& inbox, const std::string& session) {
  return session.empty() ? "" : inbox.take_late_answers(session).value_or("");
}

std::string decision_of(const SessionResponse& answer) {
  if (answer.line.string_at("kind") != "awaiting_decision") return {};
  return answer.line["decision"].string_at("id").value_or("");
}

class DecisionCarrier {
 public:
  DecisionCarrier(WorkerContext& worker, engine::SessionHome& home, Call& call, std::string note)
      : worker_(worker), home_(home), call_(call), note_(std::move(note)) {}

  // Continues with what was answered meanwhile, through any channel; asks what is still open, if possible.
  HandlerResult carry(SessionResponse answer) {
    for (int move = 0; move < kMovesInOneCall; ++move) {
      const std::string id = decision_of(answer);
      const auto state = id.empty() ? Result<DecisionState>(DecisionState()) : home_.home().inbox().load(id);
      if (id.empty() || !state) break;
      if (state->is_open()) return ask(answer, *state, DialogState{.decision = id});
      auto next = continue_session(token_of(answer));
      if (!next) return error_result(next.error());
      answer = std::move(*next);
    }
    return answer_result(answer, note_, call_.client_name);
  }

  HandlerResult resume(const Waited& waited, const DialogState& asked) {
    const auto state = home_.home().inbox().load(asked.decision);
    if (!state) return error_result(state.error());
    if (state->opened.session != waited.session) {
      return error_result(Error{ErrorCode::kForbidden,
                                "the answer belongs to a question of another session",
                                "Repeat the original call",
                                {},
                                false});
    }
    DialogResult heard;
    if (const auto declaration = engine::declaration_of(state->opened)) {
      auto result =
          record_dialog_answer(home_.home().inbox(), *state, *declaration, call_, asked, OnDecline::kRecordOnly);
      if (!result) return error_result(result.error());
      heard = std::move(*result);
    }
    // No one reads a late result; the next call finds what was stored.
    if (call_.is_late) return tool_result({});
    if (heard.again && !heard.again->rejection.empty()) {
      const auto rejected = home_.home().inbox().load(asked.decision);
      if (!rejected) return error_result(rejected.error());
      if (auto why =
              ask_in_dialog(worker_.seams(), home_.home().inbox(), *rejected, *engine::declaration_of(rejected->opened),
                            call_, *heard.again, waited.to_value(), waited.session + "/" + asked.decision)) {
        return std::move(*why);
      }
    }
    if (heard.came_second) note_ = with_note(note_, late_answers(home_.home().inbox(), waited.session));
    auto answer = continue_session(waited.token);
    if (!answer) return error_result(answer.error());
    if (decision_of(*answer) != asked.decision) return carry(std::move(*answer));
    if (!heard.again) return answer_result(*answer, note_, call_.client_name);
    const auto now = home_.home().inbox().load(asked.decision);
    if (!now) return error_result(now.error());
    return ask(*answer, *now, *heard.again);
  }

 private:
  static std::string token_of(const SessionResponse& answer) {
    return answer.line.string_at("continueToken").value_or("");
  }

  engine::SessionResult<SessionResponse> continue_session(std::string token) {
    return home_.sessions().continue_session({.token = std::move(token)});
  }

  HandlerResult ask(const SessionResponse& answer, const DecisionState& state, const DialogState& asked) {
    const Waited waited{state.opened.session, token_of(answer), note_};
    if (const auto declaration = engine::declaration_of(state.opened)) {
      auto question = ask_in_dialog(worker_.seams(), home_.home().inbox(), state, *declaration, call_, asked,
                                    waited.to_value(), waited.session + "/" + state.id);
      if (question) return std::move(*question);
    }
    const std::string advice = dialog_advice(home_.home().inbox(), state, call_);
    return answer_result(answer, note_.empty() || advice.empty() ? note_ + advice : note_ + "\n" + advice,
                         call_.client_name);
  }

  WorkerContext& worker_;
  engine::SessionHome& home_;
  Call& call_;
  std::string note_;
};

}  // namespace

std::optional<HandlerResult> resume_pending_call(WorkerContext& worker, Call& call) {
  const auto waited = Waited::from(call.state);
  const auto asked = DialogState::read_from(call.state);
  if (!waited || !asked) return std::nullopt;
  const auto home = worker.home();
  if (!home) return error_result(home.error());
  return DecisionCarrier(worker, **home, call, waited->note).resume(*waited, *asked);
}

HandlerResult ask_for_decision(WorkerContext& worker, SessionResponse answer, Call& call, std::string_view note) {
  const auto home = worker.home();
  if (!home)
    return decision_of(answer).empty() ? answer_result(answer, note, call.client_name) : error_result(home.error());
  const std::string all =
      with_note(note, late_answers((*home)->home().inbox(), answer.line.string_at("sessionId").value_or("")));
  if (decision_of(answer).empty()) return answer_result(answer, all, call.client_name);
  return DecisionCarrier(worker, **home, call, all).carry(std::move(answer));
}

}  // namespace sb::mcp
