#include "mcp/asking/ask.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "decision/walk/walk.hpp"
#include "inbox/profile_files.hpp"
#include "inbox/question/answer_command.hpp"
#include "inbox/question/choice_text.hpp"
#include "mcp/asking/dialog.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tool_answers.hpp"

namespace sb::mcp {
namespace {

using decision::Declaration;
using inbox::DecisionState;

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message),
              fmt::format("For example {{\"declaration\": {}}}", kDeclarationExample));
}

Result<Document> document_of(const Value& given) {
  if (given.is_string()) return parse_document("declaration", given.as_string());
  if (!given.is_object()) return wrong(fmt::format("`declaration` must be an object, not {}", kind_name(given.kind())));
  std::string text = to_json(given);
  if (text.size() > sb::limits::kDocumentBytes) {
    return fail(ErrorCode::kLimit, fmt::format("the declaration has {} bytes; at most {} are allowed", text.size(),
                                               sb::limits::kDocumentBytes));
  }
  return Document{"declaration", std::move(text), given};
}

Checked<Declaration> declaration_of(const Seams& seams, const Value& given) {
  const auto document = document_of(given);
  if (!document) return std::unexpected(Faults{document.error()});
  const decision::Profiles built_in = decision::Profiles::built_in();
  const auto name = document->root.string_at("profile");
  // Reads the user's profiles only for a declaration that names one, so that a fault in them affects nothing else.
  if (!name || built_in.find(*name)) return parse_declaration(*document, built_in, decision::Author::kModel);
  const auto profiles = inbox::load_profiles(seams.files, seams.environment);
  if (!profiles) return std::unexpected(profiles.error());
  return parse_declaration(*document, *profiles, decision::Author::kModel);
}

HandlerResult faulty(const Faults& faults) {
  Value all = Value::array();
  for (const Error& fault : faults) {
    if (all.size() < sb::limits::kBlockers) all.push_back(fault.to_string());
  }
  engine::SessionError error = engine::session_error(faults.front());
  error.code = "VALIDATION_ERROR";
  if (all.size() > 1) error.details = Value::object({{"faults", std::move(all)}});
  return error_result(error);
}

class Asking {
 public:
  Asking(WorkerContext& worker, inbox::Home& home, const Declaration& declaration, Call& call)
      : worker_(worker), inbox_(home.inbox()), declaration_(declaration), call_(call) {}

  // `again`: do not reuse an answer that was already returned.
  Result<HandlerResult> begin(const std::string& workspace, bool again) {
    const inbox::DecisionHandle handle = SB_TRY(
        inbox_.open(declaration_, {.workspace = workspace, .session = "", .asker = again ? std::string() : asker()}));
    const DecisionState state = SB_TRY(inbox_.load(handle.id));
    if (!state.is_open()) return finish(state);
    return ask(state, DialogState{.decision = state.id});
  }

  Result<HandlerResult> resume(const DialogState& asked) {
    const DecisionState state = SB_TRY(inbox_.load(asked.decision));
    if (state.opened.definition != declaration_.hash || !state.opened.session.empty()) {
      return fail(ErrorCode::kForbidden, "the answer belongs to another question", "Repeat the original call");
    }
    const DialogResult heard =
        SB_TRY(record_dialog_answer(inbox_, state, declaration_, call_, asked, OnDecline::kCloseDecision));
    // No one reads a late result; the next call finds what was stored.
    if (call_.is_late) return tool_result({});
    const DecisionState after = SB_TRY(inbox_.load(asked.decision));
    if (!after.is_open()) return finish(after);
    return heard.again ? ask(after, *heard.again) : awaiting(after);
  }

 private:
  HandlerResult ask(const DecisionState& state, const DialogState& asked) {
    auto question = ask_in_dialog(worker_.seams(), inbox_, state, declaration_, call_, asked,
                                  Value::object({{"tool", "ask"}}), state.id);
    if (question) return std::move(*question);
    return awaiting(state);
  }

  std::string asker() const { return fmt::format("the tool ask ({})", answering_person(call_)); }

