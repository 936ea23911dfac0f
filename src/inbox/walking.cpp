// Steps of a walk through an open decision (decision/walk), and answers that came too late.
#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"

namespace sb::inbox {
namespace {

using decision::HostAnswer;
using decision::HostAnswerKind;
using decision::WalkTurn;
using store::NewEvent;

constexpr std::size_t kLateTextBytes = 500;
constexpr std::size_t kLateNoteBytes = 200;

// How the host said that nothing was chosen; nothing for anything else.
std::optional<HostResult> no_answer_in(const WalkAnswer& answer) {
  const auto* given = std::get_if<HostAnswer>(&answer.given);
  if (given == nullptr) return std::nullopt;
  switch (given->result) {
    case HostAnswerKind::kDeclined:
      return HostResult::kDeclined;
    case HostAnswerKind::kCancelled:
      return HostResult::kCancelled;
    case HostAnswerKind::kDismissed:
      return HostResult::kDismissed;
    case HostAnswerKind::kSkipped:
      return HostResult::kSkipped;
    case HostAnswerKind::kTimedOut:
      return HostResult::kTimedOut;
    case HostAnswerKind::kEmpty:
    case HostAnswerKind::kOpened:
      return HostResult::kEmpty;
    case HostAnswerKind::kInvalid:
      // What cannot be read at all is no answer; what can is a wrong one.
      return given->reason == "shape" || given->reason == "encoding" ? std::optional(HostResult::kEmpty) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// For an agent: what came after the first answer.
std::string late_note(const DecisionState& state) {
  const auto name_of = [](const std::string& principal, Channel channel) {
    return principal.empty() ? std::string(to_string(channel)) : printable(principal);
  };
  const DecisionOutcome& first = *state.outcome;
  std::string note =
      fmt::format("{} was {} by {} first.", state.id, to_string(first.kind), name_of(first.principal, first.channel));
  for (const LateAnswer& late : state.late) {
    std::string answer = printable(late.answer);
    std::ranges::replace(answer, '\n', ' ');
    note += fmt::format(" After that {} answered \"{}\", which does not count and is kept in the record.",
                        name_of(late.principal, late.channel), shortened(answer, kLateNoteBytes));
  }
  return note + " Tell the person.";
}

}  // namespace

std::string late_text(const WalkAnswer& answer) {
  const auto* given = std::get_if<HostAnswer>(&answer.given);
  std::string text = given == nullptr             ? std::get<std::string>(answer.given)
                     : !given->option_ids.empty() ? fmt::format("{}", fmt::join(given->option_ids, ", "))
                     : !given->text.empty()       ? given->text
                     : given->fields.is_object()  ? to_json(given->fields)
                                                  : std::string(to_string(given->result));
  return shortened(text, kLateTextBytes);
}

std::string late_text(const AnswerSubmission& submission, std::string_view remark) {
  const AnswerInput& given = submission.given;
  std::string text = given.options.empty() ? to_json(given.values) : fmt::format("{}", fmt::join(given.options, ", "));
  if (!remark.empty()) text += fmt::format(" ({})", remark);
  return shortened(text, kLateTextBytes);
}

std::string position_digest(const Value& position) {
  return sha256_hex(to_canonical_json(position)).substr(0, 16);
}

Result<Walked> Inbox::walk(std::string_view id, const decision::Declaration& declaration, int host_cap,
                           const WalkAnswer& answer) {
  auto walked = store_.write([&](store::Transaction& transaction) -> Result<Walked> {
    const DecisionState state = SB_TRY(read_settled(transaction, id));
    if (!state.is_open()) return no_longer_open(state);
    auto walk = SB_TRY(decision::Walk::at(declaration, state.position, host_cap));
    if (answer.shown_at && *answer.shown_at != position_digest(state.position)) {
      return fail(ErrorCode::kConflict, fmt::format("{} was answered elsewhere up to {}", state.id, walk.place()));
    }
    return walk_in(transaction, state, std::move(walk), answer);
  });
  if (!walked && walked.error().code == ErrorCode::kConflict) {
    keep_late(id, late_text(answer), answer.from, answer.raw);
  }
  return walked;
}

Result<Walked> Inbox::walk_in(store::Transaction& transaction, const DecisionState& state, decision::Walk walk,
                              const WalkAnswer& answer) {
  const TimestampMs now = clock_.now_ms();
  const auto consumed = [&](std::vector<NewEvent>& events) {
    if (!answer.reader.empty()) events.push_back(consumed_event(answer.reader, now));
  };
  std::vector<NewEvent> events;
  if (!answer.remark.empty()) events.push_back(free_text_event(answer.remark, answer.from, now));
  WalkTurn turn;
  if (const auto nothing = no_answer_in(answer)) {
    turn.is_same = true;
    if (nothing == HostResult::kDeclined) {
      turn.kind = WalkTurn::Kind::kCancelled;
      events.push_back(closed_event(OutcomeKind::kDeclined, ResolvedBy::kHuman, answer.from, answer.raw, now));
      consumed(events);
    } else {
      events.push_back(no_answer_event(*nothing, answer.from, now));
    }
    return Walked{SB_TRY(append(transaction, state, std::move(events))), std::move(turn)};
  }
  const auto* given = std::get_if<HostAnswer>(&answer.given);
  const Value before = walk.position();
  const bool was_held = walk.is_held();
  turn = given ? walk.answer(*given) : walk.take(std::get<std::string>(answer.given));
  // A word that ends a hold, or the whole question, answers nothing.
  const bool is_choice = !turn.free_text && turn.error.empty() && !was_held;
  if (is_choice) {
    const bool is_signed = turn.kind == WalkTurn::Kind::kAnswered
                               ? needs_signature(state.opened, {turn.options, turn.values})
                               : state.opened.needs_signature;
    const DecisionFacts facts{is_signed, state.opened.operators.has_value(), state.opened.workspace, state.id};
    SB_TRY(may_answer(facts, answer.from, "", policy_));
  }
  if (turn.free_text) events.push_back(free_text_event(*turn.free_text, answer.from, now));
  if (turn.kind == WalkTurn::Kind::kAnswered) {
    const AnswerSubmission submission{.given = {turn.options, turn.values},
                                      .from = answer.from,
                                      .raw = answer.raw,
                                      .waived = turn.waived,
                                      .render_hash = answer.render_hash,
                                      .resolved_by = answer.resolved_by,
                                      .signature = std::nullopt};
    events.push_back(SB_TRY(answered_event(transaction, state, submission)));
    consumed(events);
  } else if (turn.kind == WalkTurn::Kind::kCancelled) {
    events.push_back(closed_event(OutcomeKind::kCancelled, std::nullopt, answer.from, answer.raw, now));
    consumed(events);
  } else if (const Value after = walk.position(); after != before) {
    events.push_back(stepped_event(after, answer.from, answer.raw, now));
  }
  if (events.empty()) return Walked{state, std::move(turn)};
  return Walked{SB_TRY(append(transaction, state, std::move(events))), std::move(turn)};
}

Result<DecisionState> Inbox::store_position(std::string_view id, const Value& from_position, const Value& position,
                                            const Responder& from, std::string_view raw) {
  return change(id, [&](store::Snapshot&, const DecisionState& state) -> Result<std::vector<NewEvent>> {
    if (!state.is_open()) return no_longer_open(state);
    if (position_digest(state.position) != position_digest(from_position)) {
      return fail(ErrorCode::kConflict, fmt::format("{} was answered elsewhere meanwhile", state.id));
    }
    return std::vector{stepped_event(position, from, raw, clock_.now_ms())};
  });
}

// Best effort: the second person sees the first answer either way.
void Inbox::keep_late(std::string_view id, std::string answer, const Responder& from, std::string_view raw,
                      bool is_reported) {
  (void)store_.write([&](store::Transaction& transaction) -> Status {
    const DecisionState state = SB_TRY(read_state(transaction, id));
    if (!state.outcome) return {};
    const DecisionOutcome& first = *state.outcome;
    // The same answer, delivered twice.
    if (first.raw == raw && first.principal == from.principal && first.channel == from.channel) return {};
    if (state.late.size() >= static_cast<std::size_t>(limits::kLateAnswers)) return {};
    SB_TRY(append(transaction, state, {late_event(answer, from, raw, clock_.now_ms())}));
    const OpenedDecision& opened = state.opened;
    const std::string& where = opened.session.empty() ? opened.workspace : opened.session;
    if (where.empty() || is_reported) return {};
    const auto row = SB_TRY(transaction.get(kLateReports, where));
    std::string ids = row ? row->value : std::string();
    if (ids.contains(state.id)) return {};
    const bool is_full = ids.size() > static_cast<std::size_t>(limits::kLateAnswers) * state.id.size();
    ids = ids.empty() || is_full ? state.id : fmt::format("{} {}", ids, state.id);
    return transaction.put(kLateReports, where, ids);
  });
}

Result<std::string> Inbox::late_answers(std::string_view session_or_workspace) {
  const auto row =
      SB_TRY(store_.read([&](store::Snapshot& snapshot) { return snapshot.get(kLateReports, session_or_workspace); }));
  std::string notes;
  for (std::string_view ids = row ? std::string_view(row->value) : std::string_view(); !ids.empty();) {
    const std::size_t end = std::min(ids.find(' '), ids.size());
    const auto state = load(ids.substr(0, end));
    if (state && state->outcome) notes += fmt::format("{}{}", notes.empty() ? "" : "\n", late_note(*state));
    ids.remove_prefix(std::min(end + 1, ids.size()));
  }
  return notes;
}

Result<std::string> Inbox::take_late_answers(std::string_view session_or_workspace) {
  std::string notes = SB_TRY(late_answers(session_or_workspace));
  if (notes.empty()) return notes;
  SB_TRY(store_.write(
      [&](store::Transaction& transaction) { return transaction.remove(kLateReports, session_or_workspace); }));
  return notes;
}

}  // namespace sb::inbox
