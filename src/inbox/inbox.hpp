// Every asked decision: opened, answered, closed and consumed, each step one event in its own stream
// (decision_state.hpp).
//
//   Inbox inbox(store, clock, random, operators, policy);
//   DecisionHandle handle = SB_TRY(inbox.open(declaration, {.workspace = directory}));
//   ...
//   DecisionState state = SB_TRY(inbox.load(handle.id));        // settles a passed deadline first
//   if (state.state == DecisionStatus::kClosed) state = SB_TRY(inbox.consume(handle.id, "ask"));
//
// Nothing runs in the background: the first caller to look after a deadline has passed records its effect. If an answer
// and a deadline coincide, both are appended under the head they saw; the first in the log wins, the other gets
// kConflict. Everything read is verified: the event chain, the id against the opened event, signatures against the
// operators pinned there. The projections are only an index and are not trusted.
//
// Projections: `decisions` (key id, sort `open/TIME/ID`, `parked/…` or `closed/…`), `decisions-open`
// (inbox/open_decisions.hpp), `decisions-asked` (key fingerprint, value the newest id), `late-answers` (key a
// workflow's session, or the workspace of decisions without one; value their ids, until reported), `prompts` (key
// nonce, sort `open/TIME/NONCE` while open), `counters` (keys `prompts`, `decisions-open`).
//
// Stream `operators`: `seen` {root, head, count}, the operator registry each time it has grown. No signature counts
// under a registry that does not continue the last one: it was truncated (undoing a revocation) or replaced.
//
// Threads: as the given Store. Holds references; the caller keeps them alive.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <variant>

#include "base/random.hpp"
#include "decision/render/render.hpp"
#include "decision/walk/walk.hpp"
#include "inbox/decision_state.hpp"
#include "inbox/operators/authority.hpp"
#include "inbox/operators/operators.hpp"
#include "inbox/question/planned_prompt.hpp"
#include "store/paging.hpp"

namespace sb::inbox {

// Who asks a question, and for what.
struct AskContext {
  std::string workspace;  // absolute directory, or empty
  std::string session;    // of a workflow, or empty
  // The caller's name as passed to consume(), where a result may get lost on its way: an outcome it has already read is
  // returned to it again unless it is signed. Empty: an outcome is returned once.
  std::string asker = {};
  bool is_gate = false;  // a session or a run stops there until it is let on: `confirmations: signed` applies
};

struct DecisionHandle {
  std::string id;
  bool has_joined = false;  // the same question was already asked and is not finished
};

struct DecisionPage {
  std::vector<DecisionState> decisions;
  store::PageFacts facts;
};

struct WaitingSession {
  std::string session, decision;
};

// A submitted answer.
struct AnswerSubmission {
  AnswerInput given;
  Responder from;                          // channel and principal
  std::string raw;                         // the bytes as received
  Value waived;                            // of a chain
  std::optional<std::string> render_hash;  // of what was shown; absent: the question's own text
  ResolvedBy resolved_by = ResolvedBy::kHuman;
  std::optional<AnswerSignature> signature;
};

// An answer to the question that is open in a decision's walk (decision/walk).
struct WalkAnswer {
  std::variant<decision::HostAnswer, std::string> given;  // of a host, or a typed line
  Responder from;
  std::string raw;                              // the bytes as received
  std::optional<std::string> render_hash = {};  // of what was shown; absent: the question's own text
  ResolvedBy resolved_by = ResolvedBy::kHuman;
  std::string reader = {};                   // has the outcome together with this answer; empty: no one yet
  std::string remark = {};                   // stored as free text before it
  std::optional<std::string> shown_at = {};  // position_digest() of where: kConflict if the walk is elsewhere now
};

// Of a stored position, whose members may be in another order.
std::string position_digest(const Value& position);

struct Walked {
  DecisionState state;
  decision::WalkTurn turn;
};

struct DecisionDamage {
  std::string id, message;
  bool is_fixable = false;  // by rebuild(): only its record is damaged, not its events
};

class Inbox {
 public:
  Inbox(store::Store& store, Clock& clock, Random& random, const Operators& operators, const Policy& policy)
      : store_(store), clock_(clock), random_(random), operators_(operators), policy_(policy) {}

