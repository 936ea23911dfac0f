#include "mcp/peer/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mcp/limits.hpp"
#include "mcp/peer/peer_parts.hpp"
#include "mcp/peer/requests.hpp"
#include "mcp/peer/shapes.hpp"

namespace sb::mcp {

namespace {

using net::rpc::kInvalidParams;
using net::rpc::kInvalidRequest;
using net::rpc::kMethodNotFound;

constexpr std::int64_t kDiscoverLifeMs = 60'000;
constexpr std::size_t kClientNameBytes = 200;

// Methods that exist in only one era.
constexpr std::array<std::string_view, 2> kStatelessOnly{"server/discover", "subscriptions/listen"};
constexpr std::array<std::string_view, 5> kSessionOnly{"initialize", "ping", "logging/setLevel", "resources/subscribe",
                                                       "resources/unsubscribe"};

bool is_any(std::string_view method, std::span<const std::string_view> names) {
  return std::ranges::find(names, method) != names.end();
}

std::string client_name_in(const Value& info) {
  std::string name = info.string_at("name").value_or("");
  if (name.size() > kClientNameBytes) name.clear();
  return name;
}

RpcError no_method(std::string_view method) {
  return {kMethodNotFound, fmt::format("Method {} not found.", quote_json(method))};
}

// Besides those that are answered immediately, whatever the session's state.
bool has_method(std::string_view method, const ServerFacts& facts) {
  if (method == "resources/subscribe" || method == "resources/unsubscribe") return facts.has_resources;
  if (method == "logging/setLevel") return facts.has_logging;
  return method == "subscriptions/listen" || is_service_method(method, facts);
}

// The era of a request. A version in `_meta` decides; without one, only a method or a transport without sessions can.
bool is_stateless_request(const net::RpcRequest& request, const PeerOrigin& origin) {
  if (origin.is_single_request || is_any(request.method, kStatelessOnly)) return true;
  const Value& meta = meta_of(request.params);
  return meta.find(kMetaVersion) != nullptr || meta.find(kMetaCapabilities) != nullptr;
}

std::variant<Sender, RpcError> stateless_sender(const Value& params) {
  const Value* meta = params.find("_meta");
  if (meta == nullptr || !meta->is_object())
    return RpcError{kInvalidParams,
                    fmt::format("params._meta must be an object with {} and {}", kMetaVersion, kMetaCapabilities)};
  const auto version = meta->string_at(kMetaVersion);
  if (!version) return RpcError{kInvalidParams, fmt::format("params._meta[\"{}\"] must be a string", kMetaVersion)};
  const auto revision = revision_of(*version);
  if (!revision || !is_stateless(*revision))
    return RpcError{code::kUnsupportedVersion,
                    fmt::format("Protocol version {} is not supported", quote_json(*version)),
                    Value::object({{"requested", *version}, {"supported", stateless_versions()}})};
  const Value* capabilities = meta->find(kMetaCapabilities);
  if (capabilities == nullptr || !capabilities->is_object())
    return RpcError{kInvalidParams, fmt::format("params._meta[\"{}\"] must be an object", kMetaCapabilities)};
  const Value* info = meta->find(kMetaClient);
  if (info != nullptr && !info->is_object())
    return RpcError{kInvalidParams, fmt::format("params._meta[\"{}\"] must be an object", kMetaClient)};
  Sender sender{*revision, ClientCapabilities::of(*capabilities, *revision),
                info != nullptr ? client_name_in(*info) : "", std::nullopt};
  if (const Value* level = meta->find(kMetaLogLevel)) {
    sender.log_level = level->is_string() ? log_level_of(level->as_string()) : std::nullopt;
    if (!sender.log_level)
      return RpcError{kInvalidParams, fmt::format("params._meta[\"{}\"] must be a level, e.g. info", kMetaLogLevel)};
  }
  return sender;
}

// Collects the responses to a batch's requests and sends them as one.
struct BatchReplies {
  ReplyPathPtr out;
  std::size_t missing = 0;
  Value responses = Value::array();

  void done() {
    if (--missing > 0 || !out) return;
    if (responses.size() == 0)
      out->finish_silently();
    else
      out->finish(responses);
  }
};

class BatchPath final : public ReplyPath {
 public:
  explicit BatchPath(std::shared_ptr<BatchReplies> replies) : replies_(std::move(replies)) {}
  void send(const Value& message) override {
    if (replies_->out) replies_->out->send(message);
  }
  void finish(const Value& response) override {
    replies_->responses.push_back(response);
    replies_->done();
  }
  void finish_silently() override { replies_->done(); }
  void close_stream() override {
    if (replies_->out) replies_->out->close_stream();
  }

