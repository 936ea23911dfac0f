// Tells peers when something a Service shows has changed: its lists, a resource somebody subscribed to.
//
// One watch for a whole server: all that anybody waits for is asked after in one go (Service::fingerprint, on a
// worker), about once a second and shortly after a call that may have changed something; nothing while nobody waits.
//
// Threads: all on the loop's thread. Work under way outlives it safely.
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
  using Fingerprints = std::map<std::string, std::string, std::less<>>;  // by what they are of
  using OnChange = std::function<void(const std::string& what)>;

  ChangeWatcher(net::Scheduler& scheduler, net::WorkerPool<Service>& workers);
  ~ChangeWatcher();
  ChangeWatcher(const ChangeWatcher&) = delete;

  // From what was seen last on, until the interest is dropped. `told` may drop it.
  using Subscription = std::shared_ptr<void>;
  Subscription add(Fingerprints seen, OnChange on_change);
  void check_soon();

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::mcp
