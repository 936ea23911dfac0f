// The only way out of a sandbox: a unix socket outside, mounted into it, behind which this process connects to a list
// of hosts and to nothing else. The forwarder inside (sandbox/inside.hpp) makes it reachable over TCP.
//
// Speaks HTTP proxy: `CONNECT host:port`, and requests for `http://host:port/…`, which are forwarded one per
// connection. What is not on the list gets 403 with the key of the configuration that would allow it. Names are
// resolved here, so the sandbox needs no DNS. One thread accepts and one runs per connection; all have ended when the
// object is destroyed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/seams.hpp"

namespace sb::sandbox {

class Door {
 public:
  // `folder`: where its socket goes; created with mode 0700. `allowed`: host:port, in lower case.
  static Result<std::unique_ptr<Door>> open(const Seams& seams, const std::string& folder,
                                            std::vector<std::string> allowed);
  virtual ~Door() = default;
  virtual const std::string& socket() const = 0;
};

// What a request to the proxy asks for. Pure.
struct ProxyRequest {
  std::string endpoint;   // host:port, in lower case; empty: not understood
  std::string forwarded;  // the request for the server; empty for CONNECT
};
ProxyRequest read_proxy_request(std::string_view head);

}  // namespace sb::sandbox
