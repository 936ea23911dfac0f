#include "host/model_proxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/loop/reply_check.hpp"
#include "agent/model/exchange.hpp"
#include "agent/model/providers.hpp"
#include "agent/programs/reply_blocks.hpp"
#include "agent/secrets/secret_value.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "mcp/http/gate.hpp"
#include "net/limits.hpp"

namespace sb::host {
namespace {

using agent::ModelError;
using agent::ProxiedExchange;
using agent::Wire;

constexpr std::size_t kProxyThreads = 8;
constexpr std::size_t kWaitingQuestions = 64;
constexpr std::size_t kReplyBytes = 64u << 20;
constexpr std::int64_t kWholeMs = 3'600'000;
constexpr std::int64_t kKeepAliveMs = 5'000;  // between comments while a reply is withheld
constexpr std::string_view kBelow = "/model";
constexpr std::string_view kCount = "/v1/messages/count_tokens";
constexpr std::int64_t kBytesPerToken = 4;  // an estimate
constexpr JsonBounds kBounds{.bytes = net::limits::kMessageBytes, .depth = net::limits::kMessageDepth};

Wire guess_wire(std::string_view path) {
  if (path.find("messages") != std::string_view::npos) return Wire::kMessages;
  return agent::wire_of(path).value_or(Wire::kResponses);
}

bool speaks(const agent::ModelSettings& upstream, Wire wire) {
  return upstream.is_scripted() || upstream.provider->api == agent::api_of(wire);
}

ModelError error_of(ModelError::Kind kind, std::string message, std::string remedy = {}) {
  return {kind, {ErrorCode::kInvalid, std::move(message), std::move(remedy), {}}, {}};
}

net::HttpResponse answer_of(const agent::WireError& error) {
  net::HttpResponse answer{
      .status = error.status, .headers = {{"Content-Type", "application/json"}}, .body = error.body};
  if (error.retry_after_s) answer.headers.emplace_back("Retry-After", std::to_string(*error.retry_after_s));
  return answer;
}

// The settings give an address with or without /v1.
std::string upstream_base(const agent::ModelSettings& upstream) {
  std::string base(agent::base_url(upstream));
  while (base.ends_with('/')) base.pop_back();
  if (base.ends_with("/v1")) base.resize(base.size() - 3);
  return base;
}

void read_reply(Wire wire, ProxiedExchange& exchange) {
  agent::ReplyBlocks read = agent::reply_blocks(wire, exchange.reply);
  exchange.content = std::move(read.blocks);
  exchange.is_malformed = read.is_malformed;
}

}  // namespace

ModelProxy::ModelProxy(net::EventLoop& loop, ProxyParts parts)
    : loop_(loop),
      parts_(std::move(parts)),
      workers_([] { return std::make_unique<NoState>(); }, kProxyThreads, kWaitingQuestions) {}

bool ModelProxy::has_token(const net::HttpRequest& request) const {
  const auto bearer = mcp::bearer_token(request);
  const auto key = request.header("x-api-key");
  if (bearer) return constant_time_equal(*bearer, parts_.token);
  return key && constant_time_equal(*key, parts_.token);
}

void ModelProxy::handle(net::HttpRequest request, const net::ExchangePtr& exchange) {
  if (!request.path.starts_with(kBelow)) {
    return exchange->respond({.status = 404, .headers = {{"Content-Type", "text/plain"}}, .body = "Not found\n"});
  }
  Question question;
  question.path = request.path.substr(kBelow.size());
  question.wire = guess_wire(question.path);
  const auto refused = [&](const ModelError& error) { exchange->respond(answer_of(error_on(question.wire, error))); };
  if (!has_token(request)) return refused(error_of(ModelError::Kind::kAuth, "invalid key"));
  parts_.driver.note_activity();
  if (request.method == "GET" && question.path == "/v1/models") {
    const Value model = Value::object({{"id", parts_.upstream.model}, {"object", "model"}, {"type", "model"}});
    const Value list = Value::object({{"object", "list"}, {"data", Value(Value::Array{model})}});
    return exchange->respond({.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = to_json(list)});
  }
  const bool is_known = agent::wire_of(question.path).has_value() || question.path == kCount;
  if (request.method != "POST" || !is_known || !speaks(parts_.upstream, question.wire)) {
    exchange->respond({.status = 404,
                       .headers = {{"Content-Type", "application/json"}},
                       .body = error_on(question.wire, error_of(ModelError::Kind::kRequest, "unsupported path")).body});
    return;
  }
  question.query = std::move(request.query);
  question.body = std::move(request.body);
  question.headers = std::move(request.headers);
  question.number = ++last_;
  exchange->on_disconnect([gone = question.is_gone] { *gone = true; });
  waiting_->emplace(question.number, exchange);
  const std::uint64_t number = question.number;
  const bool is_taken =
      workers_.run([this, shared = std::make_shared<Question>(std::move(question))](NoState&) { work(*shared); });
  if (is_taken) return;
  waiting_->erase(number);
  refused(error_of(ModelError::Kind::kOverloaded, "too many model requests are waiting"));
}

void ModelProxy::on_exchange(std::uint64_t number, bool is_last, std::function<void(net::HttpExchange&)> act) {
  loop_.post([waiting = std::weak_ptr(waiting_), number, is_last, act = std::move(act)] {
    const auto all = waiting.lock();
    if (!all) return;
    const auto found = all->find(number);
    if (found == all->end()) return;
    act(*found->second);
    if (is_last) all->erase(found);
  });
}

void ModelProxy::respond(std::uint64_t number, net::HttpResponse answer) {
  on_exchange(number, true, [answer = std::make_shared<net::HttpResponse>(std::move(answer))](net::HttpExchange& it) {
    it.respond(std::move(*answer));
  });
}

// A stream that has begun can only be cut off; its reader sees that the end is missing.
void ModelProxy::refuse(const Question& question, const ModelError& error) {
  if (question.has_begun) return on_exchange(question.number, true, [](net::HttpExchange&) {});
  respond(question.number, answer_of(error_on(question.wire, error)));
}

void ModelProxy::send(const Question& question, std::string piece, bool is_last) {
  on_exchange(question.number, is_last,
              [piece = std::move(piece), is_last, gone = question.is_gone](net::HttpExchange& it) {
                if (!piece.empty() && !it.send(piece)) *gone = true;
                if (is_last) it.end();
              });
}

void ModelProxy::deliver(const Question& question, net::HttpResponse answer) {
  if (question.has_begun) return send(question, std::move(answer.body), true);
  respond(question.number, std::move(answer));
}

void ModelProxy::work(Question& question) {
  auto read = parse_json(question.body, kBounds);
  if (!read || !read->is_object()) {
    return refuse(question, error_of(ModelError::Kind::kRequest, "the request is not a JSON object"));
  }
  question.read = std::move(*read);
  if (question.path == kCount && parts_.upstream.is_scripted()) {
    const auto guess = static_cast<std::int64_t>(question.body.size()) / kBytesPerToken;
    return respond(question.number, {.status = 200,
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = to_json(Value::object({{"input_tokens", guess}}))});
  }
  answer(question);
}

void ModelProxy::answer(Question& question) {
  const auto should_continue = [&] { return !is_stopped_ && !*question.is_gone; };
  // Requests without tools are the program's own, such as for a title: no turn of the agent ends with them.
  const bool is_turn =
      question.path != kCount && question.read["tools"].is_array() && question.read["tools"].size() > 0;
  const auto results = agent::tool_results(question.wire, question.read);
  for (int attempt = 1;; ++attempt) {
    if (!should_continue()) return refuse(question, error_of(ModelError::Kind::kStopped, "the session has ended"));
    if (const auto refusal = parts_.driver.refusal(should_continue)) return refuse(question, *refusal);
    if (const auto final_reply = parts_.driver.final_reply()) {
      const auto wire_reply = agent::reply_on(question.wire, question.read, *final_reply, "farewell");
      return deliver(question,
                     {.status = 200, .headers = {{"Content-Type", wire_reply.content_type}}, .body = wire_reply.body});
    }
    ProxiedExchange exchange;
    exchange.request = question.body;
    exchange.results = results;
    exchange.ms = -parts_.seams.clock.now_ms();
    exchange.attempt = attempt;
    if (is_turn) exchange.final_text.emplace();
    const bool is_discarded =
        parts_.upstream.is_scripted() ? answer_scripted(question, exchange) : forward(question, exchange);
    if (!is_discarded) return;
  }
}

bool ModelProxy::answer_scripted(Question& question, ProxiedExchange& exchange) {
  auto request = agent::request_from(question.wire, question.read);
  if (!request) return refuse(question, ModelError{ModelError::Kind::kRequest, request.error(), {}}), false;
  request->requester.attempt = exchange.attempt;
  const auto reply = parts_.driver.reply(std::move(*request));
  exchange.ms += parts_.seams.clock.now_ms();
  if (!reply) {
    exchange.failure = reply.error();
    (void)parts_.driver.record_exchange(exchange);
    return refuse(question, reply.error()), false;
  }
  const auto wire_reply =
      agent::reply_on(question.wire, question.read, *reply, fmt::format("{}", sha256_hex(question.body).substr(0, 16)));
  exchange.reply = wire_reply.body;
  read_reply(question.wire, exchange);
  exchange.model = reply->model;
  exchange.usage = reply->usage;
  exchange.stop = reply->stop;
  exchange.mark = reply->mark;
  if (exchange.final_text) exchange.final_text = agent::final_text(*reply);
  const auto is_discarded = parts_.driver.record_exchange(exchange);
  if (!is_discarded) {
    return refuse(question, ModelError{ModelError::Kind::kStopped, is_discarded.error(), {}}), false;
  }
  if (*is_discarded) return true;
  deliver(question, {.status = 200, .headers = {{"Content-Type", wire_reply.content_type}}, .body = wire_reply.body});
  return false;
}

Result<std::string> ModelProxy::upstream_body(const Question& question) const {
  const bool is_other_model = question.read.string_at("model") != parts_.upstream.model;
  const bool lacks_usage = question.wire == Wire::kChat && agent::wants_stream(question.read) &&
                           question.read.find("stream_options") == nullptr;
  if (!is_other_model && !lacks_usage) return question.body;
  Value body = question.read;
  body.set("model", parts_.upstream.model);
  if (lacks_usage) body.set("stream_options", Value::object({{"include_usage", true}}));
  return to_json(body);
}

net::ClientRequest ModelProxy::upstream_request(const Question& question) const {
  net::ClientRequest request;
  request.method = "POST";
  request.url = upstream_base(parts_.upstream) + question.path;
  if (question.query == "beta=true") request.url += "?beta=true";
  for (const auto& [name, value] : question.headers) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 32) : c; });
    const auto& passed = parts_.upstream.provider->program_headers;
    if (lower == "content-type" || lower == "accept" || std::ranges::find(passed, lower) != passed.end()) {
      request.headers.emplace_back(lower, value);
    }
  }
  request.max_bytes = kReplyBytes;
  request.idle_ms = parts_.driver.idle_timeout_ms();
  request.connect_ms = std::min(request.connect_ms, request.idle_ms);
  request.total_ms = kWholeMs;
  return request;
}

