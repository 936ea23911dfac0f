// One transaction's work on one session: events are collected, applied in order, and written at the end together with
// the rows they change. The cost does not depend on the length of the session.
//
// Must not outlive its transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "engine/transaction/open_step_row.hpp"
#include "store/store.hpp"

namespace sb::engine {

class SessionUpdate {
 public:
  // kNotFound if there is no such session.
  static Result<SessionUpdate> of(store::Transaction& transaction, std::string_view session, TimestampMs now);
  static SessionUpdate fresh(store::Transaction& transaction, std::string_view session, TimestampMs now);

  store::Transaction& transaction() { return *transaction_; }
  const Summary& summary() const { return state_.summary; }
  // Reads the node unless this update already knows it; kNotFound.
  Result<const Node*> node(NodeNo number);
  // The newest state of a node that was read or opened in this update.
  const Node& known(NodeNo number) const;
  // The event of what the node's open attempt has delivered; 0 if nothing.
  std::int64_t output_seq(NodeNo number) const;

  Status emit(std::string type, Value payload);
  // The number of the next event.
  std::int64_t next_seq() const { return head_.seq + static_cast<std::int64_t>(events_.size()) + 1; }
  NodeNo next_node() const { return state_.summary.nodes + 1; }
  // The first event of a session that begins in this update.
  std::optional<Value> started() const;
  bool has_changed() const { return !events_.empty(); }
  // For a node opened in this update, while its context is available.
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

}  // namespace sb::engine
