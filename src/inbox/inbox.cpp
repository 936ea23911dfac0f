#include "inbox/inbox.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/open_decisions.hpp"

namespace sb::inbox {
namespace {

using decision::OnTimeout;
using store::NewEvent;

constexpr int kEventsPage = 1'000;

Status put_row(store::Transaction& transaction, const DecisionState& state) {
  SB_TRY(index_decision(transaction, state));
  if (!state.is_open()) SB_TRY(unlist_prompts(transaction, state.id));
  const store::Row row = decision_row(state);
  return transaction.put(kDecisions, row.key, row.value, row.sort);
}

std::optional<TimestampMs> deadline_of(const decision::Decision& decision, TimestampMs now) {
  if (decision.deadline_at) return decision.deadline_at;
  if (decision.deadline_after_ms) return now + *decision.deadline_after_ms;
  return std::nullopt;
}

bool needs_signature(const decision::Declaration& declaration) {
  if (const decision::Decision* decision = declaration.decision()) return decision->needs_signature();
  const decision::Flow* flow = declaration.flow();
  return flow != nullptr && std::ranges::any_of(flow->steps, [](const decision::FlowStep& step) {
           return step.decision.needs_signature();
         });
}

// A flow is signed as a whole because of some of its steps; any option of the others is safe.
void mark_safe_steps(const decision::Flow& flow, Question& question) {
  for (const decision::FlowStep& step : flow.steps) {
    if (step.decision.needs_signature()) continue;
    for (Part& part : question.parts) {
      if (part.key != step.key()) continue;
      for (Choice& choice : part.options) choice.safe = true;
    }
  }
}

// The effect of a passed deadline on the decision, if any.
std::optional<NewEvent> due_event(const DecisionState& state, TimestampMs now) {
  const OpenedDecision& opened = state.opened;
  if (state.state != DecisionStatus::kOpen || !opened.deadline || now < *opened.deadline) return std::nullopt;
  switch (opened.on_timeout) {
    case OnTimeout::kWait:
      return std::nullopt;
    case OnTimeout::kPark:
      return NewEvent{"parked", now, "{}"};
    case OnTimeout::kDeny:
      return closed_event(OutcomeKind::kExpired, ResolvedBy::kDeadline, {Channel::kProgram, ""}, "", now);
    case OnTimeout::kDefault:
      // Declarations that must not default are rejected when read; a stored one that slipped through expires.
      return closed_event(opened.needs_signature ? OutcomeKind::kExpired : OutcomeKind::kDefaulted,
                          ResolvedBy::kDeadline, {Channel::kProgram, ""}, "", now);
  }
  return std::nullopt;
}

Status check_remark(std::string_view text) {
  if (text.size() <= limits::kTextBytes) return {};
  return fail(ErrorCode::kLimit,
              fmt::format("the text has {} bytes; at most {} are allowed", text.size(), limits::kTextBytes),
              "Shorten it");
}

// The operators last recorded in this store.
Result<std::optional<OperatorPin>> operators_seen(store::Snapshot& snapshot) {
  const store::Head head = SB_TRY(snapshot.head(kOperatorsSeen));
  if (head.seq == 0) return std::nullopt;
  const auto last = SB_TRY(snapshot.events(kOperatorsSeen, head.seq, 1));
  const store::Event& seen = last.front();
  if (seen.type != "seen") return unknown_event(seen.stream, seen.seq, seen.type);
  return SB_TRY(pin_from(SB_TRY(parse_stored(seen.payload))));
}

// A tripwire: a process that can replace the operators can also edit this record. It makes a replacement visible.
Status check_known(const Operators& operators, const std::optional<OperatorPin>& seen) {
  if (!seen || operators.continues(*seen)) return {};
  return fail(ErrorCode::kForbidden, "the operator keys do not match those recorded by this inbox",
              "Restore the operators folder; if you discarded the old keys yourself, start with an empty home");
}

std::string who(const DecisionOutcome& outcome) {
  if (outcome.principal.empty()) return fmt::format("{}", to_string(outcome.channel));
  return fmt::format("{} ({})", outcome.principal, to_string(outcome.channel));
}

}  // namespace

std::unexpected<Error> no_longer_open(const DecisionState& state) {
  const DecisionOutcome& outcome = *state.outcome;
  std::string chosen = fmt::format("{}", fmt::join(outcome.options, ", "));
  if (outcome.options.empty() && outcome.values.is_object() && outcome.values.size() > 0) {
    chosen = to_json(outcome.values);
  }
  return fail(ErrorCode::kConflict,
              fmt::format("{} is already {} by {} at {}{}{}", state.id, to_string(outcome.kind), who(outcome),
                          to_rfc3339(outcome.at), chosen.empty() ? "" : ": ", chosen));
}

SignatureCheck Inbox::check(store::Snapshot& snapshot) const {
  return [this, &snapshot](const std::string& id, const OpenedDecision& opened,
                           const DecisionOutcome& outcome) -> Result<std::string> {
    SB_TRY(check_known(operators_, SB_TRY(operators_seen(snapshot))));
    std::string signer = SB_TRY(signature_check(operators_)(id, opened, outcome));
    const auto since = fresh_since_.find(id);
    if (since != fresh_since_.end() && outcome.signature->signed_at < since->second) {
      return fail(ErrorCode::kForbidden, "the stored answer was signed too long ago and no longer counts");
    }
    return signer;
  };
}

Result<DecisionState> Inbox::read_state(store::Snapshot& snapshot, std::string_view id) const {
  std::vector<store::Event> events;
  for (;;) {
    auto page = SB_TRY(snapshot.events(decision_stream(id), static_cast<std::int64_t>(events.size()) + 1, kEventsPage));
    const bool is_last = page.size() < static_cast<std::size_t>(kEventsPage);
    std::ranges::move(page, std::back_inserter(events));
    if (is_last) break;
  }
  if (events.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no decision {}", quote_json(id)),
                "Run signalbox inbox list to see the open decisions");
  }
  return replay(events, check(snapshot));
}

