// Builds the events whose formats are in decision_state.hpp, and names the projections of inbox.hpp.
#pragma once

#include "inbox/inbox.hpp"

namespace sb::inbox {

inline constexpr std::string_view kDecisions = "decisions";
inline constexpr std::string_view kOpenDecisions = "decisions-open";
inline constexpr std::string_view kDecisionsAsked = "decisions-asked";
inline constexpr std::string_view kOperatorsSeen = "operators";
inline constexpr std::string_view kPrompts = "prompts";
inline constexpr std::string_view kLateReports = "late-answers";
inline constexpr std::string_view kCounters = "counters";

std::string decision_stream(std::string_view id);
// The row of `decisions`; the order of the sort keys is that of the times.
store::Row decision_row(const DecisionState& state);

store::NewEvent answered_event(const DecisionOutcome& outcome, TimestampMs at);
store::NewEvent closed_event(OutcomeKind ending, std::optional<ResolvedBy> resolved_by, const Responder& from,
                             std::string_view raw, TimestampMs at);
store::NewEvent free_text_event(std::string_view text, const Responder& from, TimestampMs at);
store::NewEvent no_answer_event(HostResult result, const Responder& from, TimestampMs at);
store::NewEvent stepped_event(const Value& position, const Responder& from, std::string_view raw, TimestampMs at);
store::NewEvent late_event(std::string_view answer, const Responder& from, std::string_view raw, TimestampMs at);
store::NewEvent withdrawn_event(const Responder& from, TimestampMs at);
store::NewEvent consumed_event(std::string_view by, TimestampMs at);

// No prompt of the decision waits any more.
Status unlist_prompts(store::Transaction& transaction, std::string_view decision);

// kConflict: it is closed, by whom and how.
std::unexpected<Error> no_longer_open(const DecisionState& state);
// What an answer said, for the record of late ones.
std::string late_text(const WalkAnswer& answer);
std::string late_text(const AnswerSubmission& submission, std::string_view remark);

}  // namespace sb::inbox
