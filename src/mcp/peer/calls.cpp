// Requests that run on a worker, and their results.
#include <fmt/format.h>

#include <exception>

#include "base/crypto.hpp"
#include "mcp/limits.hpp"
#include "mcp/peer/peer_parts.hpp"
#include "mcp/peer/requests.hpp"
#include "mcp/peer/shapes.hpp"

namespace sb::mcp {

namespace {

using net::rpc::kInternalError;
using net::rpc::kInvalidParams;

constexpr std::string_view kBusy = "The server is busy; try again in a moment";

// What a requestState is bound to: the same request by the same principal.
StateBinding binding_of(const net::RpcRequest& request, const std::string& principal) {
  const Value* arguments = request.params.find("arguments");
  const Value what = Value::object({{"method", request.method},
                                    {"name", request.params["name"]},
                                    {"uri", request.params["uri"]},
                                    {"arguments", arguments != nullptr ? *arguments : Value::object()}});
  return {principal, sha256_hex(to_canonical_json(what))};
}

// Nothing if the client declared that it supports this.
std::optional<RpcError> undeclared(const InputRequest& request, const ClientCapabilities& client) {
  const auto missing = [](Value capabilities) {
    return RpcError{code::kMissingClientCapability, "The client did not declare this capability",
                    Value::object({{"requiredCapabilities", std::move(capabilities)}})};
  };
  const Value some = Value::object();
  if (request.method == "elicitation/create") {
    const bool is_url = request.params.string_at("mode") == "url";
    if (is_url ? client.has_url_elicitation : client.has_form_elicitation) return std::nullopt;
    return missing(Value::object({{"elicitation", Value::object({{is_url ? "url" : "form", some}})}}));
  }
  if (request.method == "sampling/createMessage")
    return client.has_sampling ? std::nullopt : std::optional(missing(Value::object({{"sampling", some}})));
  if (request.method == "roots/list")
    return client.has_roots ? std::nullopt : std::optional(missing(Value::object({{"roots", some}})));
  return RpcError{net::rpc::kMethodNotFound, fmt::format("Clients do not support {}", request.method)};
}

bool add_failed(const InputRequired& ask, Call& call) {
  bool has_any = false;
  for (const InputRequest& request : ask.requests) {
    if (auto error = undeclared(request, call.client)) {
      call.inputs[request.key] = {Input::Kind::kFailed, {}, *std::move(error)};
      has_any = true;
    }
  }
  return has_any;
}

// The answers that a client of the stateless era sent.
std::optional<RpcError> read_inputs(const Value& params, RunningCall& running) {
  if (const Value* state = params.find("requestState")) {
    if (!state->is_string()) return RpcError{kInvalidParams, "params.requestState must be a string"};
    running.sealed_state = state->as_string();
  }
  const Value* responses = params.find("inputResponses");
  if (responses == nullptr) return std::nullopt;
  if (!responses->is_object()) return RpcError{kInvalidParams, "params.inputResponses must be an object"};
  for (const Value::Member& response : responses->members()) {
    if (!response.value.is_object())
      return RpcError{kInvalidParams, fmt::format("params.inputResponses.{} must be an object", response.name)};
    running.call.inputs[response.name] = {Input::Kind::kAnswered, response.value, {}};
  }
  return std::nullopt;
}

}  // namespace

HandlerResult run_handler(Service& service, const ServerFacts& facts, const net::RpcRequest& request, Call& call) try {
  for (std::size_t round = 0; round < limits::kAskRounds; ++round) {
    HandlerResult outcome = answer_request(service, facts, request.method, request.params, call);
    auto* ask = std::get_if<InputRequired>(&outcome);
    const auto* result = std::get_if<Value>(&outcome);
    if (result != nullptr && !result->is_object())
      return RpcError{kInternalError, "The server's result is not an object"};
    if (ask == nullptr || !add_failed(*ask, call)) return outcome;
    call.state = std::move(ask->state);
  }
  return RpcError{kInternalError, "The server repeated the same question too often"};
} catch (const std::exception& fault) {
  return RpcError{kInternalError, fmt::format("The server failed: {}", fault.what())};
}

// What a handler sends while it runs goes through the loop's thread, before its result.
class Peer::Parts::Sink final : public CallSink {
 public:
  Sink(std::weak_ptr<Peer> peer, net::Scheduler& scheduler, std::uint64_t number)
      : peer_(std::move(peer)), scheduler_(scheduler), number_(number) {}

