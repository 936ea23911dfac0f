// One call on its way through a handler, and what the handler gives back. The same in both eras.
//
// A handler is written for the stateless era: it computes a result, or it says what it must know first (InputRequired)
// and ends. ScopeFilter the answers are there it is called again from its beginning, with the same parameters, the
// answers in `call.inputs` and its own `state`. So what it does before asking must be safe to do twice. In the
// stateless era the client carries answers and (sealed) state back; in the sessions' era the peer plays that part: it
// sends the requests to the client, waits at most limits::kHoldMs in all, and calls again.
//
//   HandlerResult approve(const Value& arguments, Call& call) {
//     const Input* answer = call.input("approval");
//     if (answer == nullptr) return InputRequired{.requests = {{"approval", "elicitation/create", params}}, .state =
//     …}; if (answer->kind != Input::Kind::kAnswered) return parked(); …
//
// An answer that comes after the call has given up waiting calls the handler once more (`is_late`); its result goes
// nowhere, what it stores counts.
//
// Threads: a handler runs on a worker; everything in Call may be used from there until the handler returns.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/document/value.hpp"
#include "mcp/peer/revision.hpp"
#include "net/json_rpc.hpp"

namespace sb::mcp {

using net::RpcError;

// What the client said it can do. Flags lie: nothing may hang on one being true.
struct ClientCapabilities {
  bool has_form_elicitation = false;
  bool has_url_elicitation = false;
  bool has_sampling = false;
  bool has_roots = false;

  // `elicitation: {}` means forms; in 2024-11-05 and 2025-03-26 there is no elicitation whatever is said.
  static ClientCapabilities of(const Value& capabilities, Revision revision);
};

// What came back for one request of an InputRequired.
struct Input {
  enum class Kind {
    kAnswered,   // `value`: the client's result, e.g. {action, content}; not checked against any schema
    kFailed,     // the client answered with an error, or cannot be asked so: `error`
    kUnanswered  // waited for long enough, or the call was cancelled
  } kind = Kind::kAnswered;
  Value value = {};
  RpcError error = {};
};

struct InputRequest {
  std::string key;     // unique in its InputRequired
  std::string method;  // elicitation/create, sampling/createMessage, roots/list
  Value params;
};

struct InputRequired {
  std::vector<InputRequest> requests;
  // Comes back as call.state. At most a few kilobytes: in the stateless era it travels through the client.
  Value state = {};
  // What the state belongs to besides the request itself, e.g. a workflow's session and a decision; sealed with it.
  std::string bound_to = {};
  // Sessions' era: called on a worker about once a second while waiting. True: no answer is needed any more, call the
  // handler again with what is there.
  std::function<bool()> is_moot = {};
};

using HandlerResult =
    std::variant<Value, InputRequired, RpcError>;  // Value: the result's own members, era's additions excluded

enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };
std::optional<LogLevel> log_level_of(std::string_view name);
std::string_view name_of(LogLevel level);

// The way out of a running handler, besides its result. All from the worker's thread; nothing blocks.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void progress(double progress, std::optional<double> total, std::string message) = 0;
  virtual void log(LogLevel level, std::string logger, Value data) = 0;
  // HTTP: ends the stream under the call; its result waits for the client to come back for it.
  virtual void close_stream() = 0;
};

struct Call {
  Revision revision = Revision::k2025_11_25;
  ClientCapabilities client;
  std::string client_name;  // as it calls itself, for the record; empty where unknown
  std::string principal;    // who is behind the connection: the bearer token's name, or "local"
  std::map<std::string, Input, std::less<>> inputs;
  // As the InputRequired gave it, and nobody could change it. Null on a first call, and when a client brought answers
  // without the state that belongs to them: a handler that gave one must not take such answers.
  Value state;
  bool is_late = false;
  CallSink* sink = nullptr;
  std::shared_ptr<const std::atomic<bool>> is_cancelled;

  // Of this machine's own user, who may read here what he likes.
  bool is_local() const { return principal.empty() || principal == "local"; }
  const Input* input(std::string_view key) const {
    const auto found = inputs.find(key);
    return found == inputs.end() ? nullptr : &found->second;
  }
};

}  // namespace sb::mcp