Result<DecisionState> Inbox::append(store::Transaction& transaction, const DecisionState& before,
                                    std::vector<NewEvent> events) {
  SB_TRY(transaction.append(decision_stream(before.id), before.head, events));
  DecisionState after = SB_TRY(read_state(transaction, before.id));
  SB_TRY(put_row(transaction, after));
  return after;
}

Result<DecisionState> Inbox::read_settled(store::Transaction& transaction, std::string_view id) {
  DecisionState state = SB_TRY(read_state(transaction, id));
  if (const auto due = due_event(state, clock_.now_ms())) return append(transaction, state, {*due});
  return state;
}

Result<DecisionState> Inbox::settle(std::string_view id) {
  return store_.write([&](store::Transaction& transaction) { return read_settled(transaction, id); });
}

Result<DecisionState> Inbox::change(std::string_view id, const Change& change) {
  // In its own commit: if the change is rejected because the deadline came first, the deadline stays written.
  SB_TRY(load(id));
  return store_.write([&](store::Transaction& transaction) -> Result<DecisionState> {
    const DecisionState before = SB_TRY(read_settled(transaction, id));
    std::vector<NewEvent> events = SB_TRY(change(transaction, before));
    if (events.empty()) return before;
    return append(transaction, before, std::move(events));
  });
}

Result<DecisionState> Inbox::load(std::string_view id) {
  DecisionState state = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return read_state(snapshot, id); }));
  if (!due_event(state, clock_.now_ms())) return state;
  Result<DecisionState> settled = settle(id);
  // A store that cannot be written can still be read; the next process that can write it records the deadline.
  if (!settled && (settled.error().code == ErrorCode::kIo || settled.error().code == ErrorCode::kForbidden))
    return state;
  return settled;
}