  void progress(double progress, std::optional<double> total, std::string message) override {
    post([=, number = number_](Parts& parts) { parts.progress(number, progress, total, message); });
  }
  void log(LogLevel level, std::string logger, Value data) override {
    post([=, number = number_](Parts& parts) { parts.log(number, level, logger, data); });
  }
  void close_stream() override {
    post([number = number_](Parts& parts) {
      const RunningCallPtr running = parts.find(number);
      if (running && running->reply) running->reply->close_stream();
    });
  }

 private:
  void post(std::function<void(Parts&)> work) {
    scheduler_.post([peer = peer_, work = std::move(work)] {
      if (const auto alive = peer.lock()) work(*alive->parts_);
    });
  }

  std::weak_ptr<Peer> peer_;
  net::Scheduler& scheduler_;
  std::uint64_t number_;
};

void Peer::Parts::start(const net::RpcRequest& request, Sender sender, const ReplyPathPtr& reply) {
  const auto running_call = std::make_shared<RunningCall>();
  RunningCall& starting = *running_call;
  starting.number = ++last_number;
  starting.reply = reply;
  starting.log_level = sender.log_level;
  starting.call.revision = sender.revision;
  starting.call.client = sender.capabilities;
  starting.call.client_name = std::move(sender.client_name);
  starting.call.caller = origin.current_caller ? origin.current_caller() : origin.caller;
  starting.call.is_cancelled = starting.cancelled;
  if (const Value* token = meta_of(request.params).find("progressToken")) {
    if (!token->is_string() && !token->is_integer())
      return reply_error(reply, request.id,
                         {kInvalidParams, "params._meta.progressToken must be a string or an integer"});
    starting.progress_token = *token;
  }
  if (is_stateless(sender.revision))
    if (const auto error = read_inputs(request.params, starting)) return reply_error(reply, request.id, *error);
  starting.request = std::make_shared<const net::RpcRequest>(request);
  running.emplace(starting.number, running_call);
  by_id.emplace(to_json(request.id), starting.number);
  work(running_call);
}

void Peer::Parts::work(const RunningCallPtr& running_call) {
  auto job = [keep = self.shared_from_this(), weak = self.weak_from_this(), number = running_call->number,
              request = running_call->request, call = running_call->call,
              sealed = std::exchange(running_call->sealed_state, std::nullopt)](Service& service) mutable {
    PeerShared& with = keep->parts_->shared;
    Sink sink(weak, with.scheduler, number);
    call.sink = &sink;
    HandlerResult outcome;
    Result<Value> state = call.state;
    if (sealed) state = with.states.take(*sealed, binding_of(*request, call.caller.principal));
    if (state) {
      call.state = *std::move(state);
      outcome = run_handler(service, with.facts, *request, call);
    } else {
      const bool is_ours = state.error().code != ErrorCode::kInvalid && state.error().code != ErrorCode::kConflict;
      outcome = RpcError{is_ours ? kInternalError : kInvalidParams, state.error().to_string()};
    }
    call.sink = nullptr;
    // Moved, so that a peer kept alive only by this work is destroyed on the loop's thread.
    with.scheduler.post(
        [keep = std::move(keep), number, outcome = std::move(outcome), call = std::move(call)]() mutable {
          keep->parts_->on_worker_done(number, std::move(outcome), std::move(call));
        });
  };
  if (!shared.workers.run(std::move(job))) finish(running_call, RpcError{kInternalError, std::string(kBusy)});
}

RunningCallPtr Peer::Parts::find(std::uint64_t number) const {
  const auto found = running.find(number);
  return found == running.end() ? nullptr : found->second;
}

void Peer::Parts::on_worker_done(std::uint64_t number, HandlerResult outcome, Call call) {
  const RunningCallPtr running_call = find(number);
  if (!running_call) return;
  running_call->call.inputs = std::move(call.inputs);
  running_call->call.state = std::move(call.state);
  if (running_call->request->method == "tools/call") shared.watch.check_soon();
  if (auto* ask = std::get_if<InputRequired>(&outcome)) {
    if (is_stateless(running_call->call.revision)) return show_input_required(running_call, std::move(*ask));
    return ask_client(running_call, std::move(*ask));
  }
  if (auto* error = std::get_if<RpcError>(&outcome)) return finish(running_call, std::move(*error));
  finish(running_call,
         with_era_members(std::get<Value>(std::move(outcome)), running_call->call.revision, shared.facts));
}

void Peer::Parts::finish(const RunningCallPtr& running_call, const std::variant<Value, RpcError>& outcome) {
  const Value& id = running_call->request->id;
  shared.scheduler.cancel(running_call->hold_timer);
  shared.scheduler.cancel(running_call->moot_timer);
  by_id.erase(to_json(id));
  running.erase(running_call->number);
  const ReplyPathPtr reply = std::move(running_call->reply);
  if (const auto* error = std::get_if<RpcError>(&outcome))
    reply_error(reply, id, *error);
  else
    reply_result(reply, id, std::get<Value>(outcome));
  notify_idle();
}

void Peer::Parts::show_input_required(const RunningCallPtr& running_call, InputRequired ask) {
  Value requests = Value::object();
  for (InputRequest& request : ask.requests) {
    Value shown = Value::object({{"method", request.method}});
    if (request.params.is_object())
      shown.set("params", adapted_question(std::move(request.params), running_call->call.revision));
    requests.set(request.key, std::move(shown));
  }
  Value result = Value::object({{"resultType", "input_required"}, {"inputRequests", std::move(requests)}});
  if (!ask.state.is_null() || !ask.bound_to.empty() || ask.requests.empty())
    result.set("requestState",
               shared.states.make(ask.state, ask.bound_to,
                                  binding_of(*running_call->request, running_call->call.caller.principal)));
  finish(running_call, with_era_members(std::move(result), running_call->call.revision, shared.facts));
}

void Peer::Parts::cancel(const RunningCallPtr& running_call) {
  if (!running_call || running_call->cancelled->exchange(true)) return;
  // Tells the handler that there is no answer, so that it can leave the question to other channels.
  if (running_call->ask) give_up(running_call, Unanswered::kWithdrawn);
  if (const ReplyPathPtr reply = std::move(running_call->reply)) reply->finish_silently();
}

void Peer::Parts::progress(std::uint64_t number, double progress, std::optional<double> total,
                           const std::string& message) {
  const RunningCallPtr running_call = find(number);
  if (!running_call || !running_call->reply || running_call->progress_token.is_null()) return;
  // Progress must increase; a handler that is called again starts over.
  if (running_call->last_progress && progress <= *running_call->last_progress) return;
  running_call->last_progress = progress;
  Value params = Value::object({{"progressToken", running_call->progress_token}, {"progress", progress}});
  if (total) params.set("total", *total);
  if (!message.empty() && running_call->call.revision >= Revision::k2025_03_26) params.set("message", message);
  running_call->reply->send(net::rpc_notification("notifications/progress", std::move(params)));
}

void Peer::Parts::log(std::uint64_t number, LogLevel level, const std::string& logger, const Value& data) {
  const RunningCallPtr running_call = find(number);
  if (!running_call || !running_call->reply || !shared.facts.has_logging) return;
  const bool is_of_stateless = is_stateless(running_call->call.revision);
  const std::optional<LogLevel> least = is_of_stateless ? running_call->log_level : std::optional(session_level);
  if (!least || level < *least) return;
  Value params = Value::object({{"level", name_of(level)}, {"data", data}});
  if (!logger.empty()) params.set("logger", logger);
  running_call->reply->send(net::rpc_notification("notifications/message", std::move(params)));
}

void Peer::Parts::notify_idle() {
  if (!running.empty() || background_jobs > 0) return;
  for (const auto& notify : std::exchange(idle, {})) notify();
}

}  // namespace sb::mcp
