#include "mcp/http/http_server.hpp"

#include <fmt/format.h>

#include "mcp/http/endpoint.hpp"
#include "mcp/http/gate.hpp"
#include "mcp/limits.hpp"

namespace sb::mcp {

struct HttpServer::Parts : std::enable_shared_from_this<Parts> {
  Parts(net::EventLoop& loop, ServerParts given, HttpOptions wanted)
      : server(std::move(given)),
        options(std::move(wanted)),
        states(Seal(server.seal_key), server.clock, server.random, server.is_first_use),
        workers(
            std::make_unique<net::WorkerPool<Service>>(server.make_service, limits::kWorkers, limits::kWaitingCalls)),
        watch(loop, *workers),
        shared{server.facts, loop, *workers, states, server.random, server.clock, watch},
        listener(loop, {.address = options.address, .port = options.port},
                 [this](net::HttpRequest request, net::ExchangePtr exchange) {
                   handle(std::move(request), std::move(exchange));
                 }) {}
  // Declared last: running work uses the members above.
  ~Parts() { workers.reset(); }

  Status open();
  void handle(net::HttpRequest request, net::ExchangePtr exchange);

  ServerParts server;
  HttpOptions options;
  RequestStates states;
  std::unique_ptr<net::WorkerPool<Service>> workers;
  ChangeWatcher watch;
  PeerShared shared;
  std::optional<HttpGate> gate;
  std::optional<HttpEndpoint> endpoint;
  net::HttpListener listener;
  bool has_work = false;
};

Status HttpServer::Parts::open() {
  if (!listener.is_loopback() && !options.bearer) {
    return fail(ErrorCode::kForbidden,
                fmt::format("{} is not a loopback address, and no tokens are configured", options.address));
  }
  SB_TRY(listener.open());
  gate.emplace(listener.is_loopback(), options.address, options.hosts, options.bearer, options.token_advice);
  endpoint.emplace(shared, Seal(server.seal_key), param_headers_of(server.make_service()->tools()));
  return {};
}

void HttpServer::Parts::handle(net::HttpRequest request, net::ExchangePtr exchange) {
  if (auto refused = gate->check_site(request)) return exchange->respond(std::move(*refused));
  if (gate->is_preflight(request)) return exchange->respond(gate->preflight_response(request));
  net::Headers headers = gate->cors_headers(request);
  if (request.path == "/healthz" && (request.method == "GET" || request.method == "HEAD")) {
    const Value body = Value::object({{"name", server.facts.info["name"]}, {"version", server.facts.info["version"]}});
    return exchange->respond(json_response(200, body, std::move(headers)));
  }
  if (request.path != options.path) {
    if (options.fallback) return options.fallback(std::move(request), std::move(exchange));
    return exchange->respond(refusal(404, "Not found", std::move(headers)));
  }
  auto caller = gate->check_token(request);
  if (auto* refused = std::get_if<net::HttpResponse>(&caller)) {
    refused->headers.insert(refused->headers.end(), headers.begin(), headers.end());
    return exchange->respond(std::move(*refused));
  }
  endpoint->handle(std::move(request), std::move(exchange), std::get<Caller>(caller), std::move(headers));
}

HttpServer::HttpServer(net::EventLoop& loop, ServerParts parts, HttpOptions options)
    : parts_(std::make_shared<Parts>(loop, std::move(parts), std::move(options))) {}

HttpServer::~HttpServer() = default;

Status HttpServer::open() {
  return parts_->open();
}

int HttpServer::port() const {
  return parts_->listener.port();
}

void HttpServer::close(std::function<void()> done) {
  if (!parts_->endpoint) return done();
  parts_->endpoint->end_of_input();
  parts_->listener.close(limits::kCloseWaitMs, [weak = std::weak_ptr(parts_), done = std::move(done)] {
    if (const auto parts = weak.lock()) {
      parts->has_work = parts->endpoint->has_work();
      parts->endpoint->close();
    }
    done();
  });
}

bool HttpServer::has_work() const {
  return parts_->has_work;
}

}  // namespace sb::mcp
