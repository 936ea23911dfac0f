// Replays people's part in a recorded run: their answers, their messages to agents, an edited ticket, a stopped run.
// Answers are recorded as by `replay`, through Signalbox itself; the name of a person who killed an agent is kept,
// because the next agent sees it.
//
// An unfinished run is replayed as far as it went.
//
// Threads: before() on any; the rest on the one that drives the run.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "runs/recording.hpp"
#include "runs/run_environment.hpp"

namespace sb::runs {

// A clock that does not wait: sleeping only advances it.
class SkippingClock final : public Clock {
 public:
  explicit SkippingClock(Clock& clock) : clock_(clock) {}
  TimestampMs now_ms() override { return clock_.now_ms() + skipped_ms_; }
  void sleep_ms(std::int64_t duration_ms) override { skipped_ms_ += duration_ms; }

 private:
  Clock& clock_;
  std::atomic<std::int64_t> skipped_ms_ = 0;
};

class ReplayedPeople {
 public:
  ReplayedPeople(const Recording& recording, Clock& clock);

  // The replay in progress: its environment and its run.
  void attach(RunEnvironment& run_environment, std::string run);
  // The recorded answer; nothing if there was none. Diverges if another question was recorded.
  Status answer(const std::string& decision);
  void on_event(const pipeline::RunEvent& event);
  bool before(const agent::Requester& requester);  // agent::BeforeReply
  // Whether a person acts at this point, for which the driving must be interrupted.
  bool is_action_due() const { return is_cut_ || is_due() || is_at_end(); }
  // Performs it. False: the recording ends here.
  Result<bool> act(pipeline::Coordinator& coordinator);

 private:
  struct PersonAction {
    std::int64_t position = 0;  // number of the run's own events before it
    pipeline::RunEvent event;
  };
  struct Intervention {
    std::string phase, type, text, in_call, by;
    std::int64_t round = 0, attempt = 0, turn = 0;
    bool is_done = false;
    bool is_of(const pipeline::PhaseRecord& record) const;
    std::int64_t due_turn() const;
  };
  bool is_due() const { return next_ < actions_.size() && actions_[next_].position <= count_; }
  bool is_at_end() const { return recording_.state.outcome.empty() && !is_due() && count_ >= total_; }
  static std::vector<Intervention> interventions_in(const Value& list);
  Result<bool> apply(Intervention& intervention, const std::string& session);
  Status submit_answer(inbox::Inbox& inbox, const std::string& decision, const Value& answer);

  const Recording& recording_;
  Clock& clock_;
  RunEnvironment* run_environment_ = nullptr;
  std::string run_;
  std::vector<PersonAction> actions_;
  std::size_t next_ = 0;
  std::int64_t count_ = 0, total_ = 0;
  std::atomic<bool> is_cut_ = false;
  std::mutex mutex_;
  std::vector<Intervention> interventions_;
};

}  // namespace sb::runs
