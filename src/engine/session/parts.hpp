// The internals of Sessions; included only by its own .cpp files.
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

// A session to start inside a transaction, by a caller or by a step of another session.
struct NewSession {
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

struct CreatedSession {
  Summary summary;
  Node node;
  std::vector<std::string> warnings;  // limits reached before the first step
};

// A command that must run before a submission can be checked.
struct PendingCommand {
  std::string command, workspace;
  std::vector<workflow::Origin> origins;
};

// Whether it contains anything to deliver.
bool carries_output(const Submission& submission);

// An error with the format's code for agents.
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
  std::set<std::string, std::less<>> without_commands = {};  // sessions known to run no command

  std::string remedy(RemedyKind step) const { return std::string(remedy_for(step, surface)); }

  // Reading (read.cpp)
  Result<std::shared_ptr<const Program>> program(store::Snapshot& snapshot, std::string_view hash);
  Result<SessionToken> token(std::string_view text, std::initializer_list<Purpose> allowed);
  // Read back from its event; empty for 0.
  Result<AttemptOutput> delivered(store::Snapshot& snapshot, std::string_view session, std::int64_t seq);
  Result<std::optional<PendingCommand>> pending_command(const SessionToken& token);
  Result<std::string> recall_from(store::Snapshot& snapshot, const Program& program, std::string_view session,
                                  const Node& node);
  Result<std::vector<ChildView>> children_of(store::Snapshot& snapshot, const Node& node);

  // Projecting (project.cpp)
  // Writes the update and the row of the open step.
  Status finish(SessionUpdate& update);
  // Renews the tokens in those rows with the current key.
  Status refresh_open_step_tokens(store::Transaction& transaction);

  // Answers (answers.cpp)
  std::string mint(Purpose purpose, std::string_view session, NodeNo node, int attempt) const;
  // The answer for an open node: its step, its question, its children, or the end.
  Result<SessionResponse> answer_for(store::Snapshot& snapshot, const Program& program, const Summary& summary,
                                     const Node& node, RenderReason render_reason, std::vector<std::string> notices,
                                     const Value& references = {});
  Result<SessionResponse> awaiting(store::Snapshot& snapshot, const Program& program, const Summary& summary,
                                   const Node& node);
  Result<SessionResponse> blocked(store::Snapshot& snapshot, const Program& program, const Summary& summary,
                                  const Node& node, const std::vector<Blocker>& blockers, int next_attempt,
                                  bool counts);

  // Opening (open.cpp)
  // kInvalid with PRECONDITION_FAILED if a key for the first step is missing.
  Result<CreatedSession> create_session(store::Transaction& transaction, const NewSession& new_session);
  // Makes it a child of that session (lineage.cpp).
  Status attach_to_parent(store::Snapshot& snapshot, NewSession& new_session, const std::string& parent);
  // Why the step at the cursor cannot be opened: missing keys, options that cannot be offered.
  std::vector<Blocker> opening_blockers(const Program& program, const Summary& summary, const CursorMove& move,
                                        const Value& context) const;
  // Records the cursor's moves and opens the node at the cursor (nothing may block it); returns its number.
  Result<NodeNo> open_next(SessionUpdate& update, const Program& program, const Node& from, const CursorMove& move,
                           const Value& context, const std::map<std::string, std::string>& artifacts);
  Status start_children(SessionUpdate& update, const Program& program, NodeNo node);

  // Delivering (delivery.cpp)
  // If the session was waiting and still is, the answer says that the input was ignored.
  Result<SessionResponse> continue_session(SessionUpdate& update, const SessionToken& token,
                                           const Submission& submission, bool has_output);
  Result<SessionResponse> deliver(SessionUpdate& update, const Program& program, NodeNo node,
                                  const Submission& submission);
  Result<SessionResponse> finish_attempt(SessionUpdate& update, const Program& program, NodeNo node,
                                         const AdvanceResult& outcome);
  // `artifacts`: those of the submission, already stored.
  Result<SessionResponse> block(SessionUpdate& update, const Program& program, NodeNo node,
                                const std::vector<Blocker>& blockers, const Submission& submission,
                                const std::vector<SubmittedArtifact>& artifacts);
  Result<SessionResponse> ask_gate(SessionUpdate& update, const Program& program, NodeNo node,
                                   const AdvanceResult& outcome, const Submission& submission);
  // Ends the attempt and asks a person whether to continue at all.
  Result<SessionResponse> trip_breaker(SessionUpdate& update, const Program& program, NodeNo node,
                                       std::string_view ended, int count, const std::string& why);
  Result<std::string> ask(SessionUpdate& update, const Checked<decision::Declaration>& declaration);
  Result<SessionResponse> ask_person(SessionUpdate& update, const Program& program, NodeNo node,
                                     const AttemptOutput& output, bool needs_signature, std::string reason);
  // Answers the decision the token's node waits for, before the session continues.
  Status relay(SessionUpdate& update, const SessionToken& token, const RelayedAnswer& answer);
  Result<SessionResponse> poll_waiting(SessionUpdate& update, const Program& program, const Node& node,
                                       const Submission& submission, bool has_output);
  Result<SessionResponse> poll_gate(SessionUpdate& update, const Program& program, NodeNo node,
                                    const Submission& submission);
  Result<SessionResponse> apply_verdict(SessionUpdate& update, const Program& program, NodeNo node,
                                        std::string_view verdict, std::string reason, Value by,
                                        const Submission& submission);
  Result<SessionResponse> poll_breaker(SessionUpdate& update, const Program& program, NodeNo node,
                                       const Submission& submission, bool has_output);
  Result<SessionResponse> poll_decision(SessionUpdate& update, const Program& program, NodeNo node,
                                        const Submission& submission);
  Result<SessionResponse> end_attempt(SessionUpdate& update, NodeNo node, std::string_view ended, NodeNo successor,
                                      SessionResponse answer);

  // Joining (join.cpp)
  Result<SessionResponse> poll_children(SessionUpdate& update, const Program& program, NodeNo node,
                                        const Submission& submission, bool has_output);
  Status record_child_results(SessionUpdate& update, NodeNo node, const Submission& submission);
  Result<Value> result_of(store::Transaction& transaction, const Child& child);
  Result<Value> captured_values(SessionUpdate& update, const Program& program, NodeNo node);
  Result<SessionResponse> join(SessionUpdate& update, const Program& program, NodeNo node,
                               const Submission& submission);
  Status stop_in(store::Transaction& transaction, std::string_view session, std::string_view reason,
                 std::string_view by);
};

}  // namespace sb::engine
