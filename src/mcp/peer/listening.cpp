// Change notifications: on the session's general stream, and to listeners of the stateless era.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "mcp/limits.hpp"
#include "mcp/peer/peer_parts.hpp"
#include "mcp/peer/requests.hpp"

namespace sb::mcp {

namespace {

using net::rpc::kInvalidParams;

struct ListKind {
  std::string_view what;    // for Service::fingerprint
  std::string_view filter;  // in subscriptions/listen
  std::string_view method;
};
constexpr std::array kLists{
    ListKind{Service::kToolList, "toolsListChanged", "notifications/tools/list_changed"},
    ListKind{Service::kResourceList, "resourcesListChanged", "notifications/resources/list_changed"},
    ListKind{Service::kPromptList, "promptsListChanged", "notifications/prompts/list_changed"},
};

bool has_list(const ListKind& list, const ServerFacts& facts) {
  if (list.what == Service::kResourceList) return facts.has_resources;
  return list.what != Service::kPromptList || facts.has_prompts;
}

Value change_of(const std::string& what, Value params) {
  for (const ListKind& list : kLists)
    if (list.what == what) return net::rpc_notification(list.method, std::move(params));
  params.set("uri", what);
  return net::rpc_notification("notifications/resources/updated", std::move(params));
}

// The parts of a filter that this server supports, or an error if it is invalid.
std::variant<Value, RpcError> accepted_filter(const Value& params, const ServerFacts& facts) {
  const Value* wanted = params.find("notifications");
  if (wanted == nullptr || !wanted->is_object())
    return RpcError{kInvalidParams, "params.notifications must be an object"};
  Value filter = Value::object();
  for (const ListKind& list : kLists) {
    const Value* flag = wanted->find(list.filter);
    if (flag == nullptr) continue;
    if (!flag->is_bool())
      return RpcError{kInvalidParams, fmt::format("params.notifications.{} must be true or false", list.filter)};
    if (flag->as_bool() && has_list(list, facts)) filter.set(list.filter, true);
  }
  const Value* uris = wanted->find("resourceSubscriptions");
  if (uris == nullptr) return filter;
  if (!uris->is_array()) return RpcError{kInvalidParams, "params.notifications.resourceSubscriptions must be an array"};
  if (uris->size() > limits::kSubscriptions)
    return RpcError{kInvalidParams, fmt::format("params.notifications.resourceSubscriptions has more than {} resources",
                                                limits::kSubscriptions)};
  for (const Value& uri : uris->items())
    if (!uri.is_string())
      return RpcError{kInvalidParams, "params.notifications.resourceSubscriptions must contain strings"};
  if (facts.has_resources) filter.set("resourceSubscriptions", *uris);
  return filter;
}

std::vector<std::string> watched_items(const Value& filter) {
  std::vector<std::string> what;
  for (const ListKind& list : kLists)
    if (filter.find(list.filter) != nullptr) what.emplace_back(list.what);
  if (const Value* uris = filter.find("resourceSubscriptions"))
    for (const Value& uri : uris->items()) what.push_back(uri.as_string());
  return what;
}

bool is_list(std::string_view what) {
  return what == Service::kToolList || what == Service::kResourceList || what == Service::kPromptList;
}

Value subscription_meta(const Value& id) {
  return Value::object({{std::string(kMetaSubscription), id}});
}

}  // namespace

bool Peer::Parts::take_fingerprints(std::vector<std::string> what,
                                    std::function<void(Parts&, ChangeWatcher::Fingerprints)> done) {
  return shared.workers.run(
      [keep = self.shared_from_this(), what = std::move(what), done = std::move(done)](Service& service) mutable {
        ChangeWatcher::Fingerprints seen;
        try {
          for (const std::string& each : what)
            if (is_list(each) || service.has_resource(each)) seen[each] = service.fingerprint(each);
        } catch (const std::exception&) {  // what could not be read is not watched
        }
        net::Scheduler& scheduler = keep->parts_->shared.scheduler;
        scheduler.post([keep = std::move(keep), done = std::move(done), seen = std::move(seen)]() mutable {
          if (!keep->parts_->is_closed) done(*keep->parts_, std::move(seen));
        });
      });
}

// Watches the session's lists, as soon as there is a session and a stream to send to.
void Peer::Parts::watch_lists() {
  if (!is_initialized || !general || is_watching_lists) return;
  std::vector<std::string> what;
  for (const ListKind& list : kLists)
    if (has_list(list, shared.facts)) what.emplace_back(list.what);
  is_watching_lists = take_fingerprints(std::move(what), [](Parts& parts, ChangeWatcher::Fingerprints seen) {
    parts.lists =
        parts.shared.watch.add(std::move(seen), [weak = parts.self.weak_from_this()](const std::string& changed) {
          const auto peer = weak.lock();
          if (peer && peer->parts_->general) peer->parts_->general->send(change_of(changed, Value::object()));
        });
  });
}

void Peer::Parts::subscribe(const net::RpcRequest& request, const ReplyPathPtr& reply) {
  const auto refuse = [&](const RpcError& error) { reply_error(reply, request.id, error); };
  const auto uri = request.params.string_at("uri");
  if (!uri) return refuse({kInvalidParams, "params.uri must be the URI of a resource"});
  if (subscriptions.size() >= limits::kSubscriptions && !subscriptions.contains(*uri))
    return refuse({kInvalidParams, fmt::format("already subscribed to {} resources", limits::kSubscriptions)});
  const auto done = [uri = *uri, id = request.id, reply](Parts& parts, ChangeWatcher::Fingerprints seen) {
    if (seen.empty())
      return reply_error(reply, id,
                         {code::kResourceNotFound, fmt::format("Resource {} not found.", quote_json(uri)),
                          Value::object({{"uri", uri}})});
    parts.subscriptions[uri] =
        parts.shared.watch.add(std::move(seen), [weak = parts.self.weak_from_this()](const std::string& changed) {
          const auto peer = weak.lock();
          if (peer && peer->parts_->general) peer->parts_->general->send(change_of(changed, Value::object()));
        });
    reply_result(reply, id, Value::object());
  };
  if (!take_fingerprints({*uri}, done)) refuse({net::rpc::kInternalError, "The server is busy; try again in a moment"});
}

void Peer::Parts::unsubscribe(const net::RpcRequest& request, const ReplyPathPtr& reply) {
  const auto uri = request.params.string_at("uri");
  if (!uri) return reply_error(reply, request.id, {kInvalidParams, "params.uri must be the URI of a resource"});
  subscriptions.erase(*uri);
  reply_result(reply, request.id, Value::object());
}

void Peer::Parts::listen(const net::RpcRequest& request, const ReplyPathPtr& reply) {
  auto filter = accepted_filter(request.params, shared.facts);
  if (const auto* error = std::get_if<RpcError>(&filter)) return reply_error(reply, request.id, *error);
  const std::uint64_t number = ++last_number;
  listeners[to_json(request.id)] = {number, request.id, reply, nullptr};
  const Value& wanted = std::get<Value>(filter);
  const auto done = [number, wanted](Parts& parts, ChangeWatcher::Fingerprints seen) {
    parts.acknowledge(number, wanted, std::move(seen));
  };
  if (take_fingerprints(watched_items(wanted), done)) return;
  listeners.erase(to_json(request.id));
  reply_error(reply, request.id, {net::rpc::kInternalError, "The server is busy; try again in a moment"});
}

// The first message of a stream says what it will carry; changes may be reported only after it.
void Peer::Parts::acknowledge(std::uint64_t number, const Value& filter, ChangeWatcher::Fingerprints seen) {
  const auto found = std::ranges::find_if(listeners, [&](const auto& entry) { return entry.second.number == number; });
  if (found == listeners.end() || !found->second.reply) return;
  Listener& listener = found->second;
  Value agreed = filter;
  if (const Value* uris = filter.find("resourceSubscriptions")) {
    Value known = Value::array();
    for (const Value& uri : uris->items())
      if (seen.contains(uri.as_string())) known.push_back(uri);
    agreed.set("resourceSubscriptions", std::move(known));
  }
  const Value meta = subscription_meta(listener.id);
  listener.reply->send(net::rpc_notification("notifications/subscriptions/acknowledged",
                                             Value::object({{"_meta", meta}, {"notifications", std::move(agreed)}})));
  if (seen.empty()) return;
  listener.subscription =
      shared.watch.add(std::move(seen), [weak = std::weak_ptr(listener.reply), meta](const std::string& changed) {
        if (const auto reply = weak.lock()) reply->send(change_of(changed, Value::object({{"_meta", meta}})));
      });
}

void Peer::end_listening() {
  for (const auto& [key, listener] : std::exchange(parts_->listeners, {})) {
    Value result = Value::object({{"_meta", subscription_meta(listener.id)}});
    reply_result(listener.reply, listener.id,
                 with_era_members(std::move(result), Revision::k2026_07_28, parts_->shared.facts));
  }
}

}  // namespace sb::mcp
