#include "mcp/peer/change_watch.hpp"

#include <exception>
#include <set>
#include <utility>
#include <vector>

#include "mcp/limits.hpp"

namespace sb::mcp {

struct ChangeWatcher::Parts : std::enable_shared_from_this<ChangeWatcher::Parts> {
  struct Waiting {
    Fingerprints seen;
    OnChange on_change;
  };

  Parts(net::Scheduler& use_scheduler, net::WorkerPool<Service>& use_workers)
      : scheduler(use_scheduler), workers(use_workers) {}

  void plan(std::int64_t delay_ms);
  void check();
  void compare(const Fingerprints& now);
  std::vector<std::shared_ptr<Waiting>> alive();

  net::Scheduler& scheduler;
  net::WorkerPool<Service>& workers;
  std::vector<std::weak_ptr<Waiting>> interests;
  net::Scheduler::Timer timer = 0;
  std::int64_t planned_ms = 0;  // the delay the timer was set with
  bool is_checking = false;
  bool is_wanted_again = false;
};

void ChangeWatcher::Parts::plan(std::int64_t delay_ms) {
  if (timer != 0 && planned_ms <= delay_ms) return;
  scheduler.cancel(timer);
  planned_ms = delay_ms;
  timer = scheduler.after(delay_ms, [weak = weak_from_this()] {
    if (const auto parts = weak.lock()) {
      parts->timer = 0;
      parts->check();
    }
  });
}

std::vector<std::shared_ptr<ChangeWatcher::Parts::Waiting>> ChangeWatcher::Parts::alive() {
  std::vector<std::shared_ptr<Waiting>> found;
  std::erase_if(interests, [&](const std::weak_ptr<Waiting>& weak) {
    auto waiting = weak.lock();
    if (!waiting) return true;
    found.push_back(std::move(waiting));
    return false;
  });
  return found;
}

void ChangeWatcher::Parts::check() {
  std::set<std::string> wanted;
  for (const auto& waiting : alive())
    for (const auto& [what, fingerprint] : waiting->seen) wanted.insert(what);
  if (wanted.empty()) return;
  is_checking = true;
  const auto ask = [self = shared_from_this(), wanted = std::move(wanted)](Service& service) mutable {
    Fingerprints now;
    try {
      for (const std::string& what : wanted) now[what] = service.fingerprint(what);
    } catch (const std::exception&) {  // out of memory: what was not checked counts as unchanged
    }
    net::Scheduler& back = self->scheduler;
    back.post([self = std::move(self), now = std::move(now)] { self->compare(now); });
  };
  if (!workers.run(ask)) compare({});
}

void ChangeWatcher::Parts::compare(const Fingerprints& now) {
  is_checking = false;
  // One by one, since a callback may drop another subscription.
  for (const std::weak_ptr<Waiting>& subscription : std::vector(interests)) {
    const auto waiting = subscription.lock();
    if (!waiting) continue;
    std::vector<std::string> changed;
    for (auto& [what, seen] : waiting->seen) {
      const auto found = now.find(what);
      if (found == now.end() || found->second == seen) continue;
      seen = found->second;
      changed.push_back(what);
    }
    for (const std::string& what : changed) waiting->on_change(what);
  }
  plan(std::exchange(is_wanted_again, false) ? limits::kWatchSoonMs : limits::kWatchMs);
}

ChangeWatcher::ChangeWatcher(net::Scheduler& scheduler, net::WorkerPool<Service>& workers)
    : parts_(std::make_shared<Parts>(scheduler, workers)) {}

ChangeWatcher::~ChangeWatcher() {
  parts_->scheduler.cancel(parts_->timer);
}

ChangeWatcher::Subscription ChangeWatcher::add(Fingerprints seen, OnChange on_change) {
  auto waiting = std::make_shared<Parts::Waiting>(Parts::Waiting{std::move(seen), std::move(on_change)});
  parts_->interests.push_back(waiting);
  if (!parts_->is_checking) parts_->plan(limits::kWatchMs);
  return waiting;
}

void ChangeWatcher::check_soon() {
  if (parts_->is_checking)
    parts_->is_wanted_again = true;
  else if (parts_->timer != 0)
    parts_->plan(limits::kWatchSoonMs);
}

}  // namespace sb::mcp
