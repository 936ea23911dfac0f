// What Sessions is made of; only its own .cpp files include this.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/advance/questions.hpp"
#include "engine/session/sessions.hpp"
#include "engine/session/turn.hpp"
#include "engine/state/keyring.hpp"

namespace sb::engine {

// A session to be started inside a transaction: by a caller, or by the step of another session.
struct Birth {
  std::string id;
  std::shared_ptr<const Program> program;
  std::vector<workflow::Origin> origins;  // its own first
  std::string goal;
  Value context;
  std::string workspace, repository, git_branch, git_head;
  bool is_autonomous = false;
  Value references;
  std::string parent_session, parent_child;
  NodeNo parent_node = 0;
  int depth = 0;
};

struct Born {
  Summary summary;
  Node node;
  std::vector<std::string> warnings;  // limits reached before the first step
};

// A command that must be run before a submission can be judged.
struct CommandDue {
  std::string command, workspace;
  std::vector<workflow::Origin> origins;
};

// Whether there is anything in it to deliver.
bool carries_output(const Submission& submission);

// An error that carries the format's code for agents.
std::unexpected<Error> refuse(std::string_view code, Error error);

struct Sessions::Parts {
  store::Store& store;
  inbox::Inbox& inbox;
  Clock& clock;
  Random& random;
  CommandRunner& commands;
  Surface surface;
  std::recursive_mutex mutex;
  Keyring keys;
  TimestampMs keys_read_ms = 0;
  std::map<std::string, std::shared_ptr<const Program>, std::less<>> programs;
  std::set<std::string, std::less<>> commandless;  // sessions known to run no command

  std::string remedy(NextStep step) const { return std::string(remedy_for(step, surface)); }

  // Reading (read.cpp)
  Result<std::shared_ptr<const Program>> program(store::Snapshot& snapshot, std::string_view hash);
  Result<Token> token(std::string_view text, std::initializer_list<Purpose> allowed);
  // Read back from its event; nothing for 0.
  Result<Delivered> delivered(store::Snapshot& snapshot, std::string_view session, std::int64_t seq);
  Result<std::optional<CommandDue>> command_due(const Token& token);
  Result<std::string> recall_from(store::Snapshot& snapshot, const Program& program, std::string_view session,
                                  const Node& node);
  Result<std::vector<ChildView>> children_of(store::Snapshot& snapshot, const Node& node);

  // Projecting (project.cpp)
  // Writes the turn, and with it how the open step looks from outside.
  Status finish(Turn& turn);
  // The tokens in those rows, under the current key.
  Status mint_open_steps_anew(store::Transaction& transaction);

  // Answers (answers.cpp)
  std::string mint(Purpose purpose, std::string_view session, NodeNo node, int attempt) const;
  // Of a node that is open: its step, its question, its children, or the end.
  Result<Answer> answer_for(store::Snapshot& snapshot, const Program& program, const Summary& summary, const Node& node,
                            Occasion occasion, std::vector<std::string> notices, const Value& references = {});
  Result<Answer> awaiting(store::Snapshot& snapshot, const Program& program, const Summary& summary, const Node& node);
  Result<Answer> blocked(store::Snapshot& snapshot, const Program& program, const Summary& summary, const Node& node,
                         const std::vector<Blocker>& blockers, int next_attempt, bool counts);

  // Opening (open.cpp)
  // kInvalid with PRECONDITION_FAILED when its first step lacks a key.
  Result<Born> give_birth(store::Transaction& transaction, const Birth& birth);
  // Makes it a child of that session (lineage.cpp).
  Status descend(store::Snapshot& snapshot, Birth& birth, const std::string& parent);
  // Why the step the cursor came to cannot be opened: keys it lacks, options that cannot be offered.
  std::vector<Blocker> obstacles(const Program& program, const Summary& summary, const Move& move,
                                 const Value& context) const;
  // Emits what the cursor met and opens the node it came to (there are no obstacles); its number.
  Result<NodeNo> open_next(Turn& turn, const Program& program, const Node& from, const Move& move, const Value& context,
                           const std::map<std::string, std::string>& artifacts);
  Status start_children(Turn& turn, const Program& program, NodeNo node);

  // Delivering (delivery.cpp)
  // Where the session waited and still does, says that nothing of the submission was taken.
  Result<Answer> go_on(Turn& turn, const Token& token, const Submission& submission, bool has_output);
  Result<Answer> deliver(Turn& turn, const Program& program, NodeNo node, const Submission& submission);
  Result<Answer> move_on(Turn& turn, const Program& program, NodeNo node, const Outcome& outcome,
                         const std::vector<Value>& artifacts);
  Result<Answer> block(Turn& turn, const Program& program, NodeNo node, const std::vector<Blocker>& blockers,
                       const Submission& submission);
  Result<Answer> ask_gate(Turn& turn, const Program& program, NodeNo node, const Outcome& outcome,
                          const Submission& submission);
  // Ends the attempt and asks a person whether to go on at all.
  Result<Answer> trip_breaker(Turn& turn, const Program& program, NodeNo node, std::string_view ended, int count,
                              const std::string& why);
  Result<std::string> ask(Turn& turn, const Checked<decision::Declaration>& declaration);
  Result<Answer> ask_person(Turn& turn, const Program& program, NodeNo node, const Delivered& output,
                            bool needs_signature, std::string reason);
  // Answers the decision the token's node waits for, before it is gone on with.
  Status relay(Turn& turn, const Token& token, const RelayedAnswer& answer);
  Result<Answer> poll_waiting(Turn& turn, const Program& program, const Node& node, const Submission& submission,
                              bool has_output);
  Result<Answer> poll_gate(Turn& turn, const Program& program, NodeNo node, const Submission& submission);
  Result<Answer> judged(Turn& turn, const Program& program, NodeNo node, std::string_view verdict, std::string reason,
                        Value by, const Submission& submission);
  Result<Answer> poll_stuck(Turn& turn, const Program& program, NodeNo node, const Submission& submission,
                            bool has_output);
  Result<Answer> poll_decision(Turn& turn, const Program& program, NodeNo node, const Submission& submission);
  Result<Answer> end_attempt(Turn& turn, NodeNo node, std::string_view ended, NodeNo successor, Answer answer);

  // Joining (join.cpp)
  Result<Answer> poll_children(Turn& turn, const Program& program, NodeNo node, const Submission& submission,
                               bool has_output);
  Status note_children(Turn& turn, NodeNo node, const Submission& submission);
  Result<Value> result_of(store::Transaction& transaction, const Child& child);
  Result<Value> captured_by(Turn& turn, const Program& program, NodeNo node);
  Result<Answer> join(Turn& turn, const Program& program, NodeNo node, const Submission& submission);
  Status stop_in(store::Transaction& transaction, std::string_view session, std::string_view reason,
                 std::string_view by);
};

}  // namespace sb::engine
