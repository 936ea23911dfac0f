// Asks again where that helps: a provider that cannot be reached, has too much to do, or whose reply was cut. What is
// still an error after the last try goes up; whoever drives the session parks it.
//
// Waits double from try to try, with jitter, and are never shorter than the provider asks for (Retry-After). A provider
// that asks for more than `patience_ms` is not waited for here. It tells on_retry before it waits, and while it does
// it gives signs of life by on_delta("") and asks should_continue. After a cut the text comes again from its beginning.
//
// Threads: as the model it is around.
#pragma once

#include <memory>

#include "agent/model/model.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

namespace sb::agent {

struct RetryPolicy {
  int tries = 5;  // in all
  std::int64_t first_ms = 250, most_ms = 30'000;
  std::int64_t patience_ms = 120'000;  // of one wait
};

// `clock` and `random` outlive it.
std::unique_ptr<Model> make_retrying_model(std::unique_ptr<Model> model, Clock& clock, Random& random,
                                           RetryPolicy policy = {});

// How long to wait after so many failed tries: pure but for `chance`, from 0 to 1.
std::int64_t retry_wait_ms(const RetryPolicy& policy, int failed, std::optional<std::int64_t> retry_after_ms,
                           double chance);

}  // namespace sb::agent
