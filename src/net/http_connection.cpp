#include "net/http_connection.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "net/http_answer.hpp"
#include "net/http_head.hpp"
#include "net/limits.hpp"

namespace sb::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::awaitable;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;
using Parser = http::request_parser<http::string_body>;

constexpr std::size_t kReadBytes = 64u << 10;
constexpr std::size_t kPendingBytes = 64u << 10;  // pipelined after a request that has no response yet
constexpr std::int64_t kLingerMs = 2'000;         // for the client to read the error response

SteadyClock::time_point in_ms(std::int64_t duration_ms) {
  return SteadyClock::now() + std::chrono::milliseconds(duration_ms);
}

// One body's share of the total body limit.
class BodyQuota {
 public:
  explicit BodyQuota(ListenerState& host) : host_(host) {}
  ~BodyQuota() { host_.body_bytes -= taken_; }
  BodyQuota(const BodyQuota&) = delete;

  bool grow_to(std::size_t bytes) {
    if (bytes <= taken_) return true;
    if (host_.body_bytes + (bytes - taken_) > host_.bounds.all_body_bytes) return false;
    host_.body_bytes += bytes - taken_;
    taken_ = bytes;
    return true;
  }

 private:
  ListenerState& host_;
  std::size_t taken_ = 0;
};

// Reading and writing are callbacks that fill and drain the two buffers; serve() is a coroutine that sleeps on one
// timer until a buffer changed, an exchange ended, or a deadline passed. Nothing is polled, and an idle connection
// holds no buffer.
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ListenerState> host, int socket, std::string peer, bool is_loopback);
  ~Connection() override;

  static awaitable<void> serve(std::shared_ptr<Connection> self);
  static awaitable<void> reject(std::shared_ptr<Connection> self);
  void close_when_idle() override { wake(); }
  void abort() override;

  // For the exchange with that number; calls for a finished exchange do nothing.
  void respond(std::uint64_t exchange, HttpResponse answer);
  void begin(std::uint64_t exchange, int status, Headers headers);
  bool send(std::uint64_t exchange, std::string_view piece);
  void end(std::uint64_t exchange);
  void on_disconnect(std::uint64_t exchange, std::function<void()> gone);
  void dropped(std::uint64_t exchange);

 private:
  enum class Phase { kReading, kPending, kStreaming, kOver };

  awaitable<void> sleep_until(SteadyClock::time_point deadline);
  awaitable<std::optional<HttpRequest>> read_request();
  awaitable<std::optional<std::size_t>> read_head();
  awaitable<bool> read_body(Parser& parser, const HttpHead& head);
  awaitable<void> exchange_over();
  awaitable<void> close_gracefully();

  bool take_body(Parser& parser, BodyQuota& share);
  void start_exchange(HttpRequest request);
  void finish_exchange();
  void report_disconnect();
  void post_disconnect(std::function<void()> gone);
  void refuse(HttpRefusal refusal);
  ResponseFraming shape() const;

  void unregister();
  void wake() { wake_.cancel(); }
  void read_more();
  void read_now();
  void drop_read(std::size_t bytes);
  void write_soon();
  void write_now();
  bool has_unsent() const { return sent_ < out_.size(); }

  std::shared_ptr<ListenerState> host_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer wake_;
  std::string peer_;
  bool is_loopback_;

  std::string in_;  // not yet parsed
  bool is_waiting_to_read_ = false, has_ended_ = false, is_discarding_ = false;
  std::string out_;
  std::size_t sent_ = 0;
  bool is_writing_ = false;
  SteadyClock::time_point written_at_;  // when the client last read something

  Phase phase_ = Phase::kReading;
  std::uint64_t exchange_ = 0;  // number of the open exchange; matches none if there is none
  std::uint64_t requests_ = 0;
  bool is_http_11_ = true, is_head_request_ = false, may_stay_ = true, is_refused_ = false, is_aborted_ = false;
  bool is_gone_ = false;
  std::function<void()> gone_;
};

class Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<Connection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~Exchange() override { connection_->dropped(number_); }
  void respond(HttpResponse answer) override { connection_->respond(number_, std::move(answer)); }
  void begin(int status, Headers headers) override { connection_->begin(number_, status, std::move(headers)); }
  bool send(std::string_view piece) override { return connection_->send(number_, piece); }
  void end() override { connection_->end(number_); }
  void on_disconnect(std::function<void()> gone) override { connection_->on_disconnect(number_, std::move(gone)); }

 private:
  std::shared_ptr<Connection> connection_;
  std::uint64_t number_;
};

