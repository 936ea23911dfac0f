// The events of a session, stream `session/ID`. Every payload is canonical JSON; hashes are hex SHA-256 of blobs.
// Members in brackets may be absent. The state of a session is a function of its events and of nothing else: rows are
// only that function's result, kept so that nobody has to read the log to go on.
//
//   session_started   {v: 1, session, workflow, name, hash, origin: {kind, file, digest}, goal, context, autonomous,
//                      workspace, [repository], [git_branch], [git_head], [parent: {session, node, child}],
//                      [references]}
//   node_opened       {node, parent, attempt, kind, step, loops: [{loop, iteration}], context, jumps, artifacts, depth,
//                      [children: [{id, workflow, hash, goal, capture_as, session, context}]], [decision]}
//   step_skipped      {node, step, loops, condition, saw}             in the order they were passed
//   loop_entered      {node, loop, [items], [count]}
//   loop_iterated     {node, loop, iteration}
//   loop_left         {node, loop, iterations, reason: condition|stop|items|count|limit, [left_over], [wanted_more]}
//   jumped            {node, from, to, count}
//   output_recorded   {node, attempt, notes, artifacts: [hash], [unsolicited: [hash]], context_set: {…}, [removed:
//   […]],
//                      [assessments], [command: {command, exit, output, sandbox, ms}]}
//   attempt_blocked   {node, attempt, blockers, notes, artifacts, [command]}
//   attempt_ended     {node, attempt, ended: advanced|rejected|blocked, [successor], answer}
//   gate_opened       {node, attempt, gate: evaluator|person, [decision], [session], [reason]}
//   gate_decided      {node, attempt, verdict: approved|rejected|uncertain, reason, [decision], [session], by}
//   decision_taken    {node, decision, options, values}
//   breaker_tripped   {node, attempts, decision};  breaker_decided {node, decision, choice}
//   child_started     {node, child, session};  child_ended {node, child, outcome, [reason]}
//   joined            {node, [captured: {key: …}], [missing: [ids]]}
//   checkpointed      {node}
//   rewound           {node, attempt, reason}
//   session_completed {node};  session_stopped {reason, by}
//
// Everything an advance does is appended in one commit, in this order: what was delivered, how the cursor moved, what
// was opened, what the attempt ended with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/state.hpp"
#include "store/store.hpp"

namespace sb::engine {

struct Event {
  std::string type;
  Value payload;
};

std::string session_stream(std::string_view session);

// A session as its events tell it: all nodes and attempts. For verify, import and property tests; going on with a
// session never needs it.
struct Replayed {
  Summary summary;
  std::map<NodeNo, Node> nodes;
  std::map<std::pair<NodeNo, int>, Attempt> attempts;
  std::vector<NodeNo> checkpoints;
};

// What one event changes: at most the session's own rows, one node and one attempt. `apply` is what both replay and the
// live path use, so they cannot differ.
//
// kCorrupt when the event does not fit the state before it.
Status apply(Replayed& state, const Event& event, std::int64_t seq, TimestampMs at);

Result<Replayed> replay(std::span<const store::Event> events);

}  // namespace sb::engine
