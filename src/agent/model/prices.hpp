// Prices of known models, the cost of tokens, and budgets. Pure.
//
// Money is counted in millionths of a cent, tokens as providers count them. A model without a price costs nothing here,
// so a budget in money does not limit it.
#pragma once

#include <optional>
#include <string>

#include "agent/loop/worker.hpp"
#include "agent/model/model.hpp"
#include "agent/settings/agent_settings.hpp"

namespace sb::agent {

// Sets the prices from data/prices.yaml if the settings give none; a dated version counts as the model itself. False if
// neither has a price.
bool fill_known_prices(ModelSettings& settings);

std::int64_t cost_of(const ModelSettings& settings, const Usage& usage);  // millionths of a cent
// $18.30; below a dollar with enough digits to differ from zero: $0.42, $0.0123, $0.00001.
std::string dollars(std::int64_t micro_cents);
// The same for programs: 0.0123.
double cost_in_dollars(std::int64_t micro_cents);

// How a session that has spent this must end; nothing: it may continue. The reply that reaches a limit is still used,
// since it is paid for; the next request is not made.
std::optional<WorkResult> over_budget(const Usage& spent, std::int64_t micro_cents, const WorkLimits& limits);

}  // namespace sb::agent
