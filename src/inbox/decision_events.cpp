#include "inbox/decision_events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"

namespace sb::inbox {
namespace {

store::NewEvent event(std::string type, TimestampMs at, const Value& payload) {
  return {std::move(type), at, to_canonical_json(payload)};
}

Value from_whom(const Responder& from) {
  return Value::object({{"principal", from.principal}, {"channel", to_string(from.channel)}});
}

// The host's name for the ending it reported.
HostResult host_result_of(OutcomeKind ending) {
  switch (ending) {
    case OutcomeKind::kAnswered:
    case OutcomeKind::kDefaulted:
      return HostResult::kSelected;
    case OutcomeKind::kDeclined:
      return HostResult::kDeclined;
    case OutcomeKind::kCancelled:
    case OutcomeKind::kSuperseded:
      return HostResult::kCancelled;
    case OutcomeKind::kExpired:
      return HostResult::kTimedOut;
  }
  return HostResult::kEmpty;
}

}  // namespace

std::string decision_stream(std::string_view id) {
  return std::string(kDecisionStreams) + std::string(id);
}

store::Row decision_row(const DecisionState& state) {
  const TimestampMs at = state.outcome ? state.outcome->at : state.opened.opened_at;
  return {state.id, fmt::format("{}/{:015}/{}", to_string(state.state), std::max<TimestampMs>(at, 0), state.id),
          to_json(Value::object({{"asked", state.opened.question.id}}))};
}

store::NewEvent answered_event(const DecisionOutcome& outcome, TimestampMs at) {
  Value payload = from_whom({outcome.channel, outcome.principal});
  payload.set("options", Value::array(outcome.options));
  payload.set("values", outcome.values);
  payload.set("resolved_by", to_string(outcome.resolved_by.value_or(ResolvedBy::kHuman)));
  payload.set("render_hash", outcome.render_hash);
  payload.set("raw", to_base64url(outcome.raw));
  payload.set("host_result", to_string(outcome.host_result));
  if (!outcome.waived.is_null()) payload.set("waived", outcome.waived);
  if (outcome.signature) {
    Value signature = Value::object({{"at", outcome.signature->signed_at},
                                     {"key", to_base64url(outcome.signature->public_key)},
                                     {"sig", to_base64url(outcome.signature->signature)}});
    if (!outcome.signature->delegation.empty()) signature.set("delegation", outcome.signature->delegation);
    payload.set("signature", std::move(signature));
  }
  return event("answered", at, payload);
}

store::NewEvent closed_event(OutcomeKind ending, std::optional<ResolvedBy> resolved_by, const Responder& from,
                             std::string_view raw, TimestampMs at) {
  Value payload = from_whom(from);
  payload.set("outcome", to_string(ending));
  payload.set("raw", to_base64url(raw));
  payload.set("host_result", to_string(host_result_of(ending)));
  if (resolved_by) payload.set("resolved_by", to_string(*resolved_by));
  return event("closed", at, payload);
}

store::NewEvent free_text_event(std::string_view text, const Responder& from, TimestampMs at) {
  Value payload = from_whom(from);
  payload.set("text", to_base64url(text));
  return event("free_text", at, payload);
}

store::NewEvent no_answer_event(HostResult result, const Responder& from, TimestampMs at) {
  Value payload = from_whom(from);
  payload.set("host_result", to_string(result));
  return event("no_answer", at, payload);
}

store::NewEvent stepped_event(const Value& position, const Responder& from, std::string_view raw, TimestampMs at) {
  Value payload = from_whom(from);
  payload.set("position", position);
  payload.set("raw", to_base64url(raw));
  return event("stepped", at, payload);
}

store::NewEvent late_event(std::string_view answer, const Responder& from, std::string_view raw, TimestampMs at) {
  Value payload = from_whom(from);
  payload.set("answer", answer);
  payload.set("raw", to_base64url(raw));
  return event("late", at, payload);
}

store::NewEvent withdrawn_event(const Responder& from, TimestampMs at) {
  return event("withdrawn", at, from_whom(from));
}

store::NewEvent consumed_event(std::string_view by, TimestampMs at) {
  return event("taken", at, Value::object({{"by", by}}));
}

}  // namespace sb::inbox