Result<OpenedDecision> Inbox::make_opened(const decision::Declaration& declaration, const AskContext& asking) {
  const decision::Decision* single = declaration.decision();
  if (single && single->secret &&
      (single->select.mode == decision::SelectMode::kText || single->select.mode == decision::SelectMode::kForm)) {
    return fail(ErrorCode::kUnsupported, "a secret would be written to the decision log",
                "Ask for it with select: url, on a page that stores it");
  }
  const TimestampMs now = clock_.now_ms();
  OpenedDecision opened;
  opened.salt = to_hex(random_.bytes(16));
  opened.fingerprint = fingerprint_of(declaration.source, asking.workspace, asking.session);
  opened.definition = declaration.hash;
  opened.question = question_of(declaration);
  opened.render_hash = sha256_hex(opened.question.text);
  opened.workspace = asking.workspace;
  opened.session = asking.session;
  opened.opened_at = now;
  const bool is_signed = needs_signature(declaration);
  if (is_signed && declaration.flow() && !policy_.strict) mark_safe_steps(*declaration.flow(), opened.question);
  opened.is_gate = asking.is_gate;
  opened.needs_signature = is_signed || policy_.strict || (asking.is_gate && signs_gates(asking.workspace));
  if (single) opened.overruled_word = single->overruled_word;
  opened.operators = operators_.pin();
  opened.source = declaration.source;
  if (single) {
    opened.digest = single->digest;
    opened.on_timeout = single->on_timeout;
    opened.deadline = deadline_of(*single, now);
  }
  SB_ASSERT(opened.on_timeout != OnTimeout::kDefault ||
            (single && declaration.profile.may_default && !single->needs_signature()));
  if (opened.on_timeout == OnTimeout::kDefault && opened.needs_signature) {
    return fail(ErrorCode::kForbidden, "a decision that needs a signature cannot have a default",
                "Remove on_timeout: default, or strict: true from config.yaml");
  }
  return opened;
}

Result<std::optional<DecisionState>> Inbox::find_same_question(store::Transaction& transaction,
                                                               const OpenedDecision& opened) {
  const auto row = SB_TRY(transaction.get(kDecisionsAsked, opened.fingerprint));
  if (!row) return std::nullopt;
  Result<DecisionState> asked = read_settled(transaction, row->value);
  // The row or the decision it points to was tampered with; the new question does not depend on either.
  if (!asked || asked->opened.fingerprint != opened.fingerprint) return std::nullopt;
  return std::move(*asked);
}

bool Inbox::can_join(const DecisionState& asked, const OpenedDecision& opened, std::string_view asker) const {
  if (!is_same_question(asked.opened, opened)) return false;
  if (asked.outcome) {
    // A signed answer approves one action, so it is returned once.
    const bool may_be_repeated = !asker.empty() && asked.consumed_by == asker && !opened.needs_signature;
    if ((asked.is_consumed && !may_be_repeated) || asked.outcome->kind == OutcomeKind::kSuperseded) return false;
    const auto& signature = asked.outcome->signature;
    const TimestampMs given_at = signature ? signature->signed_at : asked.outcome->at;
    if (given_at < opened.opened_at - limits::kAnswerMaxAgeMs) return false;
  }
  if (!opened.needs_signature) return true;
  if (!opened.operators) return !asked.opened.operators;
  return asked.opened.operators && operators_.continues(*asked.opened.operators);
}

Status Inbox::record_operators_in(store::Transaction& transaction) {
  const auto seen = SB_TRY(operators_seen(transaction));
  SB_TRY(check_known(operators_, seen));
  const auto now = operators_.pin();
  if (!now || seen == now) return {};
  const std::vector<NewEvent> events{{"seen", clock_.now_ms(), to_canonical_json(to_value(*now))}};
  const store::Head head = SB_TRY(transaction.head(kOperatorsSeen));
  SB_TRY(transaction.append(kOperatorsSeen, head, events));
  return {};
}

Status Inbox::record_operators() {
  return store_.write([&](store::Transaction& transaction) { return record_operators_in(transaction); });
}

