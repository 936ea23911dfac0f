#include "mcp/asking/carried_decisions.hpp"

#include "base/text/unicode.hpp"
#include "engine/advance/questions.hpp"
#include "mcp/asking/dialog.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tool_answers.hpp"

namespace sb::mcp {
namespace {

using engine::Answer;
using inbox::DecisionState;

constexpr int kMovesInOneCall = 8;             // decisions that were answered elsewhere meanwhile
constexpr std::size_t kKeptNoteBytes = 1'000;  // of a note, while a person is asked

// What a call that asked goes on with. The token is that of the answer that was waited on, which no first call gave up
// to anybody: `start_workflow` must not start again, and a refused delivery not be delivered again.
struct Waited {
  std::string session, token, note;

  Value to_value() const {
    return Value::object({{"session", session}, {"token", token}, {"note", beginning(note, kKeptNoteBytes)}});
  }
  static std::optional<Waited> from(const Value& state) {
    const auto session = state.string_at("session");
    const auto token = state.string_at("token");
    if (!session || !token) return std::nullopt;
    return Waited{*session, *token, state.string_at("note").value_or("")};
  }
};

std::string decision_of(const Answer& answer) {
  if (answer.line.string_at("kind") != "awaiting_decision") return {};
  return answer.line["decision"].string_at("id").value_or("");
}

class Carrying {
 public:
  Carrying(ToolBench& bench, engine::SessionDesk& desk, Call& call, std::string note)
      : bench_(bench), desk_(desk), call_(call), note_(std::move(note)) {}

  // What was answered meanwhile, by whatever channel, is gone on with; what is open is asked where it can be.
  Outcome carry(Answer answer) {
    for (int move = 0; move < kMovesInOneCall; ++move) {
      const std::string id = decision_of(answer);
      const auto state = id.empty() ? Result<DecisionState>(DecisionState()) : desk_.desk().inbox().load(id);
      if (id.empty() || !state) break;
      if (state->is_open()) return ask(answer, *state, Asked{.decision = id});
      auto next = go_on(token_of(answer));
      if (!next) return error_result(next.error());
      answer = std::move(*next);
    }
    return answer_result(answer, note_);
  }

  Outcome resume(const Waited& waited, const Asked& asked) {
    const auto state = desk_.desk().inbox().load(asked.decision);
    if (!state) return error_result(state.error());
    if (state->opened.session != waited.session) {
      return error_result(Error{ErrorCode::kForbidden,
                                "the answer is to a question of another session",
                                "Make the call again as it was at first",
                                {},
                                false});
    }
    Heard heard;
    if (const auto declaration = engine::declaration_of(state->opened)) {
      auto result = hear_dialog(desk_.desk().inbox(), *state, *declaration, call_, asked, Declining::kIsNoted);
      if (!result) return error_result(result.error());
      heard = std::move(*result);
    }
    // Nobody reads a late result; the next call finds what was stored.
    if (call_.is_late) return tool_result({});
    auto answer = go_on(waited.token);
    if (!answer) return error_result(answer.error());
    if (decision_of(*answer) != asked.decision) return carry(std::move(*answer));
    if (!heard.again) return answer_result(*answer, note_);
    return ask(*answer, *state, *heard.again);
  }

 private:
  static std::string token_of(const Answer& answer) { return answer.line.string_at("continueToken").value_or(""); }

  engine::Answered<Answer> go_on(std::string token) { return desk_.sessions().go_on({.token = std::move(token)}); }

  Outcome ask(const Answer& answer, const DecisionState& state, const Asked& asked) {
    const Waited waited{state.opened.session, token_of(answer), note_};
    if (const auto declaration = engine::declaration_of(state.opened)) {
      auto question = ask_in_dialog(bench_.seams(), state, *declaration, call_, asked, waited.to_value(),
                                    waited.session + "/" + state.id);
      if (question) return std::move(*question);
    }
    return answer_result(answer, note_);
  }

  ToolBench& bench_;
  engine::SessionDesk& desk_;
  Call& call_;
  std::string note_;
};

}  // namespace

std::optional<Outcome> carried_on(ToolBench& bench, Call& call) {
  const auto waited = Waited::from(call.state);
  const auto asked = Asked::read_from(call.state);
  if (!waited || !asked) return std::nullopt;
  const auto desk = bench.desk();
  if (!desk) return error_result(desk.error());
  return Carrying(bench, **desk, call, waited->note).resume(*waited, *asked);
}

Outcome carry_decision(ToolBench& bench, Answer answer, Call& call, std::string_view note) {
  if (decision_of(answer).empty()) return answer_result(answer, note);
  const auto desk = bench.desk();
  if (!desk) return error_result(desk.error());
  return Carrying(bench, **desk, call, std::string(note)).carry(std::move(answer));
}

}  // namespace sb::mcp