Connection::Connection(std::shared_ptr<ListenerState> host, int socket, std::string peer, bool is_loopback)
    : host_(std::move(host)),
      socket_(*static_cast<asio::io_context*>(host_->loop.native())),
      wake_(socket_.get_executor()),
      peer_(std::move(peer)),
      is_loopback_(is_loopback) {
  host_->connections.insert(this);
  error_code error;
  const bool is_v6 = peer_.contains(':');
  socket_.assign(is_v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), socket, error);
  if (error) {
    ::close(socket);
    is_aborted_ = true;
    return;
  }
  socket_.non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  // Detects a vanished client machine within a few minutes.
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  for (const auto& [option, value] : {std::pair(TCP_KEEPIDLE, 60), {TCP_KEEPINTVL, 20}, {TCP_KEEPCNT, 4}}) {
    ::setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value);
  }
}

Connection::~Connection() {
  unregister();
}

// After the socket is closed, holders of an exchange have no connection.
void Connection::unregister() {
  if (host_->connections.erase(this) == 1 && host_->connections.empty() && host_->on_empty) host_->on_empty();
}

awaitable<void> Connection::serve(std::shared_ptr<Connection> self) {
  self->read_more();
  while (!self->is_aborted_) {
    std::optional<HttpRequest> request = co_await self->read_request();
    if (!request || self->is_aborted_) break;
    self->start_exchange(std::move(*request));
    request.reset();
    co_await self->exchange_over();
    if (!self->may_stay_) break;
  }
  co_await self->close_gracefully();
}

awaitable<void> Connection::reject(std::shared_ptr<Connection> self) {
  self->refuse({503, "too many connections; try again later"});
  self->read_more();
  co_await self->close_gracefully();
}

awaitable<void> Connection::sleep_until(SteadyClock::time_point deadline) {
  wake_.expires_at(deadline);
  co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
}

awaitable<std::optional<std::size_t>> Connection::read_head() {
  HeadScan scan;
  bool may_skip_line = true, has_begun = requests_ == 0;
  auto deadline = in_ms(has_begun ? host_->bounds.header_wait_ms : host_->bounds.idle_wait_ms);
  for (;;) {
    if (!in_.empty() && !std::exchange(has_begun, true)) deadline = in_ms(host_->bounds.header_wait_ms);
    // Some clients send an extra line after a body.
    if (may_skip_line && in_.starts_with("\r\n")) {
      may_skip_line = false;
      drop_read(2);
      scan = {};
    }
    const auto end = scan.next(in_);
    if (!end) refuse(end.error());
    if (!end || *end) co_return end ? *end : std::nullopt;
    if (has_ended_ || is_aborted_ || (host_->is_closing && in_.empty())) co_return std::nullopt;
    if (SteadyClock::now() >= deadline) {
      if (!in_.empty()) refuse({408, "timeout while reading the headers"});
      co_return std::nullopt;
    }
    read_more();
    co_await sleep_until(deadline);
  }
}

awaitable<std::optional<HttpRequest>> Connection::read_request() {
  phase_ = Phase::kReading;
  const std::optional<std::size_t> size = co_await read_head();
  if (!size) co_return std::nullopt;
  ++requests_;
  const std::string bytes = in_.substr(0, *size);
  drop_read(*size);

  const auto head = check_head(bytes);
  const auto target = head ? read_target(*head) : std::unexpected(head.error());
  if (!target) {
    refuse(target.error());
    co_return std::nullopt;
  }
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(bytes.size() + 1));
  parser.body_limit(host_->bounds.body_bytes);
  error_code error;
  const std::size_t used = parser.put(asio::buffer(bytes), error);
  if (error == http::error::body_limit) refuse({413, "body too large"});
  if (error || used != bytes.size()) {
    if (!is_refused_) refuse({400, "malformed headers"});
    co_return std::nullopt;
  }
  is_http_11_ = head->is_http_11;
  is_head_request_ = head->method == "HEAD";
  may_stay_ = is_http_11_ && parser.keep_alive();

  // Copy them now, because the trailers of a chunked body would be added to them.
  HttpRequest request{std::string(head->method), target->path, target->query, {}, {}, peer_, is_loopback_};
  for (const auto& field : parser.get()) request.headers.emplace_back(field.name_string(), field.value());
  if (!parser.is_done()) {
    const bool is_there = co_await read_body(parser, *head);
    if (!is_there) co_return std::nullopt;
    request.body = std::move(parser.get().body());
  }
  co_return request;
}

