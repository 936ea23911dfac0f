// What follows from a submission. Pure: same definition, node and submission, same events.
//
//   AdvanceResult outcome = advance(program, node, context, submission);
//
// All checks are made and told together: notes, contract, assessments with their consequences, criteria, captures, the
// verification command's result, what the next step needs. Only when all hold does the cursor move, and it moves only
// forward (jumpIf aside): each step passed over because its condition does not hold is recorded with what was seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advance/step_program.hpp"
#include "engine/state/events.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

// What Signalbox saw when it ran a step's command.
struct CommandRun {
  std::string command = {};
  int exit = 0;
  std::string output = {};  // what is kept of it
  bool timed_out = false, output_truncated = false;
  std::string sandbox = {};  // bubblewrap, or none with the reason
  std::int64_t duration_ms = 0;
  std::string not_run_reason = {};  // why it was not run: not trusted
  bool was_cancelled = false;       // whoever waited for it does no longer: nothing was delivered
};

struct Submission {
  std::string notes = {};
  std::vector<Value> artifacts = {};
  Value context = {};                      // keys to set; null removes; an object or null for none
  std::optional<CommandRun> command = {};  // of a step with a command
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
  kChildrenOpen,
  kRejected,
};
std::string_view to_string(BlockerCode code);  // MISSING_REQUIRED_NOTES, … as the format names them

struct Blocker {
  BlockerCode code = BlockerCode::kMissingNotes;
  std::string subject;    // a contract ref, an assessment, a context key, a step id
  std::string message;    // what is missing
  std::string fix;        // what to send
  Value example;          // a contract's example, or null
  std::string form = {};  // of a context key that is not set: what it must be, as `a list`
};
Value to_value(const Blocker& blocker);

// What the cursor met on the way from one step to the next.
struct CursorMove {
  std::vector<Event> trace;  // step_skipped, loop_*, jumped; without `node`
  Position to;               // step empty: the end
  std::map<std::string, int> jumps;
  std::vector<Blocker> missing;       // keys that a loop or `needs` ahead must have and that are not set
  std::vector<std::string> warnings;  // a limit was reached while more was wanted
};

// From behind `from` (or from the start when `from.step` is empty and `at_start`) to the next step that opens.
// `artifacts`: of the submission, for loops that artifacts end.
//
// Loops: conditions are tested before each iteration, with the variables of that iteration. The items of a forEach are
// those its key holds at that moment: a list that has grown is visited to its new end, one that has shrunk ends sooner,
// and one that is gone or no list any more is `lacking`. `stop` counts only from the step that carries the decision
// (step_program.hpp) and leaves the loop right there. A jump keeps the iterations of loops around both steps and leaves
// the others; one into a loop that is not around the jumping step enters that loop anew. A parallel loop opens at its
// own id, without a frame of its own; going on from there is going on behind it.
CursorMove next_position(const Program& program, const Position& from, const std::map<std::string, int>& jumps,
                         const Value& context, std::span<const Value> artifacts, bool at_start);

// What a node at this position is.
NodeKind kind_at(const Program& program, const Position& position);

// The context a step at this position sees: the branch's own and the variables of the loops around it.
Value context_at(const Program& program, const Position& position, const Value& context);

// Everything wrong with the submission, apart from what `CursorMove::lacking` says; empty when it may pass. `after` is
// the context with the submission merged in.
std::vector<Blocker> check(const Program& program, const Node& node, const Value& after, const Submission& submission);

// kInvalid, kLimit: reserved keys, too large, not an object. Shallow; null removes.
Result<Value> merge_context(const Value& context, const Value& changes);

// What the step will be checked for: {notes, contracts, assessments, captures, criteria}. `captures` includes what a
// loop or step right behind needs.
Value requirements(const Program& program, const Position& position, const Value& context);

struct AdvanceResult {
  enum class Kind { kBlocked, kGate, kAdvanced };
  Kind kind = Kind::kAdvanced;
  std::vector<Blocker> blockers;        // kBlocked
  workflow::Confirmation::Kind gate{};  // kGate
  std::vector<Event> delivered;         // output_recorded or attempt_blocked, without `node`; none after a gate
  Value context;                        // the branch's, after
  std::map<std::string, std::string> artifacts;  // those asked for, newest of each kind: kind to hash
  CursorMove move;                               // kGate, kAdvanced
  std::vector<std::string> notes_to_agent;       // unsolicited artifacts, normalised levels, limits reached
};

// The event of a refused attempt, its `node` aside. The artifacts are named by the hash they will be stored under.
Event blocked_event(const Node& node, const std::vector<Blocker>& blockers, const Submission& submission);

// Kind a node of kStep whose attempt is open and which waits for nothing. `gate_passed`: its gate has been decided
// already and what was delivered is only moved on. kLimit and kInvalid for submissions no retry of the same bytes can
// mend; they are not attempts.
Result<AdvanceResult> advance(const Program& program, const Node& node, const Value& context,
                              const Submission& submission, bool gate_passed = false);

}  // namespace sb::engine
