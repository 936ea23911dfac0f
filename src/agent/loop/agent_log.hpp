// What an agent did in a session, turn by turn, and what people told it: stream `agent/SESSION`. The conversation is a
// function of these events; a restarted process goes on from the last whole turn.
//
// Payloads are canonical JSON; long texts are blobs named by their hex SHA-256. Members in brackets may be absent.
//   began         {v: 1, session, [run], workflow, role, model, mode, bundle: hash, keys: [{key, bytes, hash,
//   [is_omitted]}],
//                  limits, [lineage], [sandbox]}           bundle: the slots and the first message
//   turn          {turn, reply: hash, request: hash, usage, cost, stop, model, [by], [mark], ms}    by: in the settings
//   tool_started  {turn, call, tool, what, [token], [decision]}     only tools that change something: what a crash may
//                  interrupt. token: of the attempt that complete_step delivers; decision: that ask opened
//   tool_ended    {turn, call, tool, result: hash, error, ms, [facts]}          facts: what later calls must know of it
//   awaiting      {turn, decision}                         a person must answer; the worker has left meanwhile
//   setback       {turn, kind, reason, model, [until], [told], [usage, cost]}   a try at a reply that failed. until:
//   when
//                  the next one is made; told: the provider named that time; usage: heard of a reply that broke off
//   parked        {turn, reason, until, [model], [told]}   the provider is not there; the worker has left meanwhile
//   nudged        {turn, why, text}                        what Signalbox said by itself: hints, interrupted writes, …
//   compacted     {turn, text: hash, before, after}        the conversation begins anew with this text
//   issue         {turn, kind, severity, summary, …};  signal {turn, signalKind, payload};  refused {turn, what, why}
//   child_began   {turn, child, workflow, depth};  child_ended {turn, child, state, reason, usage, cost}
//   recovered     {turn, how: resumed|afresh, why, [text: hash]}        text: with which the conversation begins anew
//   ended         {state, reason, usage, cost, turns, ms}  may be followed by `retried`
//   steered       {text, by};  pause_asked {by};  go_on_asked {by};  kill_asked {by, reason};  taken_over {by}
//   steer_seen    {turn, upto}                             events up to that number are in the conversation
//   retried       {by, [reason]}                           works on after an end
//
// The last line of people's events may be appended by any process at any time; whoever works the session looks for
// them at every turn and about once a second while it waits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "store/store.hpp"

namespace sb::agent {

std::string agent_stream(std::string_view session);

// What a payload or a blob it names may be: a reply holds what a model was allowed to send, wrapped once more.
inline constexpr JsonBounds kLogBounds{sb::limits::kStoreValueBytes, 2 * sb::limits::kDocumentDepth,
                                       4 * sb::limits::kDocumentNodes};

struct LoggedEvent {
  std::int64_t seq = 0;
  TimestampMs time_ms = 0;
  std::string type;
  Value payload;
};

// One session's log. append() tries again under the new head when somebody else was first. Thread-safe as the store.
class AgentLog {
 public:
  AgentLog(store::Store& store, Clock& clock, std::string session);

  // kUnsupported for an event type that is not in the list above.
  Result<std::vector<LoggedEvent>> read(std::int64_t from_seq = 1) const;
  // All in one commit, with the blobs they name.
  struct Entry {
    std::string type;
    Value payload;
    std::vector<std::string> blobs = {};
  };
  // `rows` are put in the same commit: what scripted models have used.
  struct Row {
    std::string collection, key, value;
  };
  Status append(std::vector<Entry> entries, std::vector<Row> rows = {});
  // The same where what is appended depends on what else is done in that commit. `make` may be called again.
  using Make = std::function<Result<std::vector<Entry>>(store::Transaction&)>;
  Status append_with(const Make& make, const std::vector<Row>& rows = {});
  Result<std::string> blob(std::string_view hex) const;  // kCorrupt when it is not there
  const std::string& session() const { return session_; }

 private:
  store::Store& store_;
  Clock& clock_;
  std::string session_;
};

// What a model's provider is waited for: the newest setback or parking that no reply came after. Pure.
struct ProviderWait {
  TimestampMs until = 0;        // 0: it is not
  bool is_retry_after = false;  // by the provider: asking it sooner is no use
  std::string model = {}, reason = {};
  void follow(const LoggedEvent& event);
};

// What people asked of it and has not been done yet. Pure.
struct ControlRequests {
  std::vector<std::string> steered;  // texts not yet in the conversation, in order
  std::int64_t upto = 0;             // the number for steer_seen
  bool is_paused = false, is_killed = false, is_taken_over = false;
  std::string by, reason;
};
ControlRequests control_requests_in(const std::vector<LoggedEvent>& events);

}  // namespace sb::agent
