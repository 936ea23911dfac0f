// Folds one event into the state of its session; the implementation of `apply` in events.hpp.
//
// All checks come before any change, so a refused event leaves the state unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/document/stored_reader.hpp"
#include "engine/state/events.hpp"

namespace sb::engine {

class SessionFold {
 public:
  SessionFold(SessionState& state, const Event& event, std::int64_t seq, TimestampMs at);
  Status run();
  static bool is_known(std::string_view type) { return handler_of(type) != nullptr; }

 private:
  using Handler = Status (SessionFold::*)();
  static Handler handler_of(std::string_view type);

  Status session_started();
  Status node_opened();
  Status cursor_moved();  // step_skipped, loop_*, jumped
  Status output_recorded();
  Status attempt_blocked();
  Status attempt_ended();
  Status gate_opened();
  Status gate_decided();
  Status decision_taken();
  Status breaker_tripped();
  Status breaker_decided();
  Status quorum_missed();
  Status quorum_decided();
  Status child_started();
  Status child_ended();
  Status joined();
  Status checkpointed();
  Status rewound();
  Status session_completed();
  Status session_stopped();
  Status driven();
  Status taken_over();

  std::unexpected<Error> mismatch(std::string_view why) const;
  // The node the event names.
  Result<Node*> node_named();
  // The same, and its open attempt is the one the event names.
  Result<Node*> open_node();
  Result<Node*> waiting_node(Waiting::Kind what);
  Result<Child*> child_of(Node& node);
  Status may_open(const Node& node);
  Status deliver(Attempt::Ended expected_end);
  Status trip(Waiting::Kind what);
  Status lift(Waiting::Kind what);
  // Work continues at this node: the session is resumed here.
  void move_tip(const Node& node);
  void refresh(const Node& node);

  SessionState& state_;
  const Event& event_;
  StoredReader payload_;
  std::int64_t seq_;
  TimestampMs at_;
};

// The new notes followed by the stored ones, cut to kRecapBytes at a character boundary.
std::string recap_with(std::string_view notes, std::string_view before);
// The title of a session: the first line of its goal, else what the context says, at most kTitleChars.
std::string title_from(std::string_view goal, const Value& context);

}  // namespace sb::engine
