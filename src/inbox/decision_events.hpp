// Builds the events whose formats are in decision_state.hpp, and names the projections of inbox.hpp.
#pragma once

#include "inbox/decision_state.hpp"
#include "inbox/operators/authority.hpp"

namespace sb::inbox {

inline constexpr std::string_view kDecisions = "decisions";
inline constexpr std::string_view kOpenDecisions = "decisions-open";
inline constexpr std::string_view kDecisionsAsked = "decisions-asked";
inline constexpr std::string_view kOperatorsSeen = "operators";
inline constexpr std::string_view kPrompts = "prompts";
inline constexpr std::string_view kCounters = "counters";

store::NewEvent answered_event(const DecisionOutcome& outcome, TimestampMs at);
store::NewEvent closed_event(OutcomeKind ending, std::optional<ResolvedBy> resolved_by, const Responder& from,
                             std::string_view raw, TimestampMs at);
store::NewEvent free_text_event(std::string_view text, const Responder& from, TimestampMs at);
store::NewEvent no_answer_event(HostResult result, const Responder& from, TimestampMs at);
store::NewEvent replied_event(const PromptReply& reply, TimestampMs at);
store::NewEvent withdrawn_event(const Responder& from, TimestampMs at);
store::NewEvent consumed_event(std::string_view by, TimestampMs at);

}  // namespace sb::inbox
