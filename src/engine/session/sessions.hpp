// Sessions in a store: started, continued, looked at, forked, found again. The one door to them for the CLI and for
// MCP.
//
//   Sessions sessions(store, inbox, clock, random, commands);
//   SessionResponse first = SB_TRY(sessions.start({.bundle = bundle, .goal = "Fix it", …}));
//   SessionResponse next = SB_TRY(sessions.continue_session({.token = token, .submission = …}));
//
// Each advance is one commit: events, rows, blobs, a decision it opens, children it starts. ScopeFilter the call
// returns it is on disk. A token whose attempt has ended gives the stored answer again, whatever is submitted with it.
// What an advance reads and writes does not depend on how long the session is. Any number of processes may do this on
// one home at once; they wait for each other.
//
// Rows (values behind a checksum, engine/state/rows.hpp): `sessions` (key id, sort `updated/id`), `session-nodes`
// (id/00000001), `session-attempts` (id/00000001/00001), `session-keys`; `session-children`
// (engine/state/child_rows.hpp); for hooks `open-steps` (guard/open_step.hpp). Blobs: contexts, artifacts, pinned
// definitions.
//
// Threads: as the Store given.
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
#include "engine/command/command_runner.hpp"
#include "engine/state/events.hpp"
#include "engine/state/token.hpp"
#include "inbox/inbox.hpp"
#include "store/store.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {

struct StartRequest {
  workflow::Bundle bundle = {};  // the workflow last
  workflow::Origin origin = {};
  std::vector<workflow::Origin> included_origins = {};  // files of projects that went into it besides
  std::string goal = {};
  Value context = {};          // object or null
  std::string workspace = {};  // absolute
  bool is_autonomous = false;
  std::string repository, git_branch, git_head;  // observed by the caller
  Value references = {};                         // resolved by the caller
  // Chosen by the caller, in the form of session_id_from_bytes: starting again with one that is there gives that
  // session's present answer and starts nothing. kConflict when it has another workflow, goal or parent. Empty: a new
  // one.
  std::string id = {};
  // The session in which this one is started; its depth is one more, at most limits::kChildDepth (kForbidden).
  std::string parent = {};
};

// A person's answer that an agent passes on: only where the user's configuration says `confirmations: relay`, and never
// to a decision that needs a signature. It is recorded as relayed.
struct RelayedAnswer {
  std::string decision = {};  // the one this session waits for
  inbox::AnswerInput given = {};
  std::string remark = {};  // what the person said beside it, such as why something is rejected
  std::string by = {};      // through whom it came
  std::string raw = {};     // as it came
};

struct ContinueRequest {
  std::string token = {};
  enum class Intent { kInferred, kAdvance, kRehydrate } intent = Intent::kInferred;
  Submission submission = {};
  std::string workspace = {};  // for rehydrating; may be empty
  // Refused, and nothing is changed, when it may not be relayed, is not of the open decision this session waits for, or
  // does not fit it. A token whose attempt has ended repeats its answer without looking at this.
  std::optional<RelayedAnswer> answer = {};
  // Called about once a second while a command of the step runs: false ends the command, and nothing is delivered. May
  // be empty.
  std::function<bool()> should_continue = {};
};

// An error an agent can act on, with the format's code: TOKEN_MANGLED_…, NOT_FOUND, PRECONDITION_FAILED, …
struct SessionError {
  std::string code;
  Error error;
  Value details;
};
SessionError session_error(Error error);
template <class T>
using SessionResult = std::expected<T, SessionError>;

struct Checkpoint {
  std::string session;
  NodeNo node = 0;
  std::string resume_token, continue_token;
};

class Sessions {
 public:
  // `surface`: whose words errors use.
  Sessions(store::Store& store, inbox::Inbox& inbox, Clock& clock, Random& random, CommandRunner& commands,
           Surface surface = Surface::kCommands);
  ~Sessions();

  SessionResult<SessionResponse> start(const StartRequest& start_request);
  SessionResult<SessionResponse> continue_session(const ContinueRequest& request);
  SessionResult<SessionResponse> rehydrate(std::string_view token);
  SessionResult<Checkpoint> checkpoint(std::string_view token);
  // A token with which going on from that node makes a new branch (or simply goes on, where it is the open tip); the
  // node becomes where the session is resumed. 0: the tip.
  SessionResult<SessionResponse> rewind(std::string_view session, NodeNo node, std::string reason);
  // Ends it before its workflow does. Ending an ended one changes nothing.
  Status stop(std::string_view session, std::string reason, std::string by);

  // That it was started by the session it names, and that one by its own, up to the first: kForbidden when a signature
  // is missing or forged, or a depth does not fit. Who works a session asks this first.
  Status check_lineage(std::string_view session);

  Result<Summary> summary(std::string_view session);
  // AttachedBy id, or the beginning of one.
  Result<std::string> resolve(std::string_view name);
  Result<std::vector<Summary>> list(int limit, const std::optional<Summary>& after = {});
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
  // With which the session is taken up where it stands.
  Result<std::string> token_for(const Summary& summary);
  Result<std::shared_ptr<const Program>> program(std::string_view hash);

  // The current key is made when there is none. Rotating makes a new one; old ones verify until retired.
  Status rotate_keys(bool retire_old);

 private:
  Result<SessionResponse> show(store::Snapshot& snapshot, const Summary& summary, const Node& node);
  // Of the session that has this id already; nothing when there is none.
  Result<std::optional<SessionResponse>> find_started(store::Snapshot& snapshot, const StartRequest& start_request);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::engine