  // Opens the question, or joins the same one (same declaration, same workspace) while it is open or its outcome has
  // been read by no one but the same asker. One that was asked about another digest, or under other operators, is
  // superseded, together with an answer that no one has read.
  //
  // A joining caller did not see the question being asked, and the store may have been restored from an old copy; so
  // for a joined decision an answer counts only if it was given (if signed: signed) at most limits::kAnswerMaxAgeMs
  // before.
  Result<DecisionHandle> open(const decision::Declaration& declaration, const AskContext& asking);

  // The same inside the caller's transaction, so that it commits together with the caller's own changes.
  Result<DecisionHandle> open_in(store::Transaction& transaction, const decision::Declaration& declaration,
                                 const AskContext& asking);
  Result<DecisionState> load_in(store::Transaction& transaction, std::string_view id);
  // Closes it if it is open or its answer is unread: the reason for asking is gone.
  Status discard_in(store::Transaction& transaction, std::string_view id);
  // The current state; a passed deadline is not recorded.
  Result<DecisionState> peek_in(store::Snapshot& snapshot, std::string_view id) const {
    return read_state(snapshot, id);
  }
  Result<DecisionState> consume_in(store::Transaction& transaction, std::string_view id, std::string_view by);
  // Like answer(); a non-empty `remark` is stored as free text before it.
  Result<DecisionState> answer_in(store::Transaction& transaction, std::string_view id,
                                  const AnswerSubmission& submission, std::string_view remark = "");
  // It was asked for a signature before there was an operator; now there is one.
  bool can_be_reasked(const DecisionState& state) const {
    return state.is_open() && state.opened.needs_signature && !state.opened.operators && operators_.pin();
  }
  // `confirmations: signed`: every gate asks a person, who signs.
  bool signs_gates(std::string_view workspace) const {
    return policy_.confirmations_in(workspace) == Confirmations::kSigned;
  }
  // Whether an agent may relay a person's answer to it.
  bool may_relay(const DecisionState& state) const {
    return !state.opened.needs_signature && policy_.may_relay_in(state.opened.workspace);
  }

  // Records the operators as known after their registry has grown; kForbidden when it does not continue the one known
  // before.
  Status record_operators();

  // kNotFound; kCorrupt when the stored data was changed.
  Result<DecisionState> load(std::string_view id);
  // For display: what load reports as kNotFound or kCorrupt is returned as a damaged decision.
  Result<DecisionState> load_or_damaged(std::string_view id);
  // The decision with this id, id prefix (8 characters or more) or declared id; kNotFound, or kInvalid when several
  // match.
  Result<std::string> resolve(std::string_view name);
  // A page of the open and parked ones, most urgent first (inbox/open_decisions.hpp); with `all`, then the closed ones,
  // newest first. Tampered decisions are listed as damaged, so that one bad record hides no other.
  Result<DecisionPage> page(bool all, const store::PageRequest& request);
  // All pages.
  Result<std::vector<DecisionState>> list(bool all);
  // Records the effect of every deadline that has passed.
  Status settle_due();
  // How many are open or parked that were asked in one of these folders.
  Result<std::int64_t> count_open_in(std::span<const std::string> folders);
  // The chains on hold that were asked in one of these folders; none in a home of an older version until its decisions
  // are listed.
  Result<std::vector<DecisionState>> held_in(std::span<const std::string> folders);
  // The sessions that wait for an answer.
  Result<std::vector<WaitingSession>> waiting_sessions();

  // kConflict when it is no longer open, naming who answered first; kForbidden as in inbox/operators/authority.hpp;
  // kInvalid. `remark`: a comment on the choice, stored as free text in the same commit.
  Result<DecisionState> answer(std::string_view id, const AnswerSubmission& submission, std::string_view remark = "");
  Result<DecisionState> decline(std::string_view id, const Responder& from, std::string raw);
  Result<DecisionState> cancel(std::string_view id, const Responder& from);
  Result<DecisionState> supersede(std::string_view id);
  Result<DecisionState> park(std::string_view id);
  Result<DecisionState> note_free_text(std::string_view id, std::string_view text, const Responder& from);
  // One of the six; kDeclined closes, the others are only recorded.
  Result<DecisionState> note_no_answer(std::string_view id, HostResult result, const Responder& from);
  // A client declined its dialog about it. Some clients do that without asking anyone, so it does not count as the
  // person's refusal and is only recorded.
  Result<DecisionState> note_dialog_declined(std::string_view id, const Responder& from);
  // Withdraws an answer; kConflict when a waiting caller has read it.
  Result<DecisionState> withdraw(std::string_view id, const Responder& from);
  // Marks the outcome of a closed decision as read by a caller that acts on it. Reading it again changes nothing. If
  // the answer was withdrawn meanwhile, the decision is returned open.
  Result<DecisionState> consume(std::string_view id, std::string_view by);

