#include "host/model_proxy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/model/exchange.hpp"
#include "agent/model/providers.hpp"
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

void ModelProxy::refuse(const Question& question, const ModelError& error) {
  respond(question.number, answer_of(error_on(question.wire, error)));
}

void ModelProxy::work(Question& question) {
  const auto should_continue = [&] { return !is_stopped_ && !*question.is_gone; };
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
  if (is_stopped_) return refuse(question, error_of(ModelError::Kind::kStopped, "the session has ended"));
  if (const auto refusal = parts_.driver.refusal(should_continue)) return refuse(question, *refusal);
  if (const auto final_reply = parts_.driver.final_reply()) {
    const auto wire_reply = agent::reply_on(question.wire, question.read, *final_reply, "farewell");
    return respond(question.number,
                   {.status = 200, .headers = {{"Content-Type", wire_reply.content_type}}, .body = wire_reply.body});
  }
  ProxiedExchange exchange;
  const TimestampMs began = parts_.seams.clock.now_ms();
  exchange.request = question.body;
  exchange.ms = -began;
  if (parts_.upstream.is_scripted()) {
    answer_scripted(question, exchange);
  } else {
    forward(question, exchange);
  }
}

void ModelProxy::answer_scripted(const Question& question, ProxiedExchange& exchange) {
  auto request = agent::request_from(question.wire, question.read);
  if (!request) return refuse(question, ModelError{ModelError::Kind::kRequest, request.error(), {}});
  const auto reply = parts_.driver.reply(std::move(*request));
  exchange.ms += parts_.seams.clock.now_ms();
  if (!reply) {
    exchange.failure = reply.error();
    (void)parts_.driver.record_exchange(exchange);
    return refuse(question, reply.error());
  }
  const auto wire_reply =
      agent::reply_on(question.wire, question.read, *reply, fmt::format("{}", sha256_hex(question.body).substr(0, 16)));
  exchange.reply = wire_reply.body;
  exchange.model = reply->model;
  exchange.usage = reply->usage;
  exchange.stop = reply->stop;
  exchange.mark = reply->mark;
  if (const auto kept = parts_.driver.record_exchange(exchange); !kept) {
    return refuse(question, ModelError{ModelError::Kind::kStopped, kept.error(), {}});
  }
  respond(question.number,
          {.status = 200, .headers = {{"Content-Type", wire_reply.content_type}}, .body = wire_reply.body});
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

void ModelProxy::forward(const Question& question, ProxiedExchange& exchange) {
  net::ClientRequest request = upstream_request(question);
  const auto key = agent::secret_of(parts_.upstream.key, parts_.seams);
  // What is reported to the program and the log.
  const auto fail_with = [&](ModelError error) {
    if (key) error.error.message = agent::without_key(std::move(error.error.message), *key);
    exchange.ms += parts_.seams.clock.now_ms();
    exchange.failure = error;
    (void)parts_.driver.record_exchange(exchange);
    return error;
  };
  auto body = upstream_body(question);
  if (!key || !body) {
    return refuse(question, fail_with({ModelError::Kind::kAuth, key ? body.error() : key.error(), {}}));
  }
  exchange.request = *body;
  request.body = std::move(*body);
  for (auto& header : agent::key_headers(*parts_.upstream.provider, *key)) request.headers.push_back(std::move(header));
  const bool is_stream = agent::wants_stream(question.read);
  agent::ReplyMeter meter(question.wire);
  bool has_begun = false;
  request.should_continue = [&] { return !is_stopped_ && !*question.is_gone; };
  if (is_stream) {
    request.on_piece = [&](std::string_view piece) {
      parts_.driver.note_activity();
      if (!has_begun) {
        on_exchange(question.number, false,
                    [](net::HttpExchange& it) { it.begin(200, {{"Content-Type", "text/event-stream"}}); });
      }
      has_begun = true;
      meter.feed(piece);
      if (exchange.reply.size() < kReplyBytes) exchange.reply += piece;
      on_exchange(question.number, false, [copy = std::string(piece), gone = question.is_gone](net::HttpExchange& it) {
        if (!it.send(copy)) *gone = true;
      });
      return !is_stopped_ && !*question.is_gone;
    };
  }
  const auto sent = parts_.http.send(request);
  parts_.driver.note_activity();
  if (!sent || sent->status / 100 != 2) {
    meter.finish();
    exchange.usage = meter.usage();
    exchange.model = meter.model();
    if (sent) exchange.reply = sent->body;
    const ModelError error = fail_with(sent ? agent::error_from_response(*sent, parts_.seams.clock.now_ms())
                                            : agent::error_from_transport(sent.error()));
    // A stream that has begun can only be cut off; its reader sees that the end is missing.
    if (has_begun) return on_exchange(question.number, true, [](net::HttpExchange&) {});
    return refuse(question, error);
  }
  if (!has_begun) {
    meter.feed(sent->body);
    exchange.reply = sent->body;
  }
  meter.finish();
  exchange.usage = meter.usage();
  exchange.model = meter.model().empty() ? parts_.upstream.model : meter.model();
  exchange.stop = meter.stop();
  const auto failure = question.path == kCount ? std::nullopt : meter.failure();
  if (failure) {
    const ModelError error = fail_with(*failure);
    if (!has_begun) return refuse(question, error);
    return on_exchange(question.number, true, [](net::HttpExchange& it) { it.end(); });
  }
  exchange.ms += parts_.seams.clock.now_ms();
  if (question.path != kCount) {
    if (const auto kept = parts_.driver.record_exchange(exchange); !kept) {
      if (has_begun) return on_exchange(question.number, true, [](net::HttpExchange&) {});
      return refuse(question, ModelError{ModelError::Kind::kStopped, kept.error(), {}});
    }
  }
  if (has_begun) return on_exchange(question.number, true, [](net::HttpExchange& it) { it.end(); });
  std::string type(sent->header("content-type"));
  respond(question.number, {.status = sent->status,
                            .headers = {{"Content-Type", type.empty() ? "application/json" : type}},
                            .body = sent->body});
}

}  // namespace sb::host
