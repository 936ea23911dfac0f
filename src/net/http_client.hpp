// Requests to other servers, and their answers, whole or as they come.
//
// Blocking. One request a call; connections are kept for the next one. Redirects are not followed, proxies are taken
// from the environment only for servers that are not loopback, certificates are checked. Headers and URLs with line
// breaks are refused. No key or token is ever part of an error's text.
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
  std::int64_t idle_ms = 120'000;   // without a byte from the other side
  std::int64_t total_ms = 600'000;  // for everything
  std::size_t max_bytes = 64u << 20;
  // Gets the body of a 2xx answer piece by piece, on the caller's thread; false breaks off. Other answers, and all
  // where this is empty, are gathered in ClientResponse::body.
  std::function<bool(std::string_view piece)> on_piece = {};
  // Asked a few times a second; false breaks off.
  std::function<bool()> should_continue = {};
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  std::string body = {};
  std::string_view header(std::string_view lower_name) const;  // the first, or empty
};

// What kept an answer from coming whole; an answer with a bad status is an answer.
struct ClientFailure {
  enum class Kind {
    kRequest,      // the URL or a header is none
    kUnreachable,  // no connection was made: nothing was sent
    kLost,         // the connection ended before the answer was whole: it may have been acted on
    kTimeout,      // as kLost
    kTooLarge,
    kStopped,  // on_piece or should_continue said so
  };
  Kind kind = Kind::kUnreachable;
  Error error;
};
using HttpResult = std::expected<ClientResponse, ClientFailure>;

// Whether it leads to this machine: what is sent there is seen by nobody on the way.
bool is_loopback(std::string_view url);

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual HttpResult send(const ClientRequest& request) = 0;
};

// AttachedBy libcurl, which is loaded with the first request: programs that send none start without it.
std::unique_ptr<HttpClient> make_http_client();

}  // namespace sb::net
