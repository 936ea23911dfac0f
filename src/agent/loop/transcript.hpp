// The state of an agent's work in a session: its conversation, what it used, which calls are open. A pure function of
// the events of its log: the worker appends, reads back and follows, so that work continues in the same way with and
// without a restart.
//
// A value. Not synchronised.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/loop/agent_log.hpp"
#include "agent/loop/worker.hpp"
#include "agent/model/model.hpp"
#include "agent/tools/tool.hpp"
#include "base/document/stored_reader.hpp"

namespace sb::agent {

// A call of the newest turn.
struct TurnCall {
  ToolCall call;
  bool has_started = false, has_ended = false;
  std::string token = {}, decision = {};  // as tool_started has them
};

class Transcript {
 public:
  using Blob = std::function<Result<std::string>(std::string_view hex)>;
  // kCorrupt for an event that does not fit.
  Status follow(const LoggedEvent& event, const Blob& blob);

  std::int64_t seq() const { return seq_; }
  bool has_begun() const { return !bundle_.empty(); }
  const std::string& bundle() const { return bundle_; }  // hash of {bundle, first}
  const std::optional<WorkResult>& ended() const { return ended_; }
  // The worker returned by itself to wait for a person or a provider: resuming is not a recovery.
  bool has_suspended() const { return has_suspended_; }
  const std::string& awaited() const { return awaited_; }  // the decision it waits for; empty: none
  // The end state while the provider of this model has named a time that has not come yet. Nothing: send the request.
  std::optional<WorkResult> must_wait(std::string_view model, TimestampMs now_ms) const;
  TimestampMs waits_until() const { return wait_.until; }
  bool has_child(const std::string& session) const { return begun_children_.contains(session); }
  ControlRequests requests() const { return control_requests_in(people_); }

  int turn() const { return turn_; }  // the newest; 0: none
  // The next request: the conversation, and the messages gathered since.
  // For the model of that name in the settings: private blocks of other models, such as their thinking, are left out.
  std::vector<Message> messages(std::string_view model) const;
  std::vector<TurnCall>& calls() { return calls_; }  // of the newest turn, in order
  bool has_open_calls() const;
  StopReason stop() const { return stop_; }
  bool has_something_to_say() const { return !results_.empty() || !said_.empty(); }
  std::int64_t size_in_tokens() const { return size_in_tokens_; }  // of the conversation, with its newest reply
  int turns_in_step() const {
    return turns_in_step_;
  }  // since the last submitted step or the last restart of the conversation
  bool was_retried() const { return was_retried_; }  // a person asked for a retry, and nothing happened since

  // In total, children included.
  Usage usage() const;
  std::int64_t micro_cents() const;
  // Since the beginning, or since a person's retry: this is what limits apply to.
  int turns() const { return turn_ - turn_before_; }
  std::int64_t worked_ms() const { return worked_ms_; }
  Usage spent() const;
  std::int64_t spent_micro_cents() const { return micro_cents() - cost_before_; }
  int advances() const { return advances_; }

  int discarded() const { return discarded_; }      // replies to the open request
  int early_stops() const { return early_stops_; }  // in a row
  int cut_replies() const { return cut_replies_; }  // in a row
  int refusals() const { return refusals_; }        // of the open step, in a row
  int repeats() const { return repeats_; }          // of the same call with the same result, in a row
  bool was_warned_of_repeating() const { return was_warned_of_repeating_; }
  const std::string& place() const { return place_; }  // NODE/ATTEMPT that the agent was last shown
  const std::vector<std::pair<std::string, std::string>>& seen_files() const { return seen_files_; }  // path, hash

 private:
  std::vector<Message> conversation() const;
  void restart(std::string text);
  Status follow(const LoggedEvent& event, StoredReader& stored, const Blob& blob);
  Status turn(StoredReader& stored, const Blob& blob);
  Status tool_ended(StoredReader& stored, const Blob& blob);
  void count_repeats(const TurnCall& call, std::string_view result);
  void retried();

  std::int64_t seq_ = 0;
  std::string bundle_;
  std::optional<WorkResult> ended_;
  bool has_suspended_ = false, was_retried_ = false;
  std::vector<LoggedEvent> people_;
  std::vector<std::pair<std::int64_t, std::string>> unseen_;  // steered texts not yet in the conversation
  std::vector<Message> messages_;
  std::map<std::size_t, std::string> made_by_;  // which model, by the index of its message
  std::map<std::string, Value> results_;        // of the newest turn, by call
  std::vector<std::string> said_;
  std::vector<TurnCall> calls_;
  StopReason stop_ = StopReason::kToolUse;
  int turn_ = 0, turn_before_ = 0, turns_in_step_ = 0;
  std::int64_t size_in_tokens_ = 0, worked_ms_ = 0, cost_ = 0, cost_before_ = 0;
  Usage usage_, usage_before_;
  std::map<std::string, std::pair<Usage, std::int64_t>> children_;
  std::set<std::string> begun_children_;
  std::string awaited_;
  ProviderWait wait_;
  int advances_ = 0, early_stops_ = 0, cut_replies_ = 0, refusals_ = 0, repeats_ = 0, discarded_ = 0;
  bool was_warned_of_repeating_ = false;
  std::string repeated_, place_;
  std::vector<std::pair<std::string, std::string>> seen_files_;
};

}  // namespace sb::agent
