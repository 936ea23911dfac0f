#include "mcp/http/reply_stream.hpp"

#include <algorithm>

#include "mcp/limits.hpp"

namespace sb::mcp {
namespace {

// The HTTP status for outcomes that the stateless era also reports by status.
int status_of(const Value& response) {
  const Value* error = response.find("error");
  const Value* number = error == nullptr ? nullptr : error->find("code");
  if (number == nullptr || !number->is_integer()) return 200;
  switch (number->as_integer()) {
    case net::rpc::kMethodNotFound:
      return 404;
    case net::rpc::kParseError:
    case net::rpc::kInvalidRequest:
    case code::kHeaderMismatch:
    case code::kMissingClientCapability:
    case code::kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

net::Headers event_stream_headers(net::Headers more) {
  more.emplace_back("Content-Type", "text/event-stream");
  more.emplace_back("Cache-Control", "no-cache, no-transform");
  // Proxies that buffer responses would delay events.
  more.emplace_back("X-Accel-Buffering", "no");
  return more;
}

}  // namespace

net::HttpResponse json_response(int status, const Value& body, net::Headers headers) {
  headers.emplace_back("Content-Type", "application/json");
  return {.status = status, .headers = std::move(headers), .body = to_json(body)};
}

net::HttpResponse refusal(int status, std::string message, net::Headers headers, Value id, int code) {
  return json_response(status, net::rpc_error(std::move(id), {.code = code, .message = std::move(message)}),
                       std::move(headers));
}

EventStream::EventStream(StreamContext site, EventId first, bool has_priming, std::weak_ptr<StreamOwner> owner)
    : stream_context_(site), next_(std::move(first)), has_priming_(has_priming), owner_(std::move(owner)) {}

EventStream::~EventStream() {
  stop_timer();
  stream_context_.kept.all -= kept_bytes_;
  if (exchange_ && is_streaming_) exchange_->end();
}

void EventStream::hold(net::ExchangePtr exchange, net::Headers headers) {
  exchange_ = std::move(exchange);
  headers_ = std::move(headers);
  is_gone_ = false;
  exchange_->on_disconnect([weak = weak_from_this(), which = exchange_.get()] {
    const auto self = weak.lock();
    if (!self || self->exchange_.get() != which) return;
    // A client that has only stopped sending may still read a plain response.
    if (self->is_streaming_) self->exchange_ = nullptr;
    self->is_gone_ = true;
  });
}

void EventStream::answer(net::ExchangePtr exchange, net::Headers headers) {
  hold(std::move(exchange), std::move(headers));
  timer_ = stream_context_.scheduler.after(limits::kStreamAfterMs, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_ = 0;
    if (self->exchange_ && !self->is_gone_) self->begin_events(self->next_.number);
  });
}

void EventStream::attach(net::ExchangePtr exchange, std::optional<std::uint64_t> after, net::Headers headers) {
  if (exchange_) std::exchange(exchange_, nullptr)->end();
  hold(std::move(exchange), std::move(headers));
  is_streaming_ = false;
  const auto unsent = std::ranges::find_if(kept_, [](const BufferedEvent& event) { return !event.is_sent; });
  begin_events(after ? *after : unsent == kept_.end() ? next_.number : unsent->number - 1);
  for (BufferedEvent& event : kept_) {
    if (after ? event.number <= *after : event.is_sent) continue;
    write(event.text);
    if (!exchange_) return;
    event.is_sent = true;
  }
  if (is_finished_) end_connection();
}

void EventStream::begin_events(std::uint64_t behind) {
  is_streaming_ = true;
  stop_timer();
  exchange_->begin(200, event_stream_headers(std::exchange(headers_, {})));
  last_written_ = stream_context_.ticks.now;
  EventId id = next_;
  id.number = behind;
  if (has_priming_) write(priming_text(to_text(id)));
  if (const auto owner = owner_.lock()) owner->on_streaming(shared_from_this());
}

void EventStream::send(const Value& message) {
  if (is_finished_) return;
  // A client that disconnected before it saw an id cannot reconnect to the stream.
  if (!is_streaming_ && (!exchange_ || is_gone_)) return;
  if (!is_streaming_) begin_events(next_.number);
  add(message, false);
}

void EventStream::finish(const Value& response) {
  if (is_finished_) return;
  is_finished_ = true;
  stop_timer();
  if (!is_streaming_) {
    if (exchange_)
      std::exchange(exchange_, nullptr)->respond(json_response(200, response, std::exchange(headers_, {})));
    return;
  }
  // The responses of a batch are sent one by one: as events, each is a message.
  if (response.is_array()) {
    for (const Value& one : response.items()) add(one, true);
  } else {
    add(response, true);
  }
  end_connection();
}

void EventStream::close_stream() {
  if (!exchange_ || is_gone_ || is_finished_) return;
  if (!is_streaming_ && !has_priming_) return;
  if (!is_streaming_) begin_events(next_.number);
  if (!has_priming_ && kept_.empty()) return;
  end_connection();
}

void EventStream::end() {
  is_finished_ = true;
  stop_timer();
  // Without an id, so that no client reconnects for events that will never come.
  if (exchange_ && !is_streaming_) exchange_->begin(200, event_stream_headers(std::exchange(headers_, {})));
  end_connection();
}

void EventStream::keep_alive() {
  if (exchange_ && is_streaming_ && stream_context_.ticks.have_passed(limits::kKeepAliveMs, last_written_))
    write(kKeepAliveText);
}

bool EventStream::has_unsent() const {
  return !std::ranges::all_of(kept_, &BufferedEvent::is_sent);
}

void EventStream::add(const Value& message, bool is_response) {
  ++next_.number;
  std::string text = event_text(to_text(next_), message);
  write(text);
  kept_bytes_ += text.size();
  stream_context_.kept.all += text.size();
  kept_.push_back({next_.number, std::move(text), exchange_ != nullptr, is_response});
  while (kept_.size() > limits::kKeptEvents && drop_oldest(false)) {
  }
  if (const auto owner = owner_.lock()) owner->on_kept();
}

void EventStream::write(std::string_view text) {
  if (!exchange_) return;
  last_written_ = stream_context_.ticks.now;
  if (!exchange_->send(text)) exchange_ = nullptr;
}

void EventStream::end_connection() {
  if (exchange_) std::exchange(exchange_, nullptr)->end();
}

bool EventStream::drop_oldest(bool even_response) {
  auto found = std::ranges::find_if(kept_, &BufferedEvent::is_sent);
  if (found == kept_.end())
    found = std::ranges::find_if(kept_, [](const BufferedEvent& event) { return !event.is_response; });
  if (found == kept_.end() && even_response) found = kept_.begin();
  if (found == kept_.end()) return false;
  kept_bytes_ -= found->text.size();
  stream_context_.kept.all -= found->text.size();
  kept_.erase(found);
  return true;
}

void EventStream::stop_timer() {
  if (timer_ != 0) stream_context_.scheduler.cancel(std::exchange(timer_, 0));
}

StatelessResponse::StatelessResponse(StreamContext site, net::ExchangePtr exchange, net::Headers headers)
    : stream_context_(site), exchange_(std::move(exchange)), headers_(std::move(headers)) {}

StatelessResponse::~StatelessResponse() {
  if (timer_ != 0) stream_context_.scheduler.cancel(timer_);
  if (exchange_ && is_streaming_) exchange_->end();
}

void StatelessResponse::start(std::function<void(bool)> over) {
  over_ = std::move(over);
  exchange_->on_disconnect([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish_once(true);
  });
  timer_ = stream_context_.scheduler.after(limits::kStreamAfterMs, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_ = 0;
    if (self->exchange_) self->begin_events();
  });
}

void StatelessResponse::begin_events() {
  if (is_streaming_) return;
  is_streaming_ = true;
  last_written_ = stream_context_.ticks.now;
  exchange_->begin(200, event_stream_headers(std::exchange(headers_, {})));
}

void StatelessResponse::send(const Value& message) {
  if (!exchange_) return;
  begin_events();
  last_written_ = stream_context_.ticks.now;
  if (!exchange_->send(event_text({}, message))) finish_once(true);
}

void StatelessResponse::finish(const Value& response) {
  if (exchange_ && !is_streaming_) {
    exchange_->respond(json_response(status_of(response), response, std::exchange(headers_, {})));
  } else if (exchange_) {
    exchange_->send(event_text({}, response));
    exchange_->end();
  }
  finish_once(false);
}

void StatelessResponse::end() {
  if (exchange_ && !is_streaming_) begin_events();
  if (exchange_) exchange_->end();
  finish_once(false);
}

void StatelessResponse::keep_alive() {
  if (!exchange_ || !is_streaming_ || !stream_context_.ticks.have_passed(limits::kKeepAliveMs, last_written_)) return;
  last_written_ = stream_context_.ticks.now;
  if (!exchange_->send(kKeepAliveText)) finish_once(true);
}

void StatelessResponse::finish_once(bool is_gone) {
  exchange_ = nullptr;
  if (timer_ != 0) stream_context_.scheduler.cancel(std::exchange(timer_, 0));
  if (const auto over = std::exchange(over_, nullptr)) over(is_gone);
}

}  // namespace sb::mcp
