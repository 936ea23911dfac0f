// HTTP requests to other servers. Responses are returned whole or streamed.
//
// Blocking. One request per call; connections are kept for later requests. Does not follow redirects, uses proxies from
// the environment only for hosts that are not loopback, verifies certificates. Rejects headers and URLs with line
// breaks. Error texts never contain a key or token.
//
// Threads: send() from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sb::net {

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::int64_t connect_ms = 10'000;
  std::int64_t idle_ms = 120'000;   // longest time without a byte from the server
  std::int64_t total_ms = 600'000;  // for the whole request
  std::size_t max_bytes = 64u << 20;
  // Called with each piece of the body of a 2xx response, on the caller's thread; returning false aborts. Other
  // responses, and all responses if this is empty, are collected in ClientResponse::body.
  std::function<bool(std::string_view piece)> on_piece = {};
  // Called a few times a second; returning false aborts.
  std::function<bool()> should_continue = {};
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  std::string body = {};
  std::string_view header(std::string_view lower_name) const;  // the first with that name, or empty
};

// Why there is no complete response; a response with an error status is still a response.
struct ClientFailure {
  enum class Kind {
    kRequest,      // invalid URL or header
    kUnreachable,  // no connection: nothing was sent
    kLost,         // the connection ended before the response was complete: the server may have acted on it
    kTimeout,      // like kLost
    kTooLarge,
    kStopped,  // on_piece or should_continue returned false
  };
  Kind kind = Kind::kUnreachable;
  Error error;
};
using HttpResult = std::expected<ClientResponse, ClientFailure>;

// Whether the URL names this machine: what is sent there cannot be seen on the network.
bool is_loopback(std::string_view url);

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual HttpResult send(const ClientRequest& request) = 0;
};

// Uses libcurl, which is loaded with the first request: programs that send none start without it.
std::unique_ptr<HttpClient> make_http_client();

}  // namespace sb::net
