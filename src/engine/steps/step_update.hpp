// A node of a session inside an update: what the parts of this folder work on. Refers to the update and the program.
#pragma once

#include <string>

#include "engine/advance/questions.hpp"
#include "engine/command/command_runner.hpp"
#include "engine/state/session_node.hpp"
#include "engine/transaction/session_update.hpp"
#include "inbox/inbox.hpp"

namespace sb::engine {

struct StepUpdate {
  SessionUpdate& session;
  const Program& program;
  NodeNo number;  // of a node that the update knows

  store::Transaction& transaction() const { return session.transaction(); }
  const Summary& summary() const { return session.summary(); }
  const Node& node() const { return session.known(number); }  // changes with the events recorded here
  SessionNode here() const { return {program, summary(), node()}; }
  const workflow::Step& definition() const { return here().step(); }
  Result<Value> context() const { return read_json_blob(transaction(), node().context); }

  // Records an event of this node: `node` is added to the payload.
  Status emit(std::string type, Value payload) const;
};

// Asks a person in the inbox; the question commits with the update. Returns the decision's id. `is_gate`: the answer
// lets the session on or holds it, unlike a choice that a step asks for.
Result<std::string> ask(inbox::Inbox& inbox, SessionUpdate& update, const Checked<decision::Declaration>& question,
                        bool is_gate);
// The question of a decision step; a gate if its kind is an approval or a confirmation.
Result<std::string> ask_step(inbox::Inbox& inbox, SessionUpdate& update, const SessionNode& asked, const Value& context,
                             const CommandRunner& commands);

}  // namespace sb::engine
