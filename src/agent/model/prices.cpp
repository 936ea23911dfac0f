#include "agent/model/prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/data.hpp"
#include "base/document/document.hpp"

namespace sb::agent {

namespace {

// Drops the suffix of `claude-x-20250101`, `gpt-x-2025-08-07` and `claude-x-latest`.
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

}  // namespace

bool fill_known_prices(ModelSettings& settings) {
  if (settings.has_prices) return true;
  const auto prices = known_prices(settings.model);
  if (!prices) return false;
  // A dollar per million tokens is a hundred millionths of a cent per token.
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

double cost_in_dollars(std::int64_t micro_cents) {
  return static_cast<double>(micro_cents) / 1e8;
}

std::string dollars(std::int64_t micro_cents) {
  constexpr int kDigits = 4, kMost = 8;  // significant digits; a millionth of a cent has eight decimals
  const double amount = cost_in_dollars(micro_cents);
  if (micro_cents <= 0 || amount >= 1) return fmt::format("${:.2f}", amount);
  const int zeros = -static_cast<int>(std::floor(std::log10(amount))) - 1;
  std::string text = fmt::format("${:.{}f}", amount, std::min(zeros + kDigits, kMost));
  while (text.ends_with('0') && text.size() > std::string_view("$0.00").size()) text.pop_back();
  return text;
}

std::optional<WorkResult> over_budget(const Usage& spent, std::int64_t micro_cents, const WorkLimits& limits) {
  if (limits.tokens > 0 && spent.total() >= limits.tokens) {
    return WorkResult{.state = EndState::kTokenLimit,
                      .reason = fmt::format("{} of {} tokens are used", spent.total(), limits.tokens)};
  }
  if (limits.micro_cents > 0 && micro_cents >= limits.micro_cents) {
    return WorkResult{
        .state = EndState::kMoneyLimit,
        .reason = fmt::format("the session has cost {} of {}", dollars(micro_cents), dollars(limits.micro_cents))};
  }
  return std::nullopt;
}

}  // namespace sb::agent