 private:
  std::shared_ptr<BatchReplies> replies_;
};

bool is_answered(const net::RpcMessage& message) {
  return std::holds_alternative<net::RpcRequest>(message) || std::holds_alternative<net::Malformed>(message);
}

}  // namespace

const Value& meta_of(const Value& params) {
  static const Value kNone = Value::object();
  const Value* meta = params.find("_meta");
  return meta != nullptr && meta->is_object() ? *meta : kNone;
}

void reply_result(const ReplyPathPtr& reply, const Value& id, Value result) {
  if (reply) reply->finish(net::rpc_result(id, std::move(result)));
}

void reply_error(const ReplyPathPtr& reply, const Value& id, const RpcError& error) {
  if (reply) reply->finish(net::rpc_error(id, error));
}

Peer::Peer(PeerShared& shared, PeerOrigin origin) : parts_(std::make_unique<Parts>(*this, shared, std::move(origin))) {
  parts_->question_prefix = fmt::format("sb-{}-", to_base32(shared.random.bytes(5)));
}

Peer::~Peer() = default;

void Peer::receive(const net::RpcRead& read, ReplyPathPtr reply) {
  if (!read.is_batch) {
    for (const net::RpcMessage& message : read.messages) parts_->receive(message, reply, false);
    return;
  }
  if (!parts_->is_initialized || !has_batches(parts_->session.revision)) {
    const std::string_view revision = name_of(parts_->session.revision);
    reply_error(reply, Value(),
                {kInvalidRequest, fmt::format("{} has no batches; send each message separately", revision)});
    return;
  }
  const auto replies = std::make_shared<BatchReplies>();
  replies->out = std::move(reply);
  replies->missing = static_cast<std::size_t>(std::ranges::count_if(read.messages, is_answered));
  const auto path = std::make_shared<BatchPath>(replies);
  for (const net::RpcMessage& message : read.messages) parts_->receive(message, path, true);
}

void Peer::Parts::receive(const net::RpcMessage& message, const ReplyPathPtr& reply, bool is_in_batch) {
  if (const auto* asked_for = std::get_if<net::RpcRequest>(&message)) return request(*asked_for, reply, is_in_batch);
  if (const auto* note = std::get_if<net::RpcNotification>(&message)) return notification(*note);
  if (const auto* response = std::get_if<net::RpcResponse>(&message)) return answer_from_client(*response);
  const auto& malformed = std::get<net::Malformed>(message);
  reply_error(reply, malformed.id, malformed.error);
}

bool Peer::Parts::is_id_in_use(const Value& id) const {
  const std::string key = to_json(id);
  return by_id.contains(key) || listeners.contains(key);
}

void Peer::Parts::request(const net::RpcRequest& request, const ReplyPathPtr& reply, bool is_in_batch) {
  const auto refuse = [&](const RpcError& error) { reply_error(reply, request.id, error); };
  if (is_closed) return refuse({kInvalidRequest, "The session has ended"});
  const bool is_of_stateless = is_stateless_request(request, origin);
  if (is_in_batch && (is_of_stateless || request.method == "initialize"))
    return refuse({kInvalidRequest, "Not allowed in a batch; send it separately"});
  if (is_id_in_use(request.id))
    return refuse({kInvalidRequest, fmt::format("The id {} is used by a running request", to_json(request.id))});
  if (const Value* meta = request.params.find("_meta"); meta != nullptr && !meta->is_object())
    return refuse({kInvalidParams, "params._meta must be an object"});

  Sender sender = session;
  if (is_of_stateless) {
    auto read = stateless_sender(request.params);
    if (const auto* error = std::get_if<RpcError>(&read)) return refuse(*error);
    sender = std::get<Sender>(std::move(read));
  }
  const bool is_elsewhere = is_of_stateless && is_any(request.method, kSessionOnly);
  if (!is_elsewhere) {
    if (auto answer = answer_immediately(request, sender, is_of_stateless)) {
      if (const auto* error = std::get_if<RpcError>(&*answer)) return refuse(*error);
      reply_result(reply, request.id,
                   with_era_members(std::get<Value>(std::move(*answer)), sender.revision, shared.facts));
      if (request.method == "initialize") watch_lists();
      return;
    }
  }
  if (is_elsewhere || !has_method(request.method, shared.facts)) return refuse(no_method(request.method));
  if (!is_of_stateless && !is_initialized)
    return refuse({kInvalidRequest, "No open session: send initialize first, or a protocol version in _meta"});
  if (running.size() + listeners.size() + background_jobs >= limits::kCallsAtOnce)
    return refuse({net::rpc::kInternalError,
                   fmt::format("{} requests are already running; wait for one to end", limits::kCallsAtOnce)});
  if (request.method == "resources/subscribe") return subscribe(request, reply);
  if (request.method == "resources/unsubscribe") return unsubscribe(request, reply);
  if (request.method == "subscriptions/listen") return listen(request, reply);
  start(request, std::move(sender), reply);
}

std::optional<std::variant<Value, RpcError>> Peer::Parts::answer_immediately(const net::RpcRequest& request,
                                                                             const Sender& sender,
                                                                             bool is_stateless_request) {
  if (request.method == "server/discover") {
    Value result = Value::object({{"supportedVersions", stateless_versions()},
                                  {"capabilities", capabilities_of(shared.facts, sender.revision)},
                                  {"ttlMs", kDiscoverLifeMs},
                                  {"cacheScope", "private"}});
    if (!shared.facts.instructions.empty()) result.set("instructions", shared.facts.instructions);
    return result;
  }
  if (is_stateless_request) return std::nullopt;
  if (request.method == "ping") return Value::object();
  if (request.method == "initialize") {
    RpcError error;
    auto result = initialize(request.params, error);
    if (!result) return error;
    return *std::move(result);
  }
  if (request.method == "logging/setLevel" && shared.facts.has_logging && is_initialized) {
    const auto level = request.params.string_at("level");
    const auto known = level ? log_level_of(*level) : std::nullopt;
    if (!known)
      return RpcError{kInvalidParams,
                      "params.level must be debug, info, notice, warning, error, critical, alert or emergency"};
    session_level = *known;
    return Value::object();
  }
  return std::nullopt;
}

std::optional<Value> Peer::Parts::initialize(const Value& params, RpcError& error) {
  if (is_initialized) {
    error = {kInvalidRequest, "The session is already open"};
    return std::nullopt;
  }
  const auto wanted = params.string_at("protocolVersion");
  const Value* capabilities = params.find("capabilities");
  if (!wanted || (capabilities != nullptr && !capabilities->is_object())) {
    error = {kInvalidParams, "params must have protocolVersion, a string, and capabilities, an object"};
    return std::nullopt;
  }
  session.revision = negotiate(*wanted);
  session.capabilities = ClientCapabilities::of(params["capabilities"], session.revision);
  session.client_name = client_name_in(params["clientInfo"]);
  is_initialized = true;
  Value result = Value::object({{"protocolVersion", name_of(session.revision)},
                                {"capabilities", capabilities_of(shared.facts, session.revision)},
                                {"serverInfo", adapted_info(shared.facts.info, session.revision)}});
  if (!shared.facts.instructions.empty()) result.set("instructions", shared.facts.instructions);
  return result;
}

void Peer::Parts::notification(const net::RpcNotification& notification) {
  if (notification.method != "notifications/cancelled") return;
  const Value* id = notification.params.find("requestId");
  if (id == nullptr) return;
  const std::string key = to_json(*id);
  if (const auto found = by_id.find(key); found != by_id.end()) return cancel(find(found->second));
  if (const auto found = listeners.find(key); found != listeners.end()) {
    const ReplyPathPtr reply = found->second.reply;
    listeners.erase(found);
    if (reply) reply->finish_silently();
  }
}

void Peer::set_general(ReplyPathPtr general) {
  parts_->general = std::move(general);
  parts_->watch_lists();
}

void Peer::end_of_input() {
  parts_->can_ask = false;
  for (const auto& [number, running] : std::map(parts_->running))
    if (running->ask) parts_->give_up(running, Parts::Unanswered::kWithdrawn);
}

void Peer::close() {
  if (parts_->is_closed) return;
  const auto keep = shared_from_this();
  parts_->is_closed = true;
  parts_->can_ask = false;
  parts_->general.reset();
  parts_->lists.reset();
  parts_->subscriptions.clear();
  parts_->late.clear();
  cancel_all();
}

void Peer::cancel_all() {
  for (const auto& [number, running] : std::map(parts_->running)) parts_->cancel(running);
  for (const auto& [key, listener] : std::exchange(parts_->listeners, {}))
    if (listener.reply) listener.reply->finish_silently();
}

bool Peer::is_initialized() const {
  return parts_->is_initialized;
}

Revision Peer::revision() const {
  return parts_->session.revision;
}

std::size_t Peer::running() const {
  return parts_->running.size() + parts_->background_jobs;
}

void Peer::when_idle(std::function<void()> idle) {
  parts_->idle.push_back(std::move(idle));
  parts_->notify_idle();
}

Value Peer::saved() const {
  const Sender& session = parts_->session;
  const ClientCapabilities& can = session.capabilities;
  return Value::object({{"version", name_of(session.revision)},
                        {"client", session.client_name},
                        {"form", can.has_form_elicitation},
                        {"url", can.has_url_elicitation},
                        {"sampling", can.has_sampling},
                        {"roots", can.has_roots}});
}

bool Peer::restore(const Value& saved) {
  const auto revision = revision_of(saved.string_at("version").value_or(""));
  if (!revision || is_stateless(*revision) || parts_->is_initialized) return false;
  const auto flag = [&](std::string_view name) { return saved[name] == Value(true); };
  parts_->session.revision = *revision;
  parts_->session.client_name = saved.string_at("client").value_or("");
  parts_->session.capabilities = {flag("form"), flag("url"), flag("sampling"), flag("roots")};
  parts_->is_initialized = true;
  parts_->watch_lists();
  return true;
}

}  // namespace sb::mcp