// An unread answer is withdrawn together with its question.
Status Inbox::supersede_in(store::Transaction& transaction, const DecisionState& asked) {
  const bool is_unread = asked.is_answered() && !asked.is_consumed;
  if (!asked.is_open() && !is_unread) return {};
  const Responder program{Channel::kProgram, ""};
  const TimestampMs now = clock_.now_ms();
  std::vector<NewEvent> events;
  if (is_unread) events.push_back(withdrawn_event(program, now));
  events.push_back(closed_event(OutcomeKind::kSuperseded, std::nullopt, program, "", now));
  SB_TRY(append(transaction, asked, std::move(events)));
  return {};
}

Result<DecisionHandle> Inbox::open_in(store::Transaction& transaction, const decision::Declaration& declaration,
                                      const AskContext& asking) {
  const OpenedDecision opened = SB_TRY(make_opened(declaration, asking));
  SB_TRY(make_open_index(transaction));
  if (opened.needs_signature) SB_TRY(record_operators_in(transaction));
  const auto asked = SB_TRY(find_same_question(transaction, opened));
  if (asked && can_join(*asked, opened, asking.asker)) {
    fresh_since_[asked->id] = opened.opened_at - limits::kAnswerMaxAgeMs;
    return DecisionHandle{asked->id, true};
  }
  if (asked) SB_TRY(supersede_in(transaction, *asked));
  const std::string payload = to_canonical_json(to_value(opened));
  const std::string id = instance_id_of(payload);
  const std::vector<NewEvent> events{{"opened", opened.opened_at, payload}};
  SB_TRY(transaction.append(decision_stream(id), {}, events));
  SB_TRY(put_row(transaction, SB_TRY(read_state(transaction, id))));
  SB_TRY(transaction.put(kDecisionsAsked, opened.fingerprint, id));
  return DecisionHandle{id, false};
}

Result<DecisionHandle> Inbox::open(const decision::Declaration& declaration, const AskContext& asking) {
  return store_.write([&](store::Transaction& transaction) { return open_in(transaction, declaration, asking); });
}

Status Inbox::discard_in(store::Transaction& transaction, std::string_view id) {
  return supersede_in(transaction, SB_TRY(read_settled(transaction, id)));
}

Result<DecisionState> Inbox::load_in(store::Transaction& transaction, std::string_view id) {
  return read_settled(transaction, id);
}

Result<NewEvent> Inbox::answered_event(store::Snapshot& snapshot, const DecisionState& state,
                                       const AnswerSubmission& submission) const {
  const AnswerInput given = SB_TRY(check_answer(state.opened.question, submission.given));
  DecisionOutcome outcome;
  outcome.options = given.options;
  outcome.values = given.values;
  outcome.waived = submission.waived;
  outcome.resolved_by = submission.from.channel == Channel::kRelay ? ResolvedBy::kRelayed : submission.resolved_by;
  outcome.channel = submission.from.channel;
  outcome.principal = submission.from.principal;
  outcome.render_hash = submission.render_hash.value_or(state.opened.render_hash);
  outcome.raw = submission.raw;
  outcome.signature = submission.signature;
  std::string signer;
  if (submission.signature) {
    signer = SB_TRY(check(snapshot)(state.id, state.opened, outcome));
    outcome.principal = signer;
  }
  const DecisionFacts facts{needs_signature(state.opened, given), state.opened.operators.has_value(),
                            state.opened.workspace, state.id};
  SB_TRY(may_answer(facts, submission.from, signer, policy_));
  return inbox::answered_event(outcome, clock_.now_ms());
}

Result<std::vector<NewEvent>> Inbox::answer_events(store::Snapshot& snapshot, const DecisionState& state,
                                                   const AnswerSubmission& submission, std::string_view remark) const {
  if (!state.is_open()) return no_longer_open(state);
  SB_TRY(check_remark(remark));
  std::vector<NewEvent> events;
  if (!remark.empty()) events.push_back(free_text_event(remark, submission.from, clock_.now_ms()));
  events.push_back(SB_TRY(answered_event(snapshot, state, submission)));
  return events;
}

Result<DecisionState> Inbox::answer(std::string_view id, const AnswerSubmission& submission, std::string_view remark) {
  auto done = change(id, [&](store::Snapshot& snapshot, const DecisionState& state) {
    return answer_events(snapshot, state, submission, remark);
  });
  if (!done && done.error().code == ErrorCode::kConflict) {
    keep_late(id, late_text(submission, remark), submission.from, submission.raw);
  }
  return done;
}

