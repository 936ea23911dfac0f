#include "agent/model/retry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sb::agent {

namespace {

constexpr std::int64_t kStopCheckMs = 100;

class RetryingModel final : public Model {
 public:
  RetryingModel(std::unique_ptr<Model> model, Clock& clock, Random& random, RetryPolicy policy)
      : model_(std::move(model)), clock_(clock), random_(random), policy_(policy) {}

  std::string name() const override { return model_->name(); }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    for (int failed = 1;; ++failed) {
      ModelResult replied = model_->reply(request, on_delta);
      if (replied || !replied.error().is_retryable()) return replied;
      const auto asked = replied.error().retry_after_ms;
      const std::int64_t wait = retry_wait_ms(policy_, failed, asked, chance());
      if (failed >= policy_.tries || asked.value_or(0) > policy_.patience_ms)
        return given_up(std::move(replied), failed);
      if (request.on_retry) request.on_retry(replied.error(), clock_.now_ms() + wait);
      if (!waits(wait, request, on_delta)) {
        return std::unexpected(
            ModelError{ModelError::Kind::kStopped, {ErrorCode::kUnavailable, "Interrupted", {}, {}}});
      }
    }
  }

 private:
  static ModelResult given_up(ModelResult replied, int tries) {
    if (tries > 1) replied.error().error.message += fmt::format(" (tried {} times)", tries);
    return replied;
  }

  bool waits(std::int64_t wait_ms, const ModelRequest& request, const OnDelta& on_delta) {
    for (std::int64_t left = wait_ms;; left -= kStopCheckMs) {
      // First, so that a long silent attempt is not taken for a dead worker.
      if (on_delta && !on_delta("")) return false;
      if (request.should_continue && !request.should_continue()) return false;
      if (left <= 0) return true;
      clock_.sleep_ms(std::min(left, kStopCheckMs));
    }
  }

  double chance() {
    const std::string bytes = random_.bytes(4);
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number / 4'294'967'296.0;
  }

  std::unique_ptr<Model> model_;
  Clock& clock_;
  Random& random_;
  RetryPolicy policy_;
};

}  // namespace

std::int64_t retry_wait_ms(const RetryPolicy& policy, int failed, std::optional<std::int64_t> retry_after_ms,
                           double chance) {
  const double grown =
      static_cast<double>(policy.first_ms) * static_cast<double>(1ull << std::clamp(failed - 1, 0, 40));
  const double most = std::min(grown, static_cast<double>(policy.most_ms));
  // Clients that were rejected at the same moment must not retry at the same moment.
  const double jittered = most / 2 + most / 2 * chance;
  if (!retry_after_ms) return static_cast<std::int64_t>(jittered);
  return *retry_after_ms +
         static_cast<std::int64_t>(std::min(static_cast<double>(*retry_after_ms) / 10, 1'000.0) * chance);
}

std::unique_ptr<Model> make_retrying_model(std::unique_ptr<Model> model, Clock& clock, Random& random,
                                           RetryPolicy policy) {
  return std::make_unique<RetryingModel>(std::move(model), clock, random, policy);
}

}  // namespace sb::agent
