#include "agent/model/prices.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "agent/model/retry.hpp"
#include "base/testing/fakes.hpp"

namespace sb::agent {
namespace {

using Kind = ModelError::Kind;

// Returns the given replies in order.
class CannedModel final : public Model {
 public:
  explicit CannedModel(std::deque<ModelResult> replies) : replies_(std::move(replies)) {}
  std::string name() const override { return "parrot/x"; }
  ModelResult reply(const ModelRequest&, const OnDelta&) override {
    ++asked;
    ModelResult next = replies_.front();
    if (replies_.size() > 1) replies_.pop_front();
    return next;
  }
  int asked = 0;

 private:
  std::deque<ModelResult> replies_;
};

ModelResult failed(Kind kind, std::optional<std::int64_t> retry_after_ms = {}) {
  return std::unexpected(ModelError{kind, {ErrorCode::kUnavailable, "busy", {}, {}}, retry_after_ms});
}
ModelResult said() {
  return ModelReply{};
}

TEST(PricesTest, KnowsModelsAndTheirDatedVersions) {
  const auto prices = [](const std::string& model) {
    ModelSettings settings;
    settings.model = model;
    const bool is_known = fill_known_prices(settings);
    EXPECT_EQ(is_known, settings.has_prices);
    return std::vector<std::int64_t>{settings.input_price, settings.output_price, settings.cache_read_price,
                                     settings.cache_write_price};
  };
  EXPECT_EQ(prices("claude-sonnet-4-5"), (std::vector<std::int64_t>{300, 1'500, 30, 375}));
  EXPECT_EQ(prices("claude-sonnet-4-5-20250929"), prices("claude-sonnet-4-5"));
  EXPECT_EQ(prices("gpt-5-2025-08-07"), (std::vector<std::int64_t>{125, 1'000, 13, 125}));
  EXPECT_EQ(prices("claude-3-7-sonnet-latest"), prices("claude-3-7-sonnet"));
  for (const char* unknown : {"claude-opus-4-9", "gpt-5-ultra", "gpt-5.9", "qwen", "", "gpt-"}) {
    EXPECT_EQ(prices(unknown), (std::vector<std::int64_t>{0, 0, 0, 0})) << unknown;
  }
}

TEST(PricesTest, KeepsPricesFromTheSettings) {
  ModelSettings settings;
  settings.model = "gpt-5";
  settings.has_prices = true;
  settings.input_price = 1;
  EXPECT_TRUE(fill_known_prices(settings));
  EXPECT_EQ(settings.input_price, 1);
}

TEST(PricesTest, CountsTheCostOfTokens) {
  ModelSettings settings;
  settings.model = "claude-sonnet-4-5";
  fill_known_prices(settings);
  const std::int64_t cost = cost_of(settings, {.input = 1'000'000, .output = 1'000'000, .cache_read = 1'000'000});
  EXPECT_EQ(cost, 1'830'000'000);
  EXPECT_EQ(dollars(cost), "$18.30");
  EXPECT_EQ(dollars(cost_of(settings, {.input = 100, .output = 20})), "$0.0006");
}

TEST(PricesTest, ShowsSmallSumsWithEnoughDigits) {
  EXPECT_EQ(dollars(0), "$0.00");
  EXPECT_EQ(dollars(1), "$0.00000001");
  EXPECT_EQ(dollars(100'000), "$0.001");
  EXPECT_EQ(dollars(1'234'567), "$0.01235");
  EXPECT_EQ(dollars(42'000'000), "$0.42");
  EXPECT_EQ(dollars(50'000'000), "$0.50");
  EXPECT_EQ(dollars(99'999'999), "$1.00");
  EXPECT_EQ(dollars(100'000'000), "$1.00");
}

TEST(BudgetTest, EndsExactlyAtTheLimit) {
  const WorkLimits tokens{.tokens = 100}, money{.micro_cents = 100'000};
  EXPECT_FALSE(over_budget({.output = 99}, 1'000'000, tokens));
  EXPECT_EQ(over_budget({.output = 100}, 0, tokens)->state, EndState::kTokenLimit);
  EXPECT_EQ(over_budget({.input = 60, .cache_read = 40}, 0, tokens)->reason, "100 of 100 tokens are used");
  EXPECT_FALSE(over_budget({.output = 1'000}, 99'999, money));
  EXPECT_EQ(over_budget({}, 100'000, money)->state, EndState::kMoneyLimit);
  EXPECT_EQ(over_budget({}, 123'400, money)->reason, "the session has cost $0.001234 of $0.001");
  EXPECT_FALSE(over_budget({.output = 1'000'000}, 1'000'000'000, {}));
}

class RetryingTest : public testing::Test {
 protected:
  Model* retrying(std::deque<ModelResult> replies, RetryPolicy policy = {}) {
    auto made = std::make_unique<CannedModel>(std::move(replies));
    parrot = made.get();
    model = make_retrying_model(std::move(made), clock, random, policy);
    return model.get();
  }
  std::int64_t waited() { return clock.now_ms() - start; }

  FakeClock clock;
  FakeRandom random;
  std::int64_t start = clock.now_ms();
  std::unique_ptr<Model> model;
  CannedModel* parrot = nullptr;
};

TEST_F(RetryingTest, RetriesTemporaryErrors) {
  for (const Kind kind : {Kind::kUnreachable, Kind::kRateLimited, Kind::kOverloaded, Kind::kTruncated}) {
    EXPECT_TRUE(retrying({failed(kind), failed(kind), said()})->reply({}, {}));
    EXPECT_EQ(parrot->asked, 3);
  }
}

TEST_F(RetryingTest, DoesNotRetryPermanentErrors) {
  for (const Kind kind : {Kind::kAuth, Kind::kRequest, Kind::kContextTooLong, Kind::kMalformed, Kind::kTooLarge,
                          Kind::kBudget, Kind::kScript, Kind::kDiverged, Kind::kStopped}) {
    const ModelResult replied = retrying({failed(kind), said()})->reply({}, {});
    ASSERT_FALSE(replied);
    EXPECT_EQ(replied.error().kind, kind);
    EXPECT_EQ(replied.error().error.message, "busy");
    EXPECT_EQ(parrot->asked, 1);
  }
  EXPECT_EQ(waited(), 0);
}

TEST_F(RetryingTest, ReturnsTheErrorAfterTheLastAttempt) {
  const ModelResult replied = retrying({failed(Kind::kOverloaded)}, {.tries = 3})->reply({}, {});
  ASSERT_FALSE(replied);
  EXPECT_EQ(replied.error().kind, Kind::kOverloaded);
  EXPECT_EQ(replied.error().error.message, "busy (tried 3 times)");
  EXPECT_EQ(parrot->asked, 3);
}

TEST_F(RetryingTest, WaitsAtLeastAsLongAsTheProviderAsks) {
  EXPECT_TRUE(retrying({failed(Kind::kRateLimited, 90'000), said()})->reply({}, {}));
  EXPECT_GE(waited(), 90'000);
  EXPECT_LE(waited(), 91'000);
}

TEST_F(RetryingTest, DoesNotWaitWhenTheProviderAsksForTooLong) {
  const ModelResult replied = retrying({failed(Kind::kRateLimited, 120'001), said()})->reply({}, {});
  ASSERT_FALSE(replied);
  EXPECT_EQ(replied.error().retry_after_ms, 120'001);
  EXPECT_EQ(waited(), 0);
}

TEST_F(RetryingTest, ReportsProgressWhileWaitingAndCanBeInterrupted) {
  int signs = 0;
  EXPECT_TRUE(
      retrying({failed(Kind::kTruncated), said()})->reply({}, [&](auto text) { return ++signs, text.empty(); }));
  EXPECT_GE(signs, 2);
  const ModelResult stopped = retrying({failed(Kind::kTruncated), said()})->reply({}, [](auto) { return false; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, Kind::kStopped);
  EXPECT_EQ(parrot->asked, 1);
  ModelRequest request;
  int looks = 0;
  request.should_continue = [&] { return ++looks < 3; };
  EXPECT_EQ(retrying({failed(Kind::kTruncated), said()})->reply(request, {}).error().kind, Kind::kStopped);
}

TEST_F(RetryingTest, WaitsLongerAfterEachAttemptUpToALimit) {
  const RetryPolicy policy{.tries = 100, .first_ms = 1'000, .most_ms = 30'000};
  EXPECT_EQ(retry_wait_ms(policy, 1, {}, 0), 500);
  EXPECT_EQ(retry_wait_ms(policy, 1, {}, 1), 1'000);
  EXPECT_EQ(retry_wait_ms(policy, 3, {}, 1), 4'000);
  EXPECT_EQ(retry_wait_ms(policy, 99, {}, 1), 30'000);
  EXPECT_EQ(retry_wait_ms(policy, 1, 5'000, 0), 5'000);
  EXPECT_EQ(retry_wait_ms(policy, 1, 5'000, 1), 5'500);
  EXPECT_EQ(retry_wait_ms(policy, 4, 0, 1), 0);
}

}  // namespace
}  // namespace sb::agent
