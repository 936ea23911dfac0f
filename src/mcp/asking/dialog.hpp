// One decision before the person behind a client: whether it can be asked there, the request for it, and what came back
// put into the inbox.
//
// DialogState only of a client that says it has forms, only what needs no signature, and only what a form shows in full
// (decision_form.hpp); all else is for the inbox. What the dialog brings is one answer among those of other channels:
// the first counts, and one that comes when the decision is closed changes nothing. An answer that does not fit is
// asked for once more, then the decision is left in the inbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "decision/declaration/declaration.hpp"
#include "inbox/inbox.hpp"
#include "mcp/call.hpp"

namespace sb::mcp {

// How far the asking of a decision has come; part of the InputRequired's state.
struct DialogState {
  std::string decision;
  int page = 1;
  int round = 1;  // of this call, so that no answer is taken for another's
  bool has_failed = false;
  std::string problem = {};  // with the last answer; not kept in the state

  std::string key() const;  // of the request
  void write_to(Value& state) const;
  static std::optional<DialogState> read_from(const Value& state);
};

// Who is recorded as having answered: the client as it calls itself, and whom the connection belongs to.
std::string answering_person(const Call& call);

// The question for the client, or nothing where it cannot be asked there. `state` is what the handler wants back
// besides; `bound_to` as in InputRequired.
std::optional<InputRequired> ask_in_dialog(const Seams& seams, const inbox::DecisionState& state,
                                           const decision::Declaration& declaration, const Call& call,
                                           const DialogState& asked, Value handler_state, std::string bound_to);

enum class OnDecline {
  kCloseDecision,  // the decision ends as declined
  // Some clients decline every dialog by themselves. Where that would reject a result or stop a session, it is only
  // written down.
  kRecordOnly
};
struct DialogResult {
  bool has_answer = false;                // of this dialog; it is in the inbox
  std::optional<DialogState> again = {};  // what to ask next: another page, or the same once more
};
// What came back, into the inbox. Errors are those of the store.
Result<DialogResult> record_dialog_answer(inbox::Inbox& inbox, const inbox::DecisionState& state,
                                          const decision::Declaration& declaration, const Call& call,
                                          const DialogState& asked, OnDecline declining);

}  // namespace sb::mcp
