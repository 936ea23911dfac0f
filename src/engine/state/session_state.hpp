// The state of a session: a tree of nodes, each an opened step, and the attempts made on them.
//
// A node is opened once; its place in the workflow, its context and its parent never change. Attempts on it are
// numbered from 1 and used in order. Attempt k is open until it has ended; ending it either refuses the submission
// (blocked: attempt k+1 is then open on the same node) or closes it with a successor node, or ends the session's
// branch. After a success the node's next attempt is open again, for a return to it: delivering that one makes a second
// branch. So an attempt never has two successors, and a branch sees exactly what its ancestors set.
//
// Nothing here grows with the length of the session: a node holds its position, the hash of its context, and counters
// bounded by the number of steps.
//
// Pure data with its JSON forms; state rows are this JSON behind a checksum (rows.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "engine/advance/step_program.hpp"

namespace sb::engine {

using NodeNo = std::int32_t;  // from 1 in each session; 0: none

struct LoopFrame {
  std::string loop;   // its step id
  int iteration = 0;  // from 0
  bool operator==(const LoopFrame&) const = default;
};

// Where in the workflow a node is.
struct Position {
  std::string step;              // id; empty: after the last step
  std::vector<LoopFrame> loops;  // outermost first
  bool operator==(const Position&) const = default;
};

enum class NodeKind {
  kStep,      // an agent delivers it
  kDecision,  // a person answers it
  kChildren,  // child sessions end it
  kEnd,       // the workflow is complete on this branch
};

// A child session of a node.
struct Child {
  std::string id;       // of the delegation, or `loop#3` for an item of a parallel loop
  std::string session;  // empty while it is queued
  std::string workflow_id, hash, goal;
  std::string capture_as;
  Value context;        // its initial context, while it is queued
  std::string label;    // distinguishes it from other children with the same workflow: `security`, `2 of 6`; or empty
  std::string tier;     // of the model that should work on it; empty: any
  std::string outcome;  // empty while it runs: complete, stopped, dead, unknown
  std::string reason;   // of a dead or stopped one
};

// Why the open attempt of a node cannot be delivered (again) right now.
struct Waiting {
  enum class Kind { kGate, kEvaluator, kDecision, kBreaker, kQuorum };
  Kind what = Kind::kGate;
  std::string decision;  // the id in the inbox; empty for kEvaluator
  std::string session;   // the evaluator's
  std::string reason;    // why a person is asked: an evaluator was not sure, or a limit was reached
};

struct Node {
  NodeNo number = 0;
  NodeNo parent = 0;
  int parent_attempt = 0;
  NodeKind kind = NodeKind::kStep;
  Position position;
  std::string title;                             // of its step, as shown
  std::string context;                           // hex SHA-256 of its canonical JSON, a blob
  std::map<std::string, int> jumps;              // taken so far on this branch, by the jumping step's id
  std::map<std::string, std::string> artifacts;  // newest of each kind on this branch: kind to blob hash
  int depth = 0;                                 // deliveries before it on its branch

  // These change while it is open.
  int attempt = 1;  // the open one
  int consecutive_blocks = 0;
  int rejections = 0;           // by its gate, since the last success
  bool breaker_lifted = false;  // a person allowed another try after the limit
  bool is_checkpoint = false;
  std::optional<Waiting> waiting;
  std::vector<Child> children;
};

// How an attempt ended. What was delivered and answered is in the events whose numbers are stored here. While
// `ended_seq` is 0 the attempt is still open: delivered, and waiting for its gate.
struct Attempt {
  enum class Ended { kBlocked, kAdvanced, kRejected };
  NodeNo node = 0;
  int number = 1;
  Ended ended = Ended::kAdvanced;
  NodeNo successor = 0;
  std::int64_t output_seq =
      0;                       // of output_recorded or attempt_blocked; 0: nothing was delivered (a decision, children)
  std::int64_t ended_seq = 0;  // of attempt_ended, with the answer that its token returns from then on

  bool operator==(const Attempt&) const = default;
};

enum class SessionStatus {
  kOpen,     // an agent can deliver
  kWaiting,  // waits for a person, an evaluator or children
  kComplete,
  kStopped,  // ended before its workflow did; the reason is recorded
};

// The row by which sessions are listed and found; all of it is derived from events.
struct Summary {
  std::string id, workflow_id, workflow_name, hash, goal, title;
  SessionStatus status = SessionStatus::kOpen;
  std::string stopped_reason;
  bool is_autonomous = false;
  NodeNo tip = 0;    // where work last continued
  NodeNo nodes = 0;  // how many there are
  std::string step_id, step_title;
  std::string recap;  // newest notes first, at most kRecapBytes
  std::string workspace, repository, git_branch, git_head;
  std::string parent_session, parent_child;
  NodeNo parent_node = 0;
  int depth = 0;               // number of ancestors
  std::string run;             // that drives it; empty: none
  bool is_taken_over = false;  // from that run, by a person
  std::string braces;          // session_node.hpp; only of the body of a parallel loop
  // Sentences and paths: what its agents must not change, whatever a step allows.
  std::vector<std::string> out_of_scope;
  TimestampMs started_at = 0, updated_at = 0;
  std::int64_t events = 0;

  // Only workers of runs may continue it; see also engine/session/driver.hpp.
  bool is_driven() const { return !run.empty() && !is_taken_over; }
  bool is_in_progress() const { return status == SessionStatus::kOpen || status == SessionStatus::kWaiting; }
};

Value to_value(const std::vector<LoopFrame>& loops);
Value to_value(const Child& child);
Value to_value(const Node& node);
Value to_value(const Attempt& attempt);
Value to_value(const Summary& summary);
Result<std::vector<LoopFrame>> loops_from(const Value& value);
Result<Child> child_from(const Value& value);
Result<Node> node_from(const Value& value);
Result<Attempt> attempt_from(const Value& value);
Result<Summary> summary_from(const Value& value);

std::string_view to_string(SessionStatus status);
std::string_view to_string(NodeKind kind);
std::string_view to_string(Waiting::Kind what);
std::string_view to_string(Attempt::Ended ended);

}  // namespace sb::engine
