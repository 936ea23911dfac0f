// The events of a session, stream `session/ID`. Every payload is canonical JSON; hashes are hex SHA-256 of blobs.
// Members in brackets may be absent. The state of a session is a function of its events only: rows are the result of
// that function, stored so that a session can continue without reading its log.
//
//   session_started   {v: 1, session, workflow, name, hash, origins: [{kind, folder, file, digest}], goal, context,
//                      autonomous, workspace, depth, [repository], [git_branch], [git_head],
//                      [parent: {session, node, child}], [lineage], [references], [run],    lineage: lineage_proof.hpp
//                      [out_of_scope: [sentence or path]], [braces]}   run: drives it; braces: session_node.hpp
//   node_opened       {node, parent, attempt, kind, step, title, loops: [{loop, iteration}], context, jumps,
//                      artifacts, depth, [children: [{id, workflow, hash, goal, capture_as, session, context, [label],
//                      [tier]}]], [decision]}                         parent and attempt 0: the first one
//   step_skipped      {node, step, loops, condition, saw}             in the order they were skipped
//   loop_entered      {node, loop, [items], [count]}
//   loop_iterated     {node, loop, iteration}
//   loop_left         {node, loop, iterations, reason: condition|stop|items|count|limit|jump, [left_over],
//                      [wanted_more]}
//   jumped            {node, from, to, count}
//   output_recorded   {node, attempt, notes, artifacts: [hash], [unsolicited: [hash]], context_set: {…},
//                      [removed: […]], [assessments], [command: {command, exit, output, sandbox, ms}]}
//   attempt_blocked   {node, attempt, blockers, notes, artifacts, [command]}
//   attempt_ended     {node, attempt, ended: advanced|rejected|blocked, [successor], answer}    answer: its JSON text
//   gate_opened       {node, attempt, gate: evaluator|person|decision, [decision], [session], [reason]}
//   gate_decided      {node, attempt, verdict: approved|rejected|uncertain, reason, [decision], [session], by}
//   decision_taken    {node, decision, options, values}
//   breaker_tripped   {node, attempts, decision, [reason]};  breaker_decided {node, decision, choice}
//   quorum_missed     {node, decision, missing: [ids]};      quorum_decided  {node, decision, choice}
//   child_started     {node, child, session};  child_ended {node, child, outcome, [reason]}
//   joined            {node, [captured: {key: …}], [missing: [ids]]}
//   checkpointed      {node}
//   rewound           {node, attempt, reason}
//   session_completed {node};  session_stopped {reason, by}
//   driven            {run};  taken_over {by}    a run drives it, from now on or again; a person continues it instead
//
// The `node` of step_skipped, loop_* and jumped is the one about to be opened: they record how the cursor got there. A
// `choice` of "stop" lifts no breaker; every other one does.
//
// Everything an advance does is appended in one commit, in this order: what was delivered, how the cursor moved, what
// was opened, how the attempt ended.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

struct Event {
  std::string type;
  Value payload;
};

std::string session_stream(std::string_view session);
bool is_known_event(std::string_view type);

// The event that opens this node; `apply` makes the node from it.
Event node_opened(const Node& node);

// A session as recorded by its events: all nodes and attempts. For verify, import and property tests; continuing a
// session never needs it.
struct SessionState {
  Summary summary;
  std::map<NodeNo, Node> nodes;
  std::map<std::pair<NodeNo, int>, Attempt> attempts;
  std::vector<NodeNo> checkpoints;
};

// Applies one event: changes at most the session's own rows, one node and one attempt. Both replay and the live path
// use `apply`, so they cannot differ. The live path passes a state with only the summary, the node and the row of its
// open attempt, if any.
//
// kCorrupt if the event does not fit the previous state, kUnsupported if its type is unknown.
Status apply(SessionState& state, const Event& event, std::int64_t seq, TimestampMs at);

Result<SessionState> replay(std::span<const store::Event> events);

}  // namespace sb::engine
