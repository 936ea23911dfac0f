// Asks one decision in a client's dialog: whether that is possible, the request, and storing the answer in the inbox.
//
// Asks only a client that declares forms, only what needs no signature, and only what a form can show in full
// (decision_form.hpp); everything else stays in the inbox. An answer is a person's only from a client that
// `signalbox mcp install` set up (Caller::is_installed_client): the agent itself can be a client, too. Any other
// client's answer counts as relayed, and it is asked only where the user's configuration allows relaying. The dialog is
// one channel among others: the first answer counts, and an answer to a closed decision changes nothing. An invalid
// answer is requested once again, then the decision is left in the inbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "decision/declaration/declaration.hpp"
#include "inbox/inbox.hpp"
#include "mcp/call.hpp"

namespace sb::mcp {

// Progress of asking a decision; part of the InputRequired's state.
struct DialogState {
  std::string decision;
  int page = 1;
  int round = 1;  // of this call, so that answers are not mixed up
  bool has_failed = false;
  std::string shown_at = {};   // of a walk: the digest of the position whose question is shown
  std::string rejection = {};  // chosen, while the form asks for the reason
  std::string problem = {};    // with the last answer; not stored in the state

  std::string key() const;  // of the request
  void write_to(Value& state) const;
  static std::optional<DialogState> read_from(const Value& state);
};

// Who is recorded as the answering person: the client's own name, and the principal of the connection.
std::string answering_person(const Call& call);

// The question for the client, or nothing if it cannot be asked there. `state` is other data that the handler needs
// back; `bound_to` as in InputRequired.
std::optional<InputRequired> ask_in_dialog(const Seams& seams, const inbox::Inbox& inbox,
                                           const inbox::DecisionState& state, const decision::Declaration& declaration,
                                           const Call& call, const DialogState& asked, Value handler_state,
                                           std::string bound_to);

// What a person can do so that this client may ask; empty if it may, or could not ask anyway.
std::string dialog_advice(const inbox::Inbox& inbox, const inbox::DecisionState& state, const Call& call);

enum class OnDecline {
  kCloseDecision,  // the decision is closed as declined
  // Some clients decline every dialog by themselves. Where that would reject a result or stop a session, it is only
  // recorded.
  kRecordOnly
};
struct DialogResult {
  bool has_answer = false;                // from this dialog; stored in the inbox
  bool came_second = false;               // another answer was first; this one is kept in the record
  std::optional<DialogState> again = {};  // what to ask next: another page, or the same again
};
// Stores the answer in the inbox. Errors come from the store.
Result<DialogResult> record_dialog_answer(inbox::Inbox& inbox, const inbox::DecisionState& state,
                                          const decision::Declaration& declaration, const Call& call,
                                          const DialogState& asked, OnDecline declining);

}  // namespace sb::mcp
