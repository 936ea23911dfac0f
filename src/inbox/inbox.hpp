// Every asked decision: opened, answered, ended and read, each step one event in its own stream (decision_state.hpp).
//
//   Inbox inbox(store, clock, random, operators, policy);
//   DecisionHandle ticket = SB_TRY(inbox.open(declaration, {.workspace = directory}));
//   ...
//   DecisionState state = SB_TRY(inbox.load(ticket.id));        // settles a passed deadline first
//   if (state.state == DecisionStatus::kClosed) state = SB_TRY(inbox.consume(ticket.id, "ask"));
//
// Nothing runs in the background: whoever looks after a deadline has passed writes down what it does. An answer and a
// deadline that come at once are both appended under the head they saw; the first in the log has happened, the other is
// told so (kConflict). What is read is checked: the event chain, the id against the opened event, signatures against
// the operators pinned there. The projections are only an index; nothing is believed because it stands in one.
//
// Projections: `decisions` (key id, sort `open/TIME/ID`, `parked/…` or `closed/…`), `decisions-asked` (key fingerprint,
// value the newest id), `prompts` (key nonce, sort `open/TIME/NONCE` while open), `counters` (key `prompts`).
//
// Stream `operators`: `seen` {root, head, count}, the register of operators whenever it has grown. No signature counts
// under one that does not continue the last: it was cut short (a revocation taken back) or replaced.
//
// Threads: as the Store given. Holds references; whoever makes it keeps them alive.
#pragma once

#include <functional>
#include <map>

#include "base/random.hpp"
#include "inbox/decision_state.hpp"
#include "inbox/operators/authority.hpp"
#include "inbox/operators/operators.hpp"
#include "inbox/question/planned_prompt.hpp"

namespace sb::inbox {

// From whom and for what a question is asked.
struct AskContext {
  std::string workspace;  // absolute directory, or empty
  std::string session;    // of a workflow, or empty
  // Who asks, as it calls itself to consume(), where a result may get lost on its way: an outcome it was told before is
  // told to it again, unless it is signed. Empty: an outcome is told once.
  std::string asker = {};
};

struct DecisionHandle {
  std::string id;
  bool has_joined = false;  // the same question was asked already and is not done with
};

// An answer on its way in.
struct AnswerSubmission {
  AnswerInput given;
  Responder from;                          // channel, principal, how it is signed
  std::string raw;                         // the bytes as they came
  Value waived;                            // of a chain
  std::optional<std::string> render_hash;  // of what was shown; absent: the question's own text
  ResolvedBy resolved_by = ResolvedBy::kHuman;
  std::optional<AnswerSignature> signature;
};

// What a host said to a planned prompt.
struct HostReply {
  HostResult result = HostResult::kSelected;
  std::vector<std::string> options;  // ids; of kSelected
  std::string free_text;             // instead of a choice
  std::string raw;
  Responder from;
  ResolvedBy resolved_by = ResolvedBy::kHuman;
};

class Inbox {
 public:
  Inbox(store::Store& store, Clock& clock, Random& random, const Operators& operators, const Policy& policy)
      : store_(store), clock_(clock), random_(random), operators_(operators), policy_(policy) {}

  // Opens the question, or joins the same one (same declaration, same workspace) while it is open or its outcome has
  // been read by nobody but the same asker. One that was asked about another digest, or under other operators, is
  // superseded, with an answer that nobody has read.
  //
  // Who joins did not see the question being asked, and the store may have been put back to an earlier day; so for a
  // joiner an answer counts only when it was given (where signed: signed) at most limits::kAnswerMaxAgeMs before.
  Result<DecisionHandle> open(const decision::Declaration& declaration, const AskContext& asking);

  // The same inside a transaction of the caller's, who so asks or reads in one commit with what it does itself.
  Result<DecisionHandle> open_in(store::Transaction& transaction, const decision::Declaration& declaration,
                                 const AskContext& asking);
  Result<DecisionState> load_in(store::Transaction& transaction, std::string_view id);
  // Ends it, when it is open or its answer was read by nobody: what it was asked for is over.
  Status discard_in(store::Transaction& transaction, std::string_view id);
  // As it stands, a passed deadline not written down.
  Result<DecisionState> peek_in(store::Snapshot& snapshot, std::string_view id) const {
    return read_state(snapshot, id);
  }
  Result<DecisionState> consume_in(store::Transaction& transaction, std::string_view id, std::string_view by);
  // As answer(); `remark` is kept as free text before it where it is not empty.
  Result<DecisionState> answer_in(store::Transaction& transaction, std::string_view id,
                                  const AnswerSubmission& submission, std::string_view remark = "");
  // Asked for a signature before anybody could give one; those who can are here now.
  bool can_be_reasked(const DecisionState& state) const {
    return state.is_open() && state.opened.needs_signature && !state.opened.operators && operators_.pin();
  }
  // Whether an agent may pass on a person's answer to it.
  bool may_relay(const DecisionState& state) const {
    return !state.opened.needs_signature && policy_.may_relay_in(state.opened.workspace);
  }

