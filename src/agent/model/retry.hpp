// Retries where that can help: a provider that is unreachable or overloaded, or whose reply was truncated. The error of
// the last attempt is returned; the driver of the session parks it.
//
// Waits double with each attempt, with jitter, and are never shorter than the provider asks for (Retry-After). A
// provider that asks for more than `patience_ms` is not waited for here. It calls on_retry before it waits, and
// on_delta("") and should_continue while it waits. After a truncated reply the text is sent again from the start.
//
// Threads: as the wrapped model.
#pragma once

#include <memory>

#include "agent/model/model.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

namespace sb::agent {

struct RetryPolicy {
  int tries = 5;  // in total
  std::int64_t first_ms = 250, most_ms = 30'000;
  std::int64_t patience_ms = 120'000;  // of one wait
};

// `clock` and `random` must outlive it.
std::unique_ptr<Model> make_retrying_model(std::unique_ptr<Model> model, Clock& clock, Random& random,
                                           RetryPolicy policy = {});

// How long to wait after this many failed attempts. Pure; `chance` is a random number from 0 to 1.
std::int64_t retry_wait_ms(const RetryPolicy& policy, int failed, std::optional<std::int64_t> retry_after_ms,
                           double chance);

}  // namespace sb::agent