awaitable<bool> Connection::read_body(Parser& parser, const HttpHead& head) {
  BodyQuota share(*host_);
  if (!share.grow_to(head.content_length.value_or(0))) {
    refuse({503, "too many request bodies in progress; try again later"});
    co_return false;
  }
  parser.eager(true);
  if (head.expects_continue && is_http_11_ && in_.empty()) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    write_soon();
  }
  const auto deadline = in_ms(host_->bounds.body_wait_ms);
  for (;;) {
    if (!take_body(parser, share)) co_return false;
    if (parser.is_done()) co_return true;
    if (has_ended_ || is_aborted_) co_return false;
    if (SteadyClock::now() >= deadline) {
      refuse({408, "timeout while reading the body"});
      co_return false;
    }
    read_more();
    co_await sleep_until(deadline);
  }
}

// Feeds buffered bytes to the parser; false if they were rejected.
bool Connection::take_body(Parser& parser, BodyQuota& share) {
  if (in_.empty()) return true;
  error_code error;
  const std::size_t used = parser.put(asio::buffer(in_), error);
  drop_read(used);
  if (error == http::error::need_more) {
    // Only a chunk line or the trailers can remain; Beast itself does not limit them.
    if (in_.size() > limits::kHeaderBytes)
      error = http::error::bad_chunk;
    else
      error = {};
  }
  if (error) {
    const bool is_large = error == http::error::body_limit;
    refuse(is_large ? HttpRefusal{413, "body too large"} : HttpRefusal{400, "malformed body"});
    return false;
  }
  if (!share.grow_to(parser.get().body().size())) {
    refuse({503, "too many request bodies in progress; try again later"});
    return false;
  }
  return true;
}

void Connection::start_exchange(HttpRequest request) {
  phase_ = Phase::kPending;
  is_gone_ = has_ended_;
  read_more();  // to notice when the client disconnects
  auto exchange = std::make_shared<Exchange>(shared_from_this(), ++exchange_);
  host_->handler(std::move(request), std::move(exchange));
}

awaitable<void> Connection::exchange_over() {
  while (!is_aborted_ && (phase_ != Phase::kOver || has_unsent())) {
    auto deadline = SteadyClock::time_point::max();
    if (has_unsent()) {
      deadline = written_at_ + std::chrono::milliseconds(host_->bounds.idle_wait_ms);
      if (SteadyClock::now() >= deadline) abort();
    }
    if (!is_aborted_) co_await sleep_until(deadline);
  }
  if (has_ended_ && in_.empty()) may_stay_ = false;
}

// Flushes the output first. After an error, keeps reading what still arrives; otherwise the client's system would
// discard our response.
awaitable<void> Connection::close_gracefully() {
  phase_ = Phase::kOver;
  const bool must_linger = is_refused_ || !in_.empty();
  is_discarding_ = true;
  in_ = {};
  const auto drained_by = in_ms(host_->bounds.header_wait_ms);
  read_more();
  while (!is_aborted_ && has_unsent() && SteadyClock::now() < drained_by) co_await sleep_until(drained_by);
  error_code ignored;
  if (!is_aborted_) socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  const auto gone_by = in_ms(must_linger && !host_->is_closing ? kLingerMs : 0);
  while (!is_aborted_ && !has_ended_ && SteadyClock::now() < gone_by) {
    read_more();
    co_await sleep_until(gone_by);
  }
  abort();
}

void Connection::abort() {
  if (std::exchange(is_aborted_, true)) return;
  has_ended_ = true;
  out_ = {};
  sent_ = 0;
  error_code ignored;
  socket_.close(ignored);
  report_disconnect();
  wake();
  unregister();
}

void Connection::report_disconnect() {
  if (phase_ != Phase::kPending && phase_ != Phase::kStreaming) return;
  if (std::exchange(is_gone_, true)) return;
  if (gone_) post_disconnect(std::exchange(gone_, {}));
  if (phase_ == Phase::kStreaming) abort();
}

// Deferred, because this may run inside a send(); and only if there is no response by then.
void Connection::post_disconnect(std::function<void()> gone) {
  host_->loop.post([self = shared_from_this(), exchange = exchange_, gone = std::move(gone)] {
    if (exchange == self->exchange_ && !self->host_->is_over) gone();
  });
}

void Connection::refuse(HttpRefusal refusal) {
  is_refused_ = true;
  may_stay_ = false;
  out_ += response_text({refusal.status, {{"Content-Type", "text/plain"}}, fmt::format("{}\n", refusal.reason)},
                        {.is_http_11 = true, .is_head_request = false, .is_keep_alive = false});
  write_soon();
}

ResponseFraming Connection::shape() const {
  return {.is_http_11 = is_http_11_, .is_head_request = is_head_request_, .is_keep_alive = may_stay_};
}

void Connection::respond(std::uint64_t exchange, HttpResponse answer) {
  if (exchange != exchange_ || phase_ != Phase::kPending) return;
  if (host_->is_closing || wants_close(answer.headers)) may_stay_ = false;
  out_ += response_text(std::move(answer), shape());
  finish_exchange();
}