  Result<HandlerResult> finish(const DecisionState& state) {
    const DecisionState taken = SB_TRY(inbox_.consume(state.id, asker()));
    // Withdrawn in the meantime.
    if (taken.is_open()) return awaiting(taken);
    const Value outcome = text_content(to_json(to_json_value(taken)));
    std::string note = late_answers(state);
    if (state.is_consumed) {
      note += fmt::format(
          "{}This is the outcome of {}, which you already received. To ask the person the same question again, send "
          "`again: true`.",
          note.empty() ? "" : "\n", to_rfc3339(taken.outcome->at));
    }
    return note.empty() ? tool_result({outcome}) : tool_result({text_content(std::move(note)), outcome});
  }

  bool has_dialog(const DecisionState& state) const {
    return call_.client.has_form_elicitation && (call_.caller.is_installed_client || inbox_.may_relay(state));
  }

  // What came after the first answer to this question, or to an earlier one without a session.
  std::string late_answers(const DecisionState& state) {
    return inbox_.take_late_answers(state.opened.workspace).value_or("");
  }

  HandlerResult awaiting(const DecisionState& state) {
    const bool is_signed = state.opened.needs_signature;
    const std::string command = inbox::answer_command(state.id, declaration_);
    std::string text = inbox::choice_text(declaration_);
    const bool is_held = state.position["held"] == Value(true);
    if (is_held) {
      const auto walk = decision::Walk::at(declaration_, state.position, 0);
      text = fmt::format(
          "On hold at {}: stop asking, and discuss it with the person first. When they say how to continue, call `ask` "
          "again with the same declaration{}; they can also run `{}`. Do not answer for them.\n",
          walk ? walk->place() : "", has_dialog(state) ? ": it opens the form that continues" : "", command);
    } else if (is_signed && !state.opened.operators) {
      text +=
          "\n\nThis needs an operator's signature, but there is no operator yet. A person must run `signalbox operator "
          "init`; then ask again.\n";
    } else {
      text += fmt::format(
          "\n\nA person must {} this: `{}`{}.\nTell them. Ask again once they have answered; do not answer for them.\n",
          is_signed ? "sign" : "answer", command, is_signed ? " in a terminal, with their passphrase" : "");
    }
    if (const std::string advice = dialog_advice(inbox_, state, call_); !advice.empty()) text += advice + "\n";
    if (const std::string late = late_answers(state); !late.empty()) text += "\n" + late + "\n";
    Value line = Value::object({{"kind", "awaiting"}});
    const Value as_printed = to_json_value(state);
    for (const Value::Member& member : as_printed.members()) line.set(member.name, member.value);
    line.set("command", command);
    line.set("url", Value());
    return tool_result({text_content(std::move(text)), text_content(to_json(line))});
  }

  WorkerContext& worker_;
  inbox::Inbox& inbox_;
  const Declaration& declaration_;
  Call& call_;
};

Result<std::string> workspace_of(const WorkerContext& worker, const Value& arguments) {
  const Value* given = arguments.find("workspacePath");
  if (given == nullptr || given->is_null()) return worker.files().canonical(".");
  if (!given->is_string() || given->as_string().empty() || given->as_string().front() != '/') {
    return fail(ErrorCode::kInvalid, "`workspacePath` is not an absolute path",
                "Use the absolute path of the project folder");
  }
  if (worker.files().kind(given->as_string()) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("no such folder: {}", quote_json(printable(given->as_string()))),
                "Use the absolute path of the project folder");
  }
  return worker.files().canonical(given->as_string());
}

}  // namespace

HandlerResult ask(WorkerContext& worker, const Value& arguments, Call& call) {
  const Value* given = arguments.find("declaration");
  if (given == nullptr || given->is_null()) return error_result(wrong("`declaration` is missing").error());
  const auto declaration = declaration_of(worker.seams(), *given);
  if (!declaration) return faulty(declaration.error());
  const auto home = worker.home();
  if (!home) return error_result(home.error());
  Asking asking(worker, (*home)->home(), *declaration, call);
  const auto asked = call.state.string_at("tool") == "ask" ? DialogState::read_from(call.state) : std::nullopt;
  const auto outcome = [&]() -> Result<HandlerResult> {
    if (asked) return asking.resume(*asked);
    const Value& again = arguments["again"];
    return asking.begin(SB_TRY(workspace_of(worker, arguments)), again.is_bool() && again.as_bool());
  }();
  if (!outcome) return error_result(outcome.error());
  return *outcome;
}

}  // namespace sb::mcp
