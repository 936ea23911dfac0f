#include "mcp/http/endpoint.hpp"

#include <algorithm>

#include "mcp/limits.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kListen = "subscriptions/listen";

bool is_request(const net::RpcMessage& message) {
  return std::holds_alternative<net::RpcRequest>(message) || std::holds_alternative<net::Malformed>(message);
}

// Id of the only request; null for a batch and for messages that are not requests.
Value id_of(const net::RpcRead& read) {
  if (read.is_batch) return {};
  const auto* request = std::get_if<net::RpcRequest>(&read.messages.front());
  return request == nullptr ? Value() : request->id;
}

bool is_initialize(const net::RpcRead& read) {
  const auto* request = read.is_batch ? nullptr : std::get_if<net::RpcRequest>(&read.messages.front());
  return request != nullptr && request->method == "initialize";
}

// Answers `initialize`; the session is created only if that succeeds.
class Opening : public ReplyPath {
 public:
  Opening(HttpSessions& sessions, HttpSessionPtr session, net::ExchangePtr exchange, net::Headers headers)
      : sessions_(sessions),
        session_(std::move(session)),
        exchange_(std::move(exchange)),
        headers_(std::move(headers)) {}

  void send(const Value&) override {}
  void finish(const Value& response) override {
    if (response.find("result") != nullptr) {
      const std::string id = sessions_.add(session_);
      if (id.empty()) {
        exchange_->respond(refusal(503, "Too many sessions are open; try again later", std::move(headers_)));
        return;
      }
      headers_.emplace_back("Mcp-Session-Id", id);
    }
    exchange_->respond(json_response(200, response, std::move(headers_)));
  }

 private:
  HttpSessions& sessions_;
  HttpSessionPtr session_;
  net::ExchangePtr exchange_;
  net::Headers headers_;
};

}  // namespace

struct HttpEndpoint::IncomingRequest {
  net::HttpRequest request;
  net::ExchangePtr exchange;
  Caller caller;
  net::Headers headers;

  void refuse(int status, std::string message, Value id = {}, int code = kTransportError) {
    exchange->respond(refusal(status, std::move(message), std::move(headers), std::move(id), code));
  }
  void refuse(int status, const net::RpcError& error, Value id) {
    exchange->respond(json_response(status, net::rpc_error(std::move(id), error), std::move(headers)));
  }
  void answer(int status) { exchange->respond({.status = status, .headers = std::move(headers), .body = {}}); }
};

struct HttpEndpoint::StatelessRequest {
  std::shared_ptr<Peer> peer;
  std::shared_ptr<StatelessResponse> answer;
  bool is_listening = false;
};

HttpEndpoint::HttpEndpoint(PeerShared& shared, Seal seal, ParamHeaders param_headers)
    : shared_(shared),
      stream_context_{shared.scheduler, ticks_, kept_},
      sessions_(stream_context_, shared, std::move(seal)),
      param_headers_(std::move(param_headers)) {
  timer_ = shared_.scheduler.after(Ticks::kStepMs, [this] { tick(); });
}

HttpEndpoint::~HttpEndpoint() {
  shared_.scheduler.cancel(timer_);
  close();
}

void HttpEndpoint::tick() {
  timer_ = shared_.scheduler.after(Ticks::kStepMs, [this] { tick(); });
  ++ticks_.now;
  sessions_.tick();
  // Iterates over a copy: a disconnected reader is detected here and leaves the set.
  for (const auto& one : std::vector(running_.begin(), running_.end())) one->answer->keep_alive();
}

void HttpEndpoint::handle(net::HttpRequest request, net::ExchangePtr exchange, const Caller& caller,
                          net::Headers headers) {
  IncomingRequest incoming{std::move(request), std::move(exchange), caller, std::move(headers)};
  if (is_closing_) return incoming.refuse(503, "The server is stopping");
  if (incoming.request.method == "POST") return post(std::move(incoming));
  if (incoming.request.method == "GET") return get(std::move(incoming));
  if (incoming.request.method == "DELETE") return erase(std::move(incoming));
  incoming.headers.emplace_back("Allow", "GET, POST, DELETE");
  incoming.refuse(405, "Only POST, GET and DELETE are supported");
}