  // Checks every decision and its record; returns how many there are.
  Result<std::int64_t> verify(const std::function<void(const DecisionDamage&)>& on_damaged) const;
  // Writes the records of these again from their events.
  Status rebuild(const std::vector<std::string>& ids);

  // For an agent to pass on: the answers that came after their decision was closed, of this session, or of the
  // decisions without a session that were asked in this workspace. Empty for none.
  Result<std::string> late_answers(std::string_view session_or_workspace);
  // The same, once.
  Result<std::string> take_late_answers(std::string_view session_or_workspace);

  // Fills in nonce, ordinal and time, and replaces kNoncePlaceholder in the question's text with the nonce.
  Result<PlannedPrompt> plan_prompt(PlannedPrompt prompt);
  Result<std::optional<PlannedPrompt>> find_prompt(std::string_view nonce);
  // Those that wait for an answer, of all decisions, newest first.
  Result<std::vector<PlannedPrompt>> open_prompts(int limit = 100);
  // Those of one decision.
  Result<std::vector<PlannedPrompt>> open_prompts_of(std::string_view decision);
  // The prompt as its host was given it, if that is what the walk asks now.
  Result<std::optional<decision::Rendered>> shown(const PlannedPrompt& prompt, const DecisionState& state,
                                                  const decision::Declaration& declaration) const;

  // One step of the walk, in one commit: a choice moves it on, and the last one answers the decision; free text and
  // non-answers are recorded and leave the question open. An answer to a closed decision is kept as a late one and
  // kConflict. `host_cap`: of where it was shown.
  Result<Walked> walk(std::string_view id, const decision::Declaration& declaration, int host_cap,
                      const WalkAnswer& answer);
  // Stores where a walk is that a caller takes itself, line by line. kConflict if it was not at `from_position`.
  Result<DecisionState> store_position(std::string_view id, const Value& from_position, const Value& position,
                                       const Responder& from, std::string_view raw);
  // As walk() for a planned prompt, which it closes unless the same question stays open; other prompts of a flow or
  // chain are closed with it. kConflict if the prompt is closed, or the walk asks something else now.
  Result<Walked> walk_prompt(std::string_view nonce, const decision::Declaration& declaration,
                             const WalkAnswer& answer);

 private:
  using Change = std::function<Result<std::vector<store::NewEvent>>(store::Snapshot&, const DecisionState&)>;

  SignatureCheck check(store::Snapshot& snapshot) const;
  Result<DecisionState> read_state(store::Snapshot& snapshot, std::string_view id) const;
  Result<DecisionState> read_settled(store::Transaction& transaction, std::string_view id);
  Result<DecisionState> append(store::Transaction& transaction, const DecisionState& before,
                               std::vector<store::NewEvent> events);
  Result<DecisionState> settle(std::string_view id);
  Status settle_all(const std::vector<std::string>& ids);
  // Once for a home of an older version.
  Status make_open_index(store::Transaction& transaction);
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
  Result<Walked> walk_in(store::Transaction& transaction, const DecisionState& state, decision::Walk walk,
                         const WalkAnswer& answer);
  // `is_reported`: the agent learns of it together with this answer.
  void keep_late(std::string_view id, std::string answer, const Responder& from, std::string_view raw,
                 bool is_reported = false);

  store::Store& store_;
  Clock& clock_;
  Random& random_;
  const Operators& operators_;
  const Policy& policy_;
  std::map<std::string, TimestampMs, std::less<>> fresh_since_;  // of joined decisions
};

}  // namespace sb::inbox