// A piece of a stream. What may have to be discarded is withheld; a comment now and then keeps the connection alive.
bool ModelProxy::pass_on(Question& question, std::string_view piece, agent::ReplyMeter& meter,
                         ProxiedExchange& exchange, std::string& withheld) {
  parts_.driver.note_activity();
  if (!question.has_begun) {
    on_exchange(question.number, false,
                [](net::HttpExchange& it) { it.begin(200, {{"Content-Type", "text/event-stream"}}); });
  }
  if (!std::exchange(question.has_begun, true)) question.sent_ms = parts_.seams.clock.now_ms();
  meter.feed(piece);
  if (exchange.reply.size() < kReplyBytes) exchange.reply += piece;
  withheld += piece;
  if (meter.has_call() || withheld.size() > kReplyBytes) exchange.final_text.reset();
  const TimestampMs now = parts_.seams.clock.now_ms();
  const bool is_withheld = exchange.final_text.has_value();
  if (!is_withheld || now - question.sent_ms >= kKeepAliveMs) {
    send(question, is_withheld ? ":\n\n" : std::exchange(withheld, {}), false);
    question.sent_ms = now;
  }
  return !is_stopped_ && !*question.is_gone;
}

bool ModelProxy::forward(Question& question, ProxiedExchange& exchange) {
  net::ClientRequest request = upstream_request(question);
  const auto key = agent::secret_of(parts_.upstream.key, parts_.seams);
  // What is reported to the program and the log.
  const auto record = [&](ModelError error) {
    if (key) error.error.message = agent::without_key(std::move(error.error.message), *key);
    exchange.ms += parts_.seams.clock.now_ms();
    exchange.failure = error;
    (void)parts_.driver.record_exchange(exchange);
    return error;
  };
  auto body = upstream_body(question);
  if (!key || !body) {
    return refuse(question, record({ModelError::Kind::kAuth, key ? body.error() : key.error(), {}})), false;
  }
  exchange.request = *body;
  request.body = std::move(*body);
  for (auto& header : agent::key_headers(*parts_.upstream.provider, *key)) request.headers.push_back(std::move(header));
  agent::ReplyMeter meter(question.wire);
  std::string withheld;
  bool is_streamed = false;
  request.should_continue = [&] { return !is_stopped_ && !*question.is_gone; };
  if (agent::wants_stream(question.read)) {
    request.on_piece = [&](std::string_view piece) {
      is_streamed = true;
      return pass_on(question, piece, meter, exchange, withheld);
    };
  }
  const auto sent = parts_.http.send(request);
  parts_.driver.note_activity();
  if (!sent || sent->status / 100 != 2) {
    meter.finish();
    exchange.usage = meter.usage();
    exchange.model = meter.model();
    if (sent) exchange.reply = sent->body;
    const ModelError error = record(sent ? agent::error_from_response(*sent, parts_.seams.clock.now_ms())
                                         : agent::error_from_transport(sent.error()));
    return refuse(question, error), false;
  }
  if (!is_streamed) {
    meter.feed(sent->body);
    exchange.reply = sent->body;
  }
  meter.finish();
  exchange.usage = meter.usage();
  exchange.model = meter.model().empty() ? parts_.upstream.model : meter.model();
  exchange.stop = meter.stop();
  const auto failure = question.path == kCount ? std::nullopt : meter.failure();
  if (failure) {
    const ModelError error = record(*failure);
    // The program sees the error that the provider sent in its stream.
    is_streamed ? send(question, std::move(withheld), true) : refuse(question, error);
    return false;
  }
  exchange.ms += parts_.seams.clock.now_ms();
  const bool ends_turn = exchange.final_text && !meter.has_call() && exchange.stop == agent::StopReason::kEndTurn;
  read_reply(question.wire, exchange);
  exchange.final_text = ends_turn ? agent::final_text({.content = exchange.content}) : std::nullopt;
  if (question.path != kCount) {
    const auto is_discarded = parts_.driver.record_exchange(exchange);
    if (!is_discarded) {
      return refuse(question, ModelError{ModelError::Kind::kStopped, is_discarded.error(), {}}), false;
    }
    if (*is_discarded) return true;
  }
  std::string type(sent->header("content-type"));
  deliver(question, {.status = sent->status,
                     .headers = {{"Content-Type", type.empty() ? "application/json" : type}},
                     .body = is_streamed ? std::move(withheld) : sent->body});
  return false;
}

}  // namespace sb::host
