// The text that ends a turn, which a person sees, against the rules for asking people (docs/lint.md). One that breaks a
// blocking rule is discarded and asked for again with the same request, so that the model does not learn of it; after
// kMostDiscarded in a row the next one is kept whatever it says, and the log names the rule it breaks. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.hpp"
#include "decision/lint/lint.hpp"

namespace sb::agent {

inline constexpr int kMostDiscarded = decision::kMaxRejectionsInRow;

// The texts of a reply that ends the turn; nothing if it calls a tool, was cut off or refused.
std::optional<std::string> final_text(const ModelReply& reply);

// INT020-SOFT-OFFER, …; empty if the text may be shown.
std::string broken_rule(const std::optional<std::string>& final_text, const std::vector<std::string>& block_offers);

// Whether attempt `attempt` (from 1) at a turn's reply is discarded. Adds to the logged entry what agent_log.hpp says
// about attempts.
bool mark_attempt(const std::string& broken_rule, int attempt, Value& entry);

}  // namespace sb::agent