Result<DecisionState> Inbox::answer_in(store::Transaction& transaction, std::string_view id,
                                       const AnswerSubmission& submission, std::string_view remark) {
  const DecisionState before = SB_TRY(read_settled(transaction, id));
  return append(transaction, before, SB_TRY(answer_events(transaction, before, submission, remark)));
}

Result<DecisionState> Inbox::end(std::string_view id, OutcomeKind ending, const Responder& from, std::string raw) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_open()) return no_longer_open(state);
    const bool is_decided = ending == OutcomeKind::kDeclined;
    const ResolvedBy by = from.channel == Channel::kRelay ? ResolvedBy::kRelayed : ResolvedBy::kHuman;
    return std::vector{closed_event(ending, is_decided ? std::optional(by) : std::nullopt, from, raw, clock_.now_ms())};
  });
}

Result<DecisionState> Inbox::decline(std::string_view id, const Responder& from, std::string raw) {
  auto done = end(id, OutcomeKind::kDeclined, from, raw);
  if (!done && done.error().code == ErrorCode::kConflict) {
    keep_late(id, std::string(to_string(OutcomeKind::kDeclined)), from, raw);
  }
  return done;
}

Result<DecisionState> Inbox::cancel(std::string_view id, const Responder& from) {
  return end(id, OutcomeKind::kCancelled, from, "");
}

Result<DecisionState> Inbox::supersede(std::string_view id) {
  return end(id, OutcomeKind::kSuperseded, {Channel::kProgram, ""}, "");
}

Result<DecisionState> Inbox::park(std::string_view id) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_open()) return no_longer_open(state);
    if (state.state == DecisionStatus::kParked) return std::vector<NewEvent>{};
    return std::vector{NewEvent{"parked", clock_.now_ms(), "{}"}};
  });
}

Result<DecisionState> Inbox::note_free_text(std::string_view id, std::string_view text, const Responder& from) {
  SB_TRY(check_remark(text));
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    // The person who answered may still add a reason until the answer is read.
    const bool is_own = state.outcome && !state.is_consumed && state.outcome->principal == from.principal &&
                        state.outcome->channel == from.channel;
    if (!state.is_open() && !is_own) return no_longer_open(state);
    return std::vector{free_text_event(text, from, clock_.now_ms())};
  });
}

Result<DecisionState> Inbox::note_no_answer(std::string_view id, HostResult result, const Responder& from) {
  SB_ASSERT(result != HostResult::kSelected);
  if (result == HostResult::kDeclined) return decline(id, from, "");
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_open()) return no_longer_open(state);
    return std::vector{no_answer_event(result, from, clock_.now_ms())};
  });
}

Result<DecisionState> Inbox::note_dialog_declined(std::string_view id, const Responder& from) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_open()) return no_longer_open(state);
    return std::vector{no_answer_event(HostResult::kDeclined, from, clock_.now_ms())};
  });
}

Result<DecisionState> Inbox::withdraw(std::string_view id, const Responder& from) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_answered()) return fail(ErrorCode::kInvalid, fmt::format("{} has no answer to withdraw", state.id));
    if (state.is_consumed) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the answer to {} was already read by {}", state.id, state.consumed_by));
    }
    return std::vector{withdrawn_event(from, clock_.now_ms())};
  });
}

Result<DecisionState> Inbox::consume_in(store::Transaction& transaction, std::string_view id, std::string_view by) {
  const DecisionState state = SB_TRY(read_settled(transaction, id));
  if (state.is_open() || state.is_consumed) return state;
  return append(transaction, state, {consumed_event(by, clock_.now_ms())});
}

Result<DecisionState> Inbox::consume(std::string_view id, std::string_view by) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (state.is_open() || state.is_consumed) return std::vector<NewEvent>{};
    return std::vector{consumed_event(by, clock_.now_ms())};
  });
}

}  // namespace sb::inbox
