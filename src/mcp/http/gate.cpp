#include "mcp/http/gate.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "mcp/http/reply_stream.hpp"

namespace sb::mcp {
namespace {

// Removes the port from `name`, `name:80`, `[::1]:80`; nothing if what follows is not a port.
std::optional<std::string_view> without_port(std::string_view host) {
  const auto bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto colon = host.find(':', bracket);
  if (colon == std::string_view::npos) return host;
  const std::string_view port = host.substr(colon + 1);
  const bool is_port =
      !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? std::optional(host.substr(0, colon)) : std::nullopt;
}

bool is_in_digits(std::string_view name) {
  const auto has_only = [](std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
  };
  if (name.starts_with('[') && name.ends_with(']')) {
    return has_only(name.substr(1, name.size() - 2), "0123456789abcdefABCDEF:.");
  }
  return has_only(name, "0123456789.") && std::ranges::count(name, '.') == 3;
}

std::string bracketed(const std::string& address) {
  const bool is_v6 = address.find(':') != std::string::npos && !address.starts_with('[');
  return to_lower(is_v6 ? "[" + address + "]" : address);
}

}  // namespace

std::optional<std::string> bearer_token(const net::HttpRequest& request) {
  const auto header = request.header("Authorization");
  if (!header || header->size() < 8 || to_lower(header->substr(0, 7)) != "bearer ") return std::nullopt;
  std::string_view token = header->substr(7);
  while (token.starts_with(' ')) token.remove_prefix(1);
  while (token.ends_with(' ')) token.remove_suffix(1);
  return token.empty() ? std::nullopt : std::optional(std::string(token));
}

HttpGate::HttpGate(bool is_loopback, const std::string& address, const std::vector<std::string>& hosts, Bearer bearer,
                   std::string token_advice)
    : is_loopback_(is_loopback), bearer_(std::move(bearer)), token_advice_(std::move(token_advice)) {
  names_.insert(bracketed(address));
  for (const std::string& host : hosts) names_.insert(bracketed(host));
  // Also beyond loopback: a user on this machine uses these names, and no web page can claim them.
  names_.insert({"localhost", "127.0.0.1", "[::1]"});
}

bool HttpGate::is_own_name(std::string_view host_and_port) const {
  const auto name = without_port(host_and_port);
  return name && names_.contains(to_lower(*name));
}

bool HttpGate::is_own_origin(std::string_view origin) const {
  const std::string text = to_lower(origin);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) return is_own_name(std::string_view(text).substr(scheme.size()));
  }
  return false;  // also "null": a sandboxed page or a file
}

std::optional<net::HttpResponse> HttpGate::check_site(const net::HttpRequest& request) const {
  if (request.count("Host") != 1) return refusal(400, "The request needs exactly one Host header");
  const std::string_view host = *request.header("Host");
  const auto name = without_port(host);
  if (!is_own_name(host) && !(!is_loopback_ && name && is_in_digits(*name))) {
    return refusal(403, "Host not allowed; start the server with --host NAME to allow it");
  }
  if (request.count("Origin") > 1) return refusal(400, "The request has multiple Origin headers");
  const auto origin = request.header("Origin");
  if (origin && !is_own_origin(*origin)) return refusal(403, "Origin not allowed");
  return std::nullopt;
}

std::variant<Caller, net::HttpResponse> HttpGate::check_token(const net::HttpRequest& request) const {
  if (!bearer_) return Caller{};
  const std::size_t count = request.count("Authorization");
  if (count > 1) return refusal(400, "The request has multiple Authorization headers");
  const auto token = bearer_token(request);
  auto caller = token ? bearer_(*token) : std::nullopt;
  if (caller) return std::move(*caller);
  const bool is_missing = count == 0;
  std::string message = is_missing ? "A bearer token is required" : "Invalid bearer token";
  if (!token_advice_.empty()) message += ". " + token_advice_;
  return refusal(401, std::move(message),
                 {{"WWW-Authenticate",
                   is_missing ? R"(Bearer realm="signalbox")" : R"(Bearer realm="signalbox", error="invalid_token")"}});
}

net::Headers HttpGate::cors_headers(const net::HttpRequest& request) const {
  const auto origin = request.header("Origin");
  if (!origin) return {};
  return {{"Access-Control-Allow-Origin", std::string(*origin)},
          {"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"},
          {"Vary", "Origin"}};
}

bool HttpGate::is_preflight(const net::HttpRequest& request) const {
  return request.method == "OPTIONS" && request.header("Origin") && request.header("Access-Control-Request-Method");
}

net::HttpResponse HttpGate::preflight_response(const net::HttpRequest& request) const {
  net::Headers headers = cors_headers(request);
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
  headers.emplace_back("Access-Control-Max-Age", "600");
  const auto wanted = request.header("Access-Control-Request-Headers");
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (wanted && std::ranges::all_of(*wanted, is_plain)) {
    headers.emplace_back("Access-Control-Allow-Headers", std::string(*wanted));
  }
  return {.status = 204, .headers = std::move(headers), .body = {}};
}

}  // namespace sb::mcp
