// The `ask` tool: asks a person a question and turns their answer into a tool result.
#include <fmt/format.h>

#include "agent/tools/agent_question.hpp"
#include "agent/tools/session_tools.hpp"
#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "decision/declaration/written_profile.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

const decision::Profiles& profiles() {
  static const decision::Profiles all = decision::with_written_profile("agent");
  return all;
}

// The person's answer in their words; empty when they said nothing.
std::string answer_summary(const inbox::DecisionState& state) {
  const inbox::DecisionOutcome& outcome = *state.outcome;
  std::string text;
  for (const std::string& id : outcome.options) {
    std::string label = id;
    for (const inbox::Part& part : state.opened.question.parts) {
      if (const inbox::Choice* choice = part.find(id)) label = choice->label;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", label);
  }
  if (const auto own = outcome.values.string_at("text")) text += *own;
  if (!state.free_texts.empty()) text += fmt::format("\nThey added: {}", state.free_texts.back());
  return text;
}

}  // namespace

Result<decision::Declaration> question_from(const WorkContext& work_context, const ToolCall& call) {
  const std::string name =
      sha256_hex(fmt::format("{}/{}/{}", work_context.assignment.session, work_context.turn, call.id)).substr(0, 12);
  const Redactor& redactor = work_context.redactor;
  std::string context = fmt::format("Asked by the agent of session {} ({})", work_context.assignment.session,
                                    work_context.assignment.workflow);
  if (const auto more = call.input.string_at("context")) context += "\n\n" + redactor.clean(*more);
  Value root = Value::object({{"decision", "ask-" + name},
                              {"profile", "agent"},
                              {"instruction", redactor.clean(call.input.string_at("question").value_or(""))},
                              {"sections", Value::object({{"context", std::move(context)}})}});
  if (const Value* options = call.input.find("options")) {
    root.set("options", redactor.clean_value(*options));
  } else {
    root.set("select", "text");
  }
  Document document{"the question", to_json(root), std::move(root)};
  auto declared = decision::parse_declaration(document, profiles(), decision::Author::kModel);
  if (!declared) return std::unexpected(declared.error().front());
  return std::move(*declared);
}

std::optional<decision::Declaration> agent_question_declaration(const Value& source, const std::string& hash) {
  const Document document{"the question", to_json(source), source};
  auto declared = decision::parse_declaration(document, profiles(), decision::Author::kModel);
  if (!declared || declared->hash != hash) return std::nullopt;
  return std::move(*declared);
}

SessionToolResult SessionTools::ask(const std::string& decision) {
  SessionToolResult end;
  inbox::Home& home = work_context_.parts.home.home();
  // Inside a transaction, because the inbox is not thread-safe.
  const auto state = home.store().write([&](store::Transaction& transaction) -> Result<inbox::DecisionState> {
    inbox::DecisionState asked = SB_TRY(home.inbox().load_in(transaction, decision));
    if (asked.is_open()) return asked;
    return home.inbox().consume_in(transaction, decision, work_context_.assignment.session);
  });
  if (!state && state.error().code == ErrorCode::kNotFound) {
    end.result = {.text = "The question is no longer in the inbox and was not answered.", .is_error = true};
    return end;
  }
  if (!state) {
    end.left = WorkResult{.state = EndState::kInternalError, .reason = state.error().to_string()};
    return end;
  }
  if (state->is_open()) {
    end.left = WorkResult{.state = EndState::kAwaiting,
                          .reason = fmt::format("the agent asked a question: {}", decision),
                          .decision = decision};
    return end;
  }
  const inbox::OutcomeKind ending = state->outcome->kind;
  if (ending == inbox::OutcomeKind::kAnswered || ending == inbox::OutcomeKind::kDefaulted) {
    end.result.text = fmt::format("A person answered: {}", answer_summary(*state));
    return end;
  }
  end.result = {
      .text = fmt::format("The question was not answered; it was {}. Continue with what you know, and list in "
                          "your notes what stays open.",
                          inbox::to_string(ending)),
      .is_error = true};
  return end;
}

}  // namespace sb::agent
