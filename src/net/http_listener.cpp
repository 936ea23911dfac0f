#include "net/http_listener.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/http_connection.hpp"

namespace sb::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kAcceptsAtOnce = 64;            // per turn of the loop
constexpr std::size_t kTurnedAway = 64;       // connections that get a 503 at the same time; more are just closed
constexpr std::int64_t kAcceptPauseMs = 200;  // when out of descriptors
constexpr std::size_t kOtherFiles = 256;      // descriptors for everything but connections

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Raises the descriptor limit for the promised number of connections, as far as the system allows.
void raise_file_limit(std::size_t connections) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(connections + kOtherFiles, limit.rlim_max);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

asio::ip::address plain(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

Result<tcp::endpoint> endpoint_of(const HttpSettings& settings) {
  std::string_view text = settings.address;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  error_code error;
  const auto address = asio::ip::make_address(std::string(text), error);
  if (error) {
    return fail(ErrorCode::kInvalid, fmt::format("invalid address \"{}\"", settings.address),
                "Use an IP address such as 127.0.0.1 or ::1");
  }
  if (settings.port < 0 || settings.port > 65'535) {
    return fail(ErrorCode::kInvalid, fmt::format("invalid port {}", settings.port), "Use a port from 0 to 65535");
  }
  return tcp::endpoint(address, static_cast<unsigned short>(settings.port));
}

std::unexpected<Error> cannot_listen(const HttpSettings& settings, const error_code& error) {
  const std::string where = fmt::format("{} port {}", settings.address, settings.port);
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::kConflict, fmt::format("{} is in use by another program", where), "Choose another port");
  }
  if (error == asio::error::access_denied) {
    return fail(ErrorCode::kForbidden, fmt::format("permission denied to listen on {}", where),
                "Choose a port above 1023");
  }
  if (error == boost::system::errc::address_not_available) {
    return fail(ErrorCode::kInvalid, fmt::format("the address {} does not belong to this machine", settings.address));
  }
  return fail(ErrorCode::kIo, fmt::format("cannot listen on {}: {}", where, error.message()));
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const auto& entry) { return is_same_name(entry.first, name); });
  if (found == headers.end()) return {};
  return found->second;
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [&](const auto& entry) { return is_same_name(entry.first, name); }));
}

struct HttpListener::Parts : std::enable_shared_from_this<Parts> {
  Parts(EventLoop& its_loop, HttpSettings given, HttpHandler handler)
      : loop(its_loop),
        settings(std::move(given)),
        host(std::make_shared<ListenerState>(ListenerState{loop, settings.bounds, std::move(handler)})),
        acceptor(*static_cast<asio::io_context*>(loop.native())) {}

  Status open();
  void accept_soon();
  void accept_now();
  void take(int socket, const sockaddr_storage& address);
  void close(std::int64_t wait_ms, std::function<void()> done);
  void finish_closing();
  void abort_all();

  EventLoop& loop;
  HttpSettings settings;
  std::shared_ptr<ListenerState> host;
  tcp::acceptor acceptor;
  std::function<void()> closed;
  Scheduler::Timer deadline = 0, pause = 0;
};

Status HttpListener::Parts::open() {
  const tcp::endpoint endpoint = SB_TRY(endpoint_of(settings));
  raise_file_limit(settings.bounds.connections);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) {
    error_code ignored;
    acceptor.close(ignored);
    return cannot_listen(settings, error);
  }
  accept_soon();
  return {};
}

void HttpListener::Parts::accept_soon() {
  acceptor.async_wait(asio::socket_base::wait_read, [weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (self && !error && self->acceptor.is_open()) self->accept_now();
  });
}

void HttpListener::Parts::accept_now() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    const int socket =
        ::accept4(acceptor.native_handle(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      take(socket, address);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The waiting connection stays in the queue, so waiting for it again would spin.
      pause = loop.after(kAcceptPauseMs, [this] { accept_soon(); });
      return;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    }
  }
  accept_soon();
}

void HttpListener::Parts::take(int socket, const sockaddr_storage& address) {
  tcp::endpoint peer;
  std::memcpy(peer.data(), &address, std::min(sizeof address, peer.capacity()));
  const auto whose = plain(peer.address());
  const std::size_t open = host->connections.size();
  if (open >= settings.bounds.connections + kTurnedAway) {
    ::close(socket);
    return;
  }
  start_http_connection(host, socket, whose.to_string(), whose.is_loopback(), open >= settings.bounds.connections);
}

void HttpListener::Parts::close(std::int64_t wait_ms, std::function<void()> done) {
  error_code ignored;
  acceptor.close(ignored);
  loop.cancel(std::exchange(pause, 0));
  if (closed) loop.post(std::exchange(closed, {}));
  closed = std::move(done);
  host->is_closing = true;
  host->on_empty = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish_closing();
  };
  if (host->connections.empty()) return finish_closing();
  loop.cancel(deadline);
  deadline = loop.after(wait_ms, [this] {
    abort_all();
    finish_closing();
  });
  for (HttpConnection* connection : std::vector(host->connections.begin(), host->connections.end())) {
    connection->close_when_idle();
  }
}

void HttpListener::Parts::finish_closing() {
  loop.cancel(std::exchange(deadline, 0));
  if (closed) loop.post(std::exchange(closed, {}));
}

void HttpListener::Parts::abort_all() {
  for (HttpConnection* connection : std::vector(host->connections.begin(), host->connections.end())) {
    connection->abort();
  }
}

HttpListener::HttpListener(EventLoop& loop, HttpSettings settings, HttpHandler handler)
    : parts_(std::make_shared<Parts>(loop, std::move(settings), std::move(handler))) {}

HttpListener::~HttpListener() {
  error_code ignored;
  parts_->acceptor.close(ignored);
  parts_->loop.cancel(parts_->pause);
  parts_->loop.cancel(parts_->deadline);
  parts_->host->on_empty = {};
  parts_->host->is_over = true;
  parts_->abort_all();
}

Status HttpListener::open() {
  return parts_->open();
}

int HttpListener::port() const {
  error_code ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

bool HttpListener::is_loopback() const {
  const auto endpoint = endpoint_of(parts_->settings);
  return endpoint && plain(endpoint->address()).is_loopback();
}

std::size_t HttpListener::connections() const {
  return parts_->host->connections.size();
}

void HttpListener::close(std::int64_t wait_ms, std::function<void()> done) {
  parts_->close(wait_ms, std::move(done));
}

}  // namespace sb::net
