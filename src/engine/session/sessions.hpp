// Sessions in a store: start, continue, inspect, fork and find them. The CLI and MCP access sessions only through this.
//
//   Sessions sessions(store, inbox, clock, random, commands);
//   SessionResponse first = SB_TRY(sessions.start({.bundle = bundle, .goal = "Fix it", …}));
//   SessionResponse next = SB_TRY(sessions.continue_session({.token = token, .submission = …}));
//
// Each advance is one commit: events, rows, blobs, a decision it opens, children it starts. When the call returns, it
// is on disk. A token whose attempt has ended returns the stored answer again, whatever is submitted with it. The cost
// of an advance does not depend on the length of the session. Any number of processes may use one home at the same
// time; they wait for each other.
//
// Rows (values behind a checksum, engine/state/rows.hpp): `sessions` (key id, sort
// `class/updated/id`), `session-nodes`
// (id/00000001), `session-attempts` (id/00000001/00001), `session-keys`; `session-children`
// (engine/state/child_rows.hpp); for hooks `open-steps` (guard/open_step.hpp). Blobs: contexts, artifacts, pinned
// definitions.
//
// Thread safety: that of the given Store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "engine/answer/answer.hpp"
#include "engine/answer/remedy.hpp"
#include "engine/answer/session_error.hpp"
#include "engine/command/command_runner.hpp"
#include "engine/state/events.hpp"
#include "engine/state/token.hpp"
#include "engine/steps/relayed_answer.hpp"
#include "inbox/inbox.hpp"
#include "store/store.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {

struct StartRequest {
  workflow::Bundle bundle = {};  // the workflow is the last element
  workflow::Origin origin = {};
  std::vector<workflow::Origin> included_origins = {};  // other project files that are part of it
  std::string goal = {};
  Value context = {};          // object or null
  std::string workspace = {};  // absolute
  bool is_autonomous = false;
  std::string repository, git_branch, git_head;  // determined by the caller
  Value references = {};                         // resolved by the caller
  // What its agents must not change, in addition to what its context puts out of scope; not part of what they are
  // shown.
  std::vector<std::string> out_of_scope = {};
  // Chosen by the caller, in the format of session_id_from_bytes: starting again with an existing id returns that
  // session's current answer and starts nothing. kConflict if it has another workflow, goal or parent. Empty: a new id.
  std::string id = {};
  // The session that starts this one; its depth is one more, at most limits::kChildDepth (kForbidden).
  std::string parent = {};
  // The run that drives it and every session below it; its parent's if there is one.
  std::string run = {};
};

struct ContinueRequest {
  std::string token = {};
  enum class Intent { kInferred, kAdvance, kRehydrate } intent = Intent::kInferred;
  Submission submission = {};
  std::string workspace = {};  // for rehydrating; may be empty
  // Refused without any change if it may not be relayed, is not for the open decision this session waits for, or does
  // not fit it. A token whose attempt has ended repeats its answer without looking at this.
  std::optional<RelayedAnswer> answer = {};
  // Called about once a second while a command of the step runs: false ends the command, and nothing is delivered. May
  // be empty.
  std::function<bool()> should_continue = {};
};

struct Checkpoint {
  std::string session;
  NodeNo node = 0;
  std::string resume_token, continue_token;
};

class Sessions {
 public:
  // `surface`: whether errors suggest commands or tools. Any but kWorkers is refused (kForbidden) what continues a
  // session that a run drives, or shows its step: continue_session, rehydrate, checkpoint, rewind, token_for.
  Sessions(store::Store& store, inbox::Inbox& inbox, Clock& clock, Random& random, CommandRunner& commands,
           Surface surface = Surface::kCommands);
  ~Sessions();

  SessionResult<SessionResponse> start(const StartRequest& start_request);
  SessionResult<SessionResponse> continue_session(const ContinueRequest& request);
  SessionResult<SessionResponse> rehydrate(std::string_view token);
  SessionResult<Checkpoint> checkpoint(std::string_view token);
  // Returns a token that continues from that node on a new branch (or simply continues if it is the open tip); the
  // session is then resumed at this node. 0: the tip.
  SessionResult<SessionResponse> rewind(std::string_view session, NodeNo node, std::string reason);
  // Ends it before its workflow does. Stopping an ended session changes nothing.
  Status stop(std::string_view session, std::string reason, std::string by);

  // Checks that it was started by the session it names, and that one by its parent, up to the root: kForbidden if a
  // signature is missing or forged, or a depth is wrong. Workers call this first.
  Status check_lineage(std::string_view session);

  // kForbidden if a run drives the session and this surface is not that of its workers.
  Status check_driver(const Summary& summary);
  // Records that the run drives it, unless it already does or a person has taken the session over.
  Status drive(std::string_view session, const std::string& run);
  // A person takes it from its run (empty: it has none), or returns it. In the caller's transaction.
  Status take_over_in(store::Transaction& transaction, std::string_view session, const std::string& run,
                      const std::string& by);
  Status return_to_run_in(store::Transaction& transaction, std::string_view session);

  Result<Summary> summary(std::string_view session);
  // By id or its prefix.
  Result<std::string> resolve(std::string_view name);
  // The newest, of any status; engine/recall/session_list.hpp has pages.
  Result<std::vector<Summary>> list(int limit);
  Result<Node> node(std::string_view session, NodeNo number);
  Result<std::vector<Node>> nodes(std::string_view session);  // all, ascending
  Result<std::optional<Attempt>> attempt(std::string_view session, NodeNo node, int number);
  struct Output {
    std::string notes;
    std::vector<Value> artifacts;
  };
  // What an attempt delivered.
  Result<Output> output(std::string_view session, const Attempt& attempt);
  Result<Value> context(const Node& node);
  // What the agent of a session may see of it.
  Result<Value> visible_context(const Summary& summary);
  // By its hash, as in Node::artifacts.
  Result<Value> artifact(std::string_view hash);
  // A token that resumes the session at its tip.
  Result<std::string> token_for(const Summary& summary);
  Result<std::shared_ptr<const Program>> program(std::string_view hash);

  // The current key is created if there is none. Rotating creates a new one; old ones verify until retired.
  Status rotate_keys(bool retire_old);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::engine
