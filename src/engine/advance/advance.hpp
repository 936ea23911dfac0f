// Computes what follows from a submission. Pure: same definition, node and submission, same events.
//
//   AdvanceResult outcome = advance(program, node, context, submission);
//
// All checks run and are reported together: notes, contract, assessments with their consequences, criteria, captures,
// the result of the verification command, what the next step needs. The cursor moves only if all pass, and only forward
// (except for jumpIf). Each step skipped because its condition is false is recorded with the values the condition saw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advance/step_program.hpp"
#include "engine/state/events.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

// The result of running a step's command.
struct CommandRun {
  std::string command = {};
  int exit = 0;
  std::string output = {};  // the part that is stored
  bool timed_out = false, output_truncated = false;
  std::string sandbox = {};  // `bubblewrap`, or `none: REASON`
  std::int64_t duration_ms = 0;
  std::string not_run_reason = {};  // why it was not run, such as no trust
  bool was_cancelled = false;       // the caller stopped waiting; nothing was delivered
};

// What changed in the workspace since the session began, for a step that hands its changes over.
struct WorkChanges {
  std::vector<std::string> paths;  // relative to the folder
  std::string folder;
  bool was_reported = false;  // an attempt was refused because its declaration differed; it is not refused again
};

struct Submission {
  std::string notes = {};
  std::vector<Value> artifacts = {};
  Value context = {};                      // object of keys to set (null removes a key), or null
  std::optional<CommandRun> command = {};  // set for a step with a command
  std::optional<WorkChanges> changes = {};

  bool has_output() const;  // whether it contains anything to deliver
};

enum class BlockerCode {
  kMissingNotes,
  kMissingOutput,
  kInvalidOutput,
  kAssessmentFollowup,
  kMissingContext,
  kInvalidContext,
  kCriteria,
  kVerificationFailed,
  kNotTrusted,
  kDeclaredFiles,
  kChildrenOpen,
  kRejected,
};
std::string_view to_string(BlockerCode code);  // MISSING_REQUIRED_NOTES, …: the codes of the format

struct Blocker {
  BlockerCode code = BlockerCode::kMissingNotes;
  std::string subject;    // a contract ref, an assessment, a context key, a step id
  std::string message;    // what is missing
  std::string fix;        // what to send
  Value example;          // a contract's example, or null
  std::string form = {};  // for a context key that is not set: the expected type, such as `a list`
};
Value to_value(const Blocker& blocker);

// What happened on the way from one step to the next.
struct CursorMove {
  std::vector<Event> trace;  // step_skipped, loop_*, jumped; without `node`
  Position to;               // step empty: the end
  std::map<std::string, int> jumps;
  std::vector<Blocker> missing;       // unset keys that a loop or `needs` ahead requires
  std::vector<std::string> warnings;  // a limit was reached before the loop was done
};

// Moves from `from` (or from the start if `from.step` is empty and `at_start`) to the next step that opens.
// `artifacts`: those of the submission, for loops that end on an artifact.
//
// Loops: conditions are tested before each iteration, with the variables of that iteration. The items of a forEach are
// read from its key at that moment: a list that has grown is visited to its new end, one that has shrunk ends sooner,
// and a key that is gone or no longer a list is `missing`. `stop` counts only from the step that carries the decision
// (step_program.hpp) and leaves the loop immediately. A jump keeps the iterations of loops around both steps and leaves
// the others; a jump into a loop that does not contain the jumping step starts that loop again. A parallel loop opens
// at its own id, without its own frame; the step after it comes next.
CursorMove next_position(const Program& program, const Position& from, const std::map<std::string, int>& jumps,
                         const Value& context, std::span<const Value> artifacts, bool at_start);

// How the files that its hand-off declares differ from those that changed; empty if they agree or nothing is known.
std::string declaration_gap(const Submission& submission);

// The kind of a node at this position.
NodeKind kind_at(const Program& program, const Position& position);

// The context a step at this position sees: that of the branch plus the variables of the loops around the step.
Value context_at(const Program& program, const Position& position, const Value& context);

// Everything wrong with the submission except `CursorMove::missing`; empty if it passes. `after` is the context with
// the submission merged in.
std::vector<Blocker> check(const Program& program, const Node& node, const Value& after, const Submission& submission);

// Fails with kLimit; `what` begins the message.
Status check_context_size(const Value& context, std::string_view what);
// Fails with kInvalid or kLimit: reserved keys, too large, not an object. Shallow merge; null removes a key.
Result<Value> merge_context(const Value& context, const Value& changes);

// What the step is checked for: {notes, contracts, assessments, captures, criteria}. `captures` includes what the next
// loop or step needs; a capture with `ifNext` is needed only if that step comes next (keys_ahead.hpp).
Value requirements(const Program& program, const Position& position, const Value& context);

// An artifact of the submission as it is stored.
struct SubmittedArtifact {
  std::string kind;
  std::string json;           // canonical
  std::string hash;           // hex SHA-256 of `json`, the name it is stored under
  bool is_requested = false;  // by the step
};

struct AdvanceResult {
  enum class Kind { kBlocked, kGate, kAdvanced };
  Kind kind = Kind::kAdvanced;
  std::vector<Blocker> blockers;             // kBlocked
  workflow::Confirmation::Kind gate{};       // kGate
  std::vector<Event> delivered;              // output_recorded or attempt_blocked, without `node`; empty after a gate
  Value context;                             // of the branch, afterwards
  std::vector<SubmittedArtifact> submitted;  // all, in order; also of a blocked submission
  std::map<std::string, std::string> artifacts;  // requested ones, newest of each kind: kind to hash
  CursorMove move;                               // kGate, kAdvanced
  std::vector<std::string> notes_to_agent;       // unsolicited artifacts, normalized levels, limits reached
};

// The event of a refused attempt, without its `node`. `artifacts`: those of the submission.
Event blocked_event(const Node& node, const std::vector<Blocker>& blockers, const Submission& submission,
                    const std::vector<SubmittedArtifact>& artifacts);

// `node` must be a kStep node with an open attempt that waits for nothing. `gate_passed`: its gate has been decided
// and the stored delivery only moves on. kLimit and kInvalid for submissions that would fail again if resent
// unchanged; they do not count as attempts.
Result<AdvanceResult> advance(const Program& program, const Node& node, const Value& context,
                              const Submission& submission, bool gate_passed = false);

}  // namespace sb::engine
