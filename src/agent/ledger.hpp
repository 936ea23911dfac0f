// What models cost, and who may still spend: prices of known models, the sum of what was spent, budgets.
//
// Money is counted in millionths of a cent, tokens as providers count them. A model without a price costs nothing here;
// a budget in money does not hold it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "agent/model.hpp"
#include "agent/settings.hpp"

namespace sb::agent {

// Sets the prices that data/prices.yaml has for the model where the settings give none; a dated version counts as the
// model itself. False when neither has any.
bool fill_known_prices(ModelSettings& settings);

std::int64_t cost_of(const ModelSettings& settings, const Usage& usage);  // millionths of a cent
std::string dollars(std::int64_t micro_cents);  // $0.0123; four digits below a dollar, else two

struct Spent {
  Usage usage = {};
  std::int64_t micro_cents = 0;
};
struct Budget {
  std::int64_t tokens = 0, micro_cents = 0;  // 0: no limit
};
// kBudget when it is used up; the error's rule is `tokens` or `money`.
std::optional<ModelError> over_budget(const Spent& spent, const Budget& budget);

// The sum of one run or session, begun anew from its log after a restart. Thread-safe.
class Ledger {
 public:
  explicit Ledger(Budget budget = {}, Spent spent = {}) : budget_(budget), spent_(spent) {}
  void add(const Usage& usage, std::int64_t micro_cents);
  Spent spent() const;
  std::optional<ModelError> over_budget() const;

 private:
  mutable std::mutex mutex_;
  Budget budget_;
  Spent spent_;
};

// Asks only while there is something left, and enters what every reply cost. The reply that uses the budget up is still
// given out, since it is paid for; the next request is refused.
std::unique_ptr<Model> make_budgeted(std::unique_ptr<Model> model, const ModelSettings& settings,
                                     std::shared_ptr<Ledger> ledger);

}  // namespace sb::agent
