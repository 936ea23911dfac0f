#include "agent/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/data.hpp"
#include "base/document.hpp"

namespace sb::agent {

namespace {

// `claude-x-20250101`, `gpt-x-2025-08-07` and `claude-x-latest` are what they are without that.
bool is_version_of(std::string_view model, std::string_view known) {
  if (!model.starts_with(known)) return false;
  const std::string_view rest = model.substr(known.size());
  if (rest.empty() || rest == "-latest") return true;
  const bool is_date = std::ranges::all_of(rest, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  return is_date && rest.starts_with('-') && rest.size() >= 9;
}

std::optional<Value> known_prices(std::string_view model) {
  const auto table = parse_json(data_file("prices.yaml"));
  if (!table) return std::nullopt;
  for (const auto& [name, prices] : (*table)["models"].members()) {
    if (is_version_of(model, name)) return prices;
  }
  return std::nullopt;
}

class Budgeted final : public Model {
 public:
  Budgeted(std::unique_ptr<Model> model, const ModelSettings& settings, std::shared_ptr<Ledger> ledger)
      : model_(std::move(model)), settings_(settings), ledger_(std::move(ledger)) {}

  std::string name() const override { return model_->name(); }

  Replied reply(const ModelRequest& request, const OnDelta& on_delta) override {
    if (auto error = ledger_->over_budget()) return std::unexpected(std::move(*error));
    Replied replied = model_->reply(request, on_delta);
    if (replied) ledger_->add(replied->usage, cost_of(settings_, replied->usage));
    return replied;
  }

 private:
  std::unique_ptr<Model> model_;
  ModelSettings settings_;
  std::shared_ptr<Ledger> ledger_;
};

ModelError used_up(std::string message, std::string_view rule) {
  ModelError error{ModelError::Kind::kBudget, {ErrorCode::kLimit, std::move(message), {}, {}}};
  error.error.rule = rule;
  return error;
}

}  // namespace

bool fill_known_prices(ModelSettings& settings) {
  if (settings.has_prices) return true;
  const auto prices = known_prices(settings.model);
  if (!prices) return false;
  // A dollar for a million tokens is a hundred millionths of a cent for each.
  const auto price = [&](std::string_view name) {
    const Value* dollars_each = prices->find(name);
    return dollars_each && dollars_each->is_number() ? std::llround(dollars_each->as_number() * 100)
                                                     : settings.input_price;
  };
  settings.input_price = price("input");
  settings.output_price = price("output");
  settings.cache_read_price = price("cache_read");
  settings.cache_write_price = price("cache_write");
  settings.has_prices = true;
  return true;
}

std::int64_t cost_of(const ModelSettings& settings, const Usage& usage) {
  return usage.input * settings.input_price + usage.output * settings.output_price +
         usage.cache_read * settings.cache_read_price + usage.cache_write * settings.cache_write_price;
}

std::string dollars(std::int64_t micro_cents) {
  const double amount = static_cast<double>(micro_cents) / 1e8;
  return amount < 1 ? fmt::format("${:.4f}", amount) : fmt::format("${:.2f}", amount);
}

std::optional<ModelError> over_budget(const Spent& spent, const Budget& budget) {
  if (budget.tokens > 0 && spent.usage.total() >= budget.tokens) {
    return used_up(fmt::format("The budget of {} tokens is used up ({} were used)", budget.tokens, spent.usage.total()),
                   "tokens");
  }
  if (budget.micro_cents > 0 && spent.micro_cents >= budget.micro_cents) {
    return used_up(fmt::format("The budget of {} is used up ({} were spent)", dollars(budget.micro_cents),
                               dollars(spent.micro_cents)),
                   "money");
  }
  return std::nullopt;
}

void Ledger::add(const Usage& usage, std::int64_t micro_cents) {
  const std::scoped_lock lock(mutex_);
  spent_.usage += usage;
  spent_.micro_cents += micro_cents;
}

Spent Ledger::spent() const {
  const std::scoped_lock lock(mutex_);
  return spent_;
}

std::optional<ModelError> Ledger::over_budget() const {
  const std::scoped_lock lock(mutex_);
  return agent::over_budget(spent_, budget_);
}

std::unique_ptr<Model> make_budgeted(std::unique_ptr<Model> model, const ModelSettings& settings,
                                     std::shared_ptr<Ledger> ledger) {
  return std::make_unique<Budgeted>(std::move(model), settings, std::move(ledger));
}

}  // namespace sb::agent
