// Notifies peers when something a Service shows has changed: its lists, or a resource that a client subscribed to.
//
// One watcher per server: everything watched is checked together (Service::fingerprint, on a worker), about once a
// second and shortly after a call that may have changed something; nothing is checked if nothing is watched.
//
// Threads: all on the loop's thread. Running checks may outlive it safely.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "mcp/service.hpp"
#include "net/scheduler.hpp"
#include "net/workers.hpp"

namespace sb::mcp {

class ChangeWatcher {
 public:
  using Fingerprints = std::map<std::string, std::string, std::less<>>;  // by what they describe
  using OnChange = std::function<void(const std::string& what)>;

  ChangeWatcher(net::Scheduler& scheduler, net::WorkerPool<Service>& workers);
  ~ChangeWatcher();
  ChangeWatcher(const ChangeWatcher&) = delete;

  // Reports changes since the last fingerprint, until the subscription is dropped. `on_change` may drop it.
  using Subscription = std::shared_ptr<void>;
  Subscription add(Fingerprints seen, OnChange on_change);
  void check_soon();

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::mcp
