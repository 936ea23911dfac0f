// What models cost, and who may still spend: prices of known models, what tokens come to, budgets. Pure.
//
// Money is counted in millionths of a cent, tokens as providers count them. A model without a price costs nothing here;
// a budget in money does not hold it.
#pragma once

#include <optional>
#include <string>

#include "agent/loop/worker.hpp"
#include "agent/model/model.hpp"
#include "agent/settings/agent_settings.hpp"

namespace sb::agent {

// Sets the prices that data/prices.yaml has for the model where the settings give none; a dated version counts as the
// model itself. False when neither has any.
bool fill_known_prices(ModelSettings& settings);

std::int64_t cost_of(const ModelSettings& settings, const Usage& usage);  // millionths of a cent
// $18.30; below a dollar with as many digits as it takes to tell it from nothing: $0.42, $0.0123, $0.00001.
std::string dollars(std::int64_t micro_cents);

// The end of a session that has spent this; nothing: it may go on. What uses a limit up is still taken, since it is
// paid for; the next request is not made.
std::optional<WorkResult> over_budget(const Usage& spent, std::int64_t micro_cents, const WorkLimits& limits);

}  // namespace sb::agent
