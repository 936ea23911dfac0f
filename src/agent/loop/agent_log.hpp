// The log of an agent's work in a session, turn by turn, and of people's requests to it: stream `agent/SESSION`. The
// conversation is a function of these events; a restarted process continues after the last complete turn.
//
// Payloads are canonical JSON; long texts are blobs named by their hex SHA-256. Members in brackets may be absent.
//   began         {v: 1, session, [run], workflow, role, model, mode, bundle: hash,
//                  keys: [{key, bytes, hash, [is_omitted]}],
//                  limits, [lineage], [sandbox]}           bundle: the slots and the first message
//   turn          {turn, reply: hash, request: hash, usage, cost, stop, model, [by], [mark], ms, [attempt], [breaks]}
//                                                          by: the model's name in the settings; attempt: from 2, if
//                                                          earlier replies were discarded; breaks: the rule that the
//                                                          last allowed one breaks too. Of an agent program also
//                                                          bytes: {request, reply}: hashes, as sent; [malformed]: a
//                                                          part of the reply could not be read
//   discarded     {turn, attempt, rule, and the others as `turn`}    a reply whose final text breaks a rule for asking
//                  people (loop/reply_check.hpp). It is not in the conversation, and is asked for again
//   tool_started  {turn, call, tool, what, [token], [decision]}    only for tools that change something, which a crash
//                  may interrupt. token: of the attempt that complete_step submits; decision: opened by ask
//   tool_ended    {turn, call, tool, result: hash, error, ms, [facts]}    facts: what later calls need from it
//   program_tool  {turn, call, tool, what, result: hash, error}    a tool that an agent program ran itself, in that
//   turn:
//                  logged when a request to its model has the result
//   awaiting      {turn, decision}                         a person must answer; the worker has returned
//   setback       {turn, kind, reason, model, [until], [told], [usage, cost]}    a failed request. until: time of the
//                  next one; told: the provider named that time; usage: reported by an interrupted reply
//   parked        {turn, reason, until, [model], [told]}   the provider is unavailable; the worker has returned
//   nudged        {turn, why, text}                        a message from Signalbox: hints, interrupted writes, …
//   compacted     {turn, text: hash, before, after}        the conversation restarts with this text
//   issue         {turn, kind, severity, summary, …};  signal {turn, signalKind, payload};  refused {turn, what, why}
//   child_began   {turn, child, workflow, depth};  child_ended {turn, child, state, reason, usage, cost}
//   recovered     {turn, how: resumed|afresh, why, [text: hash]}    text: the conversation restarts with it
//   ended         {state, reason, usage, cost, turns, ms}  may be followed by `retried`
//   steered       {text, by};  pause_asked {by};  go_on_asked {by};  kill_asked {by, reason};  taken_over {by}
//   steer_seen    {turn, upto}                             events up to that number are in the conversation
//   retried       {by, [reason]}                           the work continues after an end
//
// Any process may append people's events (the line with `steered`, and `retried`) at any time; the worker of the
// session looks for them at every turn and about once a second while it waits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/limits.hpp"
#include "store/store.hpp"

namespace sb::agent {

std::string agent_stream(std::string_view session);

// The size limit of a payload or a blob it names: a reply holds what a model was allowed to send, wrapped once more.
inline constexpr JsonBounds kLogBounds{sb::limits::kStoreValueBytes, 2 * sb::limits::kDocumentDepth,
                                       4 * sb::limits::kDocumentNodes};

struct LoggedEvent {
  std::int64_t seq = 0;
  TimestampMs time_ms = 0;
  std::string type;
  Value payload;
};

// One session's log. append() retries on the new head when another process was first. Thread-safe like the store.
class AgentLog {
 public:
  AgentLog(store::Store& store, Clock& clock, std::string session);

  // kUnsupported for an event type that is not in the list above.
  Result<std::vector<LoggedEvent>> read(std::int64_t from_seq = 1) const;
  // All in one commit, together with the blobs they name.
  struct Entry {
    std::string type;
    Value payload;
    std::vector<std::string> blobs = {};
  };
  // `rows` are written in the same commit: script lines that scripted models have used.
  struct Row {
    std::string collection, key, value;
  };
  Status append(std::vector<Entry> entries, std::vector<Row> rows = {});
  // The same where the entries depend on what else is done in that commit. `make` may be called more than once.
  using Make = std::function<Result<std::vector<Entry>>(store::Transaction&)>;
  Status append_with(const Make& make, const std::vector<Row>& rows = {});
  Result<std::string> blob(std::string_view hex) const;  // kCorrupt when it is missing
  const std::string& session() const { return session_; }

 private:
  store::Store& store_;
  Clock& clock_;
  std::string session_;
};

// The wait for a model's provider: the newest setback or parking that no reply followed. Pure.
struct ProviderWait {
  TimestampMs until = 0;        // 0: not waiting
  bool is_retry_after = false;  // named by the provider: an earlier request is pointless
  std::string model = {}, reason = {};
  void follow(const LoggedEvent& event);
};

// People's requests that are still pending. Pure.
struct ControlRequests {
  std::vector<std::string> steered;  // texts not yet in the conversation, in order
  std::int64_t upto = 0;             // the number for steer_seen
  bool is_paused = false, is_killed = false, is_taken_over = false;
  std::string by, reason;
};
ControlRequests control_requests_in(const std::vector<LoggedEvent>& events);

}  // namespace sb::agent
