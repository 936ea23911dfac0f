// One call on its way through a handler, and the handler's result. The same in both eras.
//
// A handler is written for the stateless era: it computes a result, or returns what it needs to know first
// (InputRequired) and ends. When the answers are there, it is called again from the beginning, with the same
// parameters, the answers in `call.inputs` and its own `state`. So everything it does before asking must be safe to
// repeat. In the stateless era the client carries answers and (sealed) state back; in the session era the peer does
// that: it sends the requests to the client, waits at most limits::kHoldMs in total, and calls again.
//
//   HandlerResult approve(const Value& arguments, Call& call) {
//     const Input* answer = call.input("approval");
//     if (answer == nullptr) return InputRequired{.requests = {{"approval", "elicitation/create", params}}};
//     if (answer->kind != Input::Kind::kAnswered) return parked();
//     …
//
// An answer that arrives after the call stopped waiting calls the handler once more (`is_late`); its result is
// discarded, but what it stores counts.
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

// What the client claims to support. Claims can be wrong: nothing may hang if one is.
struct ClientCapabilities {
  bool has_form_elicitation = false;
  bool has_url_elicitation = false;
  bool has_sampling = false;
  bool has_roots = false;

  // `elicitation: {}` means forms; 2024-11-05 and 2025-03-26 have no elicitation, whatever the client claims.
  static ClientCapabilities of(const Value& capabilities, Revision revision);
};

// The answer to one request of an InputRequired.
struct Input {
  enum class Kind {
    kAnswered,   // `value`: the client's result, e.g. {action, content}; not checked against any schema
    kFailed,     // the client answered with an error, or does not support the request: `error`
    kUnanswered  // timeout, or the call was cancelled
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
  // Returned as call.state. At most a few kilobytes: in the stateless era it travels through the client.
  Value state = {};
  // What the state belongs to besides the request itself, e.g. a session and a decision; sealed with it.
  std::string bound_to = {};
  // Session era: called on a worker about once a second while waiting. True: no answer is needed any more, call the
  // handler again with what is there.
  std::function<bool()> is_moot = {};
};

using HandlerResult = std::variant<Value, InputRequired, RpcError>;  // Value: the result without the era's own members

enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };
std::optional<LogLevel> log_level_of(std::string_view name);
std::string_view name_of(LogLevel level);

// What a running handler can send besides its result. Call only from the worker's thread; nothing blocks.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void progress(double progress, std::optional<double> total, std::string message) = 0;
  virtual void log(LogLevel level, std::string logger, Value data) = 0;
  // HTTP: closes the stream of the call; the client must reconnect for the result.
  virtual void close_stream() = 0;
};

// Who is at the other end of a connection.
struct Caller {
  std::string principal = "local";  // for the record: the name of the token, or "local"
  bool is_local_user = true;        // this machine's own user, who may read any file here
  // The connection carries the secret that `signalbox mcp install` gave this client, so an answer from its dialog is a
  // person's. Anyone else who speaks the protocol may be the agent itself.
  bool is_installed_client = false;

  bool operator==(const Caller&) const = default;
};

struct Call {
  Revision revision = Revision::k2025_11_25;
  ClientCapabilities client;
  std::string client_name;  // the client's own name, for the record; empty if unknown
  Caller caller;
  std::map<std::string, Input, std::less<>> inputs;
  // The state from the InputRequired, protected against changes. Null on a first call, and if a client sent answers
  // without the state that belongs to them: a handler that returned a state must not accept such answers.
  Value state;
  bool is_late = false;
  CallSink* sink = nullptr;
  std::shared_ptr<const std::atomic<bool>> is_cancelled;

  const Input* input(std::string_view key) const {
    const auto found = inputs.find(key);
    return found == inputs.end() ? nullptr : &found->second;
  }
};

}  // namespace sb::mcp