void Connection::begin(std::uint64_t exchange, int status, Headers headers) {
  if (exchange != exchange_ || phase_ != Phase::kPending) return;
  // Without chunks, only closing the connection marks the end of the body.
  if (!is_http_11_ || host_->is_closing || wants_close(headers)) may_stay_ = false;
  out_ += stream_head(status, headers, shape());
  phase_ = Phase::kStreaming;
  write_soon();
}

bool Connection::send(std::uint64_t exchange, std::string_view piece) {
  if (exchange != exchange_ || phase_ != Phase::kStreaming || is_gone_ || is_aborted_) return false;
  if (piece.empty() || is_head_request_) return true;
  if (out_.size() - sent_ + piece.size() > host_->bounds.unsent_bytes) {
    abort();
    return false;
  }
  append_piece(out_, piece, shape());
  write_soon();
  return true;
}

void Connection::end(std::uint64_t exchange) {
  if (exchange != exchange_ || phase_ != Phase::kStreaming) return;
  out_ += stream_end(shape());
  finish_exchange();
}

void Connection::finish_exchange() {
  phase_ = Phase::kOver;
  ++exchange_;
  gone_ = {};
  write_soon();
  wake();
}

void Connection::on_disconnect(std::uint64_t exchange, std::function<void()> gone) {
  if (exchange != exchange_ || (phase_ != Phase::kPending && phase_ != Phase::kStreaming)) return;
  if (is_gone_) return post_disconnect(std::move(gone));
  gone_ = std::move(gone);
}

void Connection::dropped(std::uint64_t exchange) {
  if (exchange != exchange_) return;
  gone_ = {};
  if (phase_ == Phase::kPending) respond(exchange, {500, {{"Content-Type", "text/plain"}}, "no response\n"});
  if (phase_ == Phase::kStreaming) {
    finish_exchange();
    abort();
  }
}

void Connection::read_more() {
  const bool is_full = !is_discarding_ && in_.size() >= kPendingBytes;
  if (is_waiting_to_read_ || has_ended_ || is_aborted_ || is_full) return;
  is_waiting_to_read_ = true;
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](const error_code& error) {
    self->is_waiting_to_read_ = false;
    if (self->is_aborted_) return;
    if (!error) self->read_now();
    self->read_more();
  });
}

void Connection::read_now() {
  auto& buffer = host_->read_buffer;
  buffer.resize(kReadBytes);
  error_code error;
  const std::size_t got = socket_.read_some(asio::buffer(buffer), error);
  if (error == asio::error::would_block || error == asio::error::interrupted) return;
  if (error) {
    has_ended_ = true;
    report_disconnect();
  } else if (!is_discarding_) {
    in_.append(buffer.data(), got);
  }
  // Bytes that arrive while a request is being handled wait for their turn.
  if (error || phase_ == Phase::kReading) wake();
}

void Connection::drop_read(std::size_t bytes) {
  in_.erase(0, bytes);
  if (in_.empty()) in_ = {};
}

void Connection::write_soon() {
  if (is_aborted_ || is_writing_ || !has_unsent()) return;
  is_writing_ = true;
  written_at_ = SteadyClock::now();
  // Deferred until the current work is done, so that its writes leave together.
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->write_now(); });
}

void Connection::write_now() {
  while (!is_aborted_ && has_unsent()) {
    error_code error;
    const std::size_t wrote = socket_.write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_), error);
    if (!error) {
      sent_ += wrote;
      written_at_ = SteadyClock::now();
    } else if (error == asio::error::would_block) {
      if (sent_ >= out_.size() / 2) out_.erase(0, std::exchange(sent_, 0));
      socket_.async_wait(asio::socket_base::wait_write,
                         [self = shared_from_this()](const error_code&) { self->write_now(); });
      wake();  // there is a new deadline
      return;
    } else if (error != asio::error::interrupted) {
      abort();
    }
  }
  is_writing_ = false;
  sent_ = 0;
  out_ = {};
  if (phase_ == Phase::kOver) wake();
}

}  // namespace

void start_http_connection(std::shared_ptr<ListenerState> host, int socket, std::string peer, bool is_loopback,
                           bool is_too_many) {
  auto& context = *static_cast<asio::io_context*>(host->loop.native());
  auto connection = std::make_shared<Connection>(std::move(host), socket, std::move(peer), is_loopback);
  auto serving = is_too_many ? Connection::reject(connection) : Connection::serve(connection);
  asio::co_spawn(context, std::move(serving), [connection](const std::exception_ptr&) { connection->abort(); });
}

}  // namespace sb::net
