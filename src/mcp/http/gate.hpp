// Access control, before anything else is looked at. Pure.
//
// A web page in a browser can reach a server on loopback under its own name (DNS rebinding), but it cannot send another
// Host or hide its Origin. So the Host must be a name of this server, on any port (ports may be forwarded), and the
// Origin, if there is one, must have such a name too. Beyond loopback the Host may be any numeric address, which no DNS
// name can imitate: a server bound to all addresses of a machine cannot list them.
//
// Every client needs a token, on loopback too: an agent in a sandbox can connect there, but cannot read tokens.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "mcp/call.hpp"
#include "net/http_listener.hpp"

namespace sb::mcp {

// The token of `Authorization: Bearer …`; nothing if there is none or the scheme is different.
std::optional<std::string> bearer_token(const net::HttpRequest& request);

class HttpGate {
 public:
  using Bearer = std::function<std::optional<Caller>(std::string_view token)>;
  // Without `bearer`, anyone may call (a server for tests).
  HttpGate(bool is_loopback, const std::string& address, const std::vector<std::string>& hosts, Bearer bearer,
           std::string token_advice = {});

  // An error response, or nothing.
  std::optional<net::HttpResponse> check_site(const net::HttpRequest& request) const;
  // Who calls, or an error response.
  std::variant<Caller, net::HttpResponse> check_token(const net::HttpRequest& request) const;
  // For responses to a page of an allowed origin, whose request has passed check_site().
  net::Headers cors_headers(const net::HttpRequest& request) const;
  bool is_preflight(const net::HttpRequest& request) const;
  net::HttpResponse preflight_response(const net::HttpRequest& request) const;

 private:
  bool is_own_name(std::string_view host_and_port) const;
  bool is_own_origin(std::string_view origin) const;

  const bool is_loopback_;
  std::set<std::string, std::less<>> names_;
  Bearer bearer_;
  const std::string token_advice_;
};

}  // namespace sb::mcp