void HttpEndpoint::post(IncomingRequest incoming) {
  if (!accepts(incoming.request, "application/json") || !accepts(incoming.request, "text/event-stream")) {
    return incoming.refuse(406, "Accept must allow both application/json and text/event-stream");
  }
  if (!is_json(incoming.request)) return incoming.refuse(415, "Content-Type must be application/json");
  const net::RpcRead read = net::read_rpc(incoming.request.body);
  incoming.request.body = {};
  const net::RpcMessage& first = read.messages.front();
  if (const auto* malformed = std::get_if<net::Malformed>(&first); malformed != nullptr && !read.is_batch) {
    return incoming.refuse(400, malformed->error, malformed->id);
  }
  const auto is_stateless = [&](const net::RpcMessage& one) { return is_of_stateless_era(incoming.request, one); };
  if (std::ranges::any_of(read.messages, is_stateless)) return post_stateless(std::move(incoming), read);
  const auto version = trimmed_header(incoming.request, "MCP-Protocol-Version");
  if (version && !revision_of(*version)) {
    const net::RpcError error{.code = code::kUnsupportedVersion,
                              .message = "MCP-Protocol-Version names an unsupported version",
                              .data = Value::object({{"supported", all_versions()}, {"requested", *version}})};
    return incoming.refuse(400, error, id_of(read));
  }
  if (is_initialize(read)) return post_initialize(std::move(incoming), read);
  post_in_session(std::move(incoming), read);
}

void HttpEndpoint::post_stateless(IncomingRequest incoming, const net::RpcRead& read) {
  if (read.is_batch) {
    return incoming.refuse(400, "This protocol version has no batches", {}, net::rpc::kInvalidRequest);
  }
  // Nothing here outlives its request, so a notification has nothing to refer to.
  if (std::holds_alternative<net::RpcNotification>(read.messages.front())) return incoming.answer(202);
  const auto* request = std::get_if<net::RpcRequest>(&read.messages.front());
  if (request == nullptr) {
    return incoming.refuse(400, "Unexpected response: the server has sent no request", {}, net::rpc::kInvalidRequest);
  }
  if (const auto fault = stateless_fault(incoming.request, *request, param_headers_)) {
    return incoming.refuse(400, *fault, request->id);
  }
  const bool is_listening = request->method == kListen;
  if (is_listening && listeners() >= limits::kListeners) {
    return incoming.refuse(503, "Too many streams are open; try again later", request->id);
  }
  auto one = std::make_shared<StatelessRequest>();
  one->peer = std::make_shared<Peer>(shared_, PeerOrigin{.caller = incoming.caller, .is_single_request = true});
  one->answer =
      std::make_shared<StatelessResponse>(stream_context_, std::move(incoming.exchange), std::move(incoming.headers));
  one->is_listening = is_listening;
  if (is_listening) ++listening_;
  running_.insert(one);
  one->answer->start([this, weak = std::weak_ptr(one)](bool is_gone) {
    const auto over = weak.lock();
    if (!over || running_.erase(over) == 0) return;
    if (over->is_listening) --listening_;
    if (is_gone) over->peer->cancel_all();
  });
  one->peer->receive(read, one->answer);
}

void HttpEndpoint::post_initialize(IncomingRequest incoming, const net::RpcRead& read) {
  auto session = sessions_.make(incoming.caller);
  Peer& peer = session->peer();
  peer.receive(
      read, std::make_shared<Opening>(sessions_, session, std::move(incoming.exchange), std::move(incoming.headers)));
}

HttpSessionPtr HttpEndpoint::session_of(IncomingRequest& incoming, Value id) {
  if (incoming.request.count("Mcp-Session-Id") > 1) {
    incoming.refuse(400, "Multiple Mcp-Session-Id headers", std::move(id));
    return nullptr;
  }
  const auto name = trimmed_header(incoming.request, "Mcp-Session-Id");
  if (!name) {
    incoming.refuse(400, "Mcp-Session-Id is missing: send initialize first, then use the id from its response",
                    std::move(id));
    return nullptr;
  }
  auto session = sessions_.find(*name, incoming.caller);
  if (!session)
    incoming.refuse(404, "Session not found: send initialize to open a new one", std::move(id), kSessionNotFound);
  return session;
}

void HttpEndpoint::post_in_session(IncomingRequest incoming, const net::RpcRead& read) {
  const HttpSessionPtr session = session_of(incoming, id_of(read));
  if (!session) return;
  if (read.is_batch && !has_batches(session->peer().revision())) {
    return incoming.refuse(400, "This protocol version has no batches", {}, net::rpc::kInvalidRequest);
  }
  if (std::ranges::none_of(read.messages, is_request)) {
    incoming.answer(202);
    session->peer().receive(read, nullptr);
    return;
  }
  const auto stream = session->new_stream(id_of(read), true);
  stream->answer(std::move(incoming.exchange), std::move(incoming.headers));
  session->peer().receive(read, stream);
}