  // Writes the operators down as known, after their register has grown; kForbidden when it does not continue the one
  // known before.
  Status record_operators();

  // kNotFound; kCorrupt when what is stored was changed.
  Result<DecisionState> load(std::string_view id);
  // For showing: what load calls kNotFound or kCorrupt is a damaged decision.
  Result<DecisionState> load_or_damaged(std::string_view id);
  // The one an id, the beginning of an id (8 characters or more) or a declared id means; kNotFound, or kInvalid when
  // several are meant.
  Result<std::string> resolve(std::string_view name);
  // Open and parked ones, oldest first; with `all`, the closed ones after them, newest first. What was changed behind
  // our back stands among them as damaged, so that one bad record hides no other.
  Result<std::vector<DecisionState>> list(bool all, int limit = 1'000);

  // kConflict when it is no longer open, saying who was first; kForbidden as inbox/operators/authority.hpp says;
  // kInvalid. `remark`: what was said beside the choice, kept as free text in the same commit.
  Result<DecisionState> answer(std::string_view id, const AnswerSubmission& submission, std::string_view remark = "");
  Result<DecisionState> decline(std::string_view id, const Responder& from, std::string raw);
  Result<DecisionState> cancel(std::string_view id, const Responder& from);
  Result<DecisionState> supersede(std::string_view id);
  Result<DecisionState> park(std::string_view id);
  Result<DecisionState> note_free_text(std::string_view id, std::string_view text, const Responder& from);
  // One of the six; kDeclined closes, the others only leave a trace.
  Result<DecisionState> note_no_answer(std::string_view id, HostResult result, const Responder& from);
  // A client's dialog about it was declined. Some clients do that without asking anybody, so it is not the person's
  // refusal: a trace, no more.
  Result<DecisionState> note_dialog_declined(std::string_view id, const Responder& from);
  // Takes an answer back; kConflict when someone waiting has read it.
  Result<DecisionState> withdraw(std::string_view id, const Responder& from);
  // Marks the outcome of a closed decision as read by someone who acts on it. Reading it again changes nothing; and one
  // whose answer was withdrawn meanwhile is returned open as it is.
  Result<DecisionState> consume(std::string_view id, std::string_view by);

  // Fills in nonce, ordinal and time, and replaces kNoncePlaceholder in the question's text by the nonce.
  Result<PlannedPrompt> plan_prompt(PlannedPrompt prompt);
  Result<std::optional<PlannedPrompt>> find_prompt(std::string_view nonce);
  Result<std::vector<PlannedPrompt>> open_prompts(int limit = 100);  // newest first
  // Closes the prompt, once (kConflict the second time), and in the same commit answers the decision when this was the
  // last page and part it waited for; the host has that answer, so it counts as read. Free text and non-answers leave
  // the prompt open and are recorded.
  Result<DecisionState> reply(std::string_view nonce, const HostReply& reply);

 private:
  using Change = std::function<Result<std::vector<store::NewEvent>>(store::Snapshot&, const DecisionState&)>;

  SignatureCheck check(store::Snapshot& snapshot) const;
  Result<DecisionState> read_state(store::Snapshot& snapshot, std::string_view id) const;
  Result<DecisionState> read_settled(store::Transaction& transaction, std::string_view id);
  Result<DecisionState> append(store::Transaction& transaction, const DecisionState& before,
                               std::vector<store::NewEvent> events);
  Result<DecisionState> settle(std::string_view id);
  Result<DecisionState> change(std::string_view id, const Change& change);
  Result<DecisionState> end(std::string_view id, OutcomeKind ending, const Responder& from, std::string raw);
  Result<OpenedDecision> make_opened(const decision::Declaration& declaration, const AskContext& asking);
  Result<std::optional<DecisionState>> find_same_question(store::Transaction& transaction,
                                                          const OpenedDecision& opened);
  Status record_operators_in(store::Transaction& transaction);
  Status supersede_in(store::Transaction& transaction, const DecisionState& asked);
  bool can_join(const DecisionState& asked, const OpenedDecision& opened, std::string_view asker) const;
  Result<store::NewEvent> answered_event(store::Snapshot& snapshot, const DecisionState& state,
                                         const AnswerSubmission& submission) const;
  Result<std::vector<store::NewEvent>> answer_events(store::Snapshot& snapshot, const DecisionState& state,
                                                     const AnswerSubmission& submission, std::string_view remark) const;
  Result<DecisionState> reply_in(store::Transaction& transaction, const PlannedPrompt& prompt, const HostReply& reply);

  store::Store& store_;
  Clock& clock_;
  Random& random_;
  const Operators& operators_;
  const Policy& policy_;
  std::map<std::string, TimestampMs, std::less<>> fresh_since_;  // of joined decisions
};

}  // namespace sb::inbox
