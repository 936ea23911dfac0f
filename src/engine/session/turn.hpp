// One transaction's work on one session: events are collected, applied as they come, and written with the rows they
// change when the turn ends. What it reads and writes does not depend on how long the session is.
//
// Lives no longer than its transaction.
#pragma once

#include <string>
#include <vector>

#include "engine/session/open_step_row.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "store/store.hpp"

namespace sb::engine {

class SessionUpdate {
 public:
  // kNotFound when there is no such session.
  static Result<SessionUpdate> of(store::Transaction& transaction, std::string_view session, TimestampMs now);
  static SessionUpdate fresh(store::Transaction& transaction, std::string_view session, TimestampMs now);

  store::Transaction& transaction() { return *transaction_; }
  const Summary& summary() const { return state_.summary; }
  // Reads the node when this turn has not met it; kNotFound.
  Result<const Node*> node(NodeNo number);
  // The newest state of a node that was read or opened in this turn.
  const Node& known(NodeNo number) const;
  // Of what the node's open attempt has delivered; 0 when it has not.
  std::int64_t output_seq(NodeNo number) const;

  Status emit(std::string type, Value payload);
  // What the next event will be numbered.
  std::int64_t next_seq() const { return head_.seq + static_cast<std::int64_t>(events_.size()) + 1; }
  NodeNo next_node() const { return state_.summary.nodes + 1; }
  bool has_changed() const { return !events_.empty(); }
  // Of a node opened in this turn, while its context is at hand.
  void set_facts(NodeNo number, OpenStepFacts facts) { facts_ = {number, std::move(facts)}; }
  std::optional<OpenStepFacts> facts_of(NodeNo number) const;
  Status finish();

 private:
  SessionUpdate(store::Transaction& transaction, std::string_view session, TimestampMs now)
      : transaction_(&transaction), session_(session), now_(now) {}

  store::Transaction* transaction_;
  std::string session_;
  TimestampMs now_;
  store::Head head_;
  SessionState state_;
  std::vector<store::NewEvent> events_;
  std::pair<NodeNo, OpenStepFacts> facts_;
};

// kUnsupported when a newer version wrote the newest event. What is read from rows calls it, for rows do not tell.
Status check_newest_event(store::Snapshot& snapshot, std::string_view session);

// An event of a session by its number, chain checked. kCorrupt when it is not there or of another type.
Result<Value> read_event(store::Snapshot& snapshot, std::string_view session, std::int64_t seq, std::string_view type);

}  // namespace sb::engine