void HttpEndpoint::get(IncomingRequest incoming) {
  if (!accepts(incoming.request, "text/event-stream"))
    return incoming.refuse(406, "Accept must allow text/event-stream");
  const auto version = trimmed_header(incoming.request, "MCP-Protocol-Version");
  const auto revision = version ? revision_of(*version) : std::nullopt;
  if (incoming.request.count("Mcp-Session-Id") == 0 && (!version || (revision && is_stateless(*revision)))) {
    incoming.headers.emplace_back("Allow", "POST");
    return incoming.refuse(405, "GET needs a session");
  }
  if (version && !revision) return incoming.refuse(400, "MCP-Protocol-Version names an unsupported version");
  const HttpSessionPtr session = session_of(incoming, {});
  if (!session) return;
  if (const auto last = trimmed_header(incoming.request, "Last-Event-ID"); last && !last->empty()) {
    const auto id = parse_event_id(*last);
    if (!id) return incoming.refuse(400, "Invalid Last-Event-ID");
    return resume(std::move(incoming), *session, *id);
  }
  if (session->has_open_general()) return incoming.refuse(409, "The stream of this session is already open");
  if (listeners() >= limits::kListeners) return incoming.refuse(503, "Too many streams are open; try again later");
  session->general().attach(std::move(incoming.exchange), std::nullopt, std::move(incoming.headers));
}

void HttpEndpoint::resume(IncomingRequest incoming, HttpSession& session, const EventId& last) {
  const bool is_ours = last.boot == sessions_.boot();
  if (last.stream == kGeneralStream) {
    if (!session.has_open_general() && listeners() >= limits::kListeners) {
      return incoming.refuse(503, "Too many streams are open; try again later");
    }
    const auto after = is_ours ? std::optional(last.number) : std::nullopt;
    session.general().attach(std::move(incoming.exchange), after, std::move(incoming.headers));
    return;
  }
  const auto stream = is_ours ? session.stream(last.stream) : nullptr;
  if (stream && stream->has_nothing_after(last.number)) {
    session.forget_stream(last.stream);
    return incoming.answer(204);  // tells an event source not to reconnect
  }
  if (stream) {
    stream->attach(std::move(incoming.exchange), last.number, std::move(incoming.headers));
    return;
  }
  if (last.request.is_null())
    return incoming.refuse(410, "The remaining events of that stream are no longer available");
  // Its caller still waits, and this is the only way to report that the result is lost.
  const auto lost = session.new_stream(last.request, false);
  lost->attach(std::move(incoming.exchange), std::nullopt, std::move(incoming.headers));
  lost->finish(net::rpc_error(last.request, {.code = net::rpc::kInternalError,
                                             .message = is_ours ? "The result is no longer available; repeat the call"
                                                                : "The server restarted during this call;"
                                                                  " repeat the call"}));
  session.forget_stream(lost->number());
}

void HttpEndpoint::erase(IncomingRequest incoming) {
  const auto version = trimmed_header(incoming.request, "MCP-Protocol-Version");
  const auto revision = version ? revision_of(*version) : std::nullopt;
  if (incoming.request.count("Mcp-Session-Id") == 0 && revision && is_stateless(*revision)) {
    incoming.headers.emplace_back("Allow", "POST");
    return incoming.refuse(405, "This protocol version has no sessions to end");
  }
  if (!session_of(incoming, {})) return;
  sessions_.end(*trimmed_header(incoming.request, "Mcp-Session-Id"), incoming.caller);
  incoming.answer(204);
}

std::size_t HttpEndpoint::listeners() const {
  return listening_ + sessions_.open_general_streams();
}

void HttpEndpoint::end_of_input() {
  is_closing_ = true;
  sessions_.end_of_input();
  for (const auto& one : std::vector(running_.begin(), running_.end())) {
    one->peer->end_listening();
    one->peer->end_of_input();
  }
}

bool HttpEndpoint::has_work() const {
  return !sessions_.is_idle() ||
         std::ranges::any_of(running_, [](const auto& one) { return one->peer->running() > 0; });
}

void HttpEndpoint::close() {
  is_closing_ = true;
  sessions_.end_all();
  for (const auto& one : std::vector(running_.begin(), running_.end())) {
    one->peer->close();
    one->answer->end();
  }
}

}  // namespace sb::mcp
