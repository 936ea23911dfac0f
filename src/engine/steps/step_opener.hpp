// Opens steps: the node at the cursor with its question or its child sessions, and new sessions with their first step.
// What it opens commits with the caller's transaction. Refers to its parts.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "engine/advance/advance.hpp"
#include "engine/steps/new_session.hpp"
#include "engine/steps/step_update.hpp"
#include "engine/transaction/session_writer.hpp"
#include "inbox/inbox.hpp"

namespace sb::engine {

struct CreatedSession {
  Summary summary;
  Node node;
  std::vector<std::string> warnings;  // limits reached before the first step
};

// Why the step at the cursor cannot be opened: missing keys, options that cannot be offered. Reads `move` and `context`
// of the outcome. Pure.
std::vector<Blocker> opening_blockers(const Program& program, const Summary& summary, const AdvanceResult& outcome);

class StepOpener {
 public:
  StepOpener(const SessionTokens& tokens, PinnedPrograms& programs, SessionWriter& writer, inbox::Inbox& inbox,
             const CommandRunner& commands, Clock& clock, Random& random, Surface surface)
      : tokens_(tokens),
        programs_(programs),
        writer_(writer),
        inbox_(inbox),
        commands_(commands),
        clock_(clock),
        random_(random),
        surface_(surface) {}

  // kInvalid with PRECONDITION_FAILED if a key for the first step is missing.
  Result<CreatedSession> create_session(store::Transaction& transaction, NewSession new_session);
  // Records the cursor's moves and opens the node at the cursor, which nothing may block; returns its number. `from`:
  // the node it comes from, an empty one for the first.
  Result<NodeNo> open_next(SessionUpdate& update, const Program& program, const Node& from,
                           const AdvanceResult& outcome);
  // As many of the node's child sessions as may run in parallel. One that cannot start has ended.
  Status start_children(const StepUpdate& step);

 private:
  Result<Node> next_node(SessionUpdate& update, const Program& program, const Node& from, const AdvanceResult& outcome);
  Result<std::vector<Child>> children_at(store::Transaction& transaction, const SessionNode& at, const Value& seen);
  Result<bool> start_child(const StepUpdate& step, const Child& child);

  const SessionTokens& tokens_;
  PinnedPrograms& programs_;
  SessionWriter& writer_;
  inbox::Inbox& inbox_;
  const CommandRunner& commands_;
  Clock& clock_;
  Random& random_;
  const Surface surface_;
};

}  // namespace sb::engine
