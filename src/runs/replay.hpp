// Replays a recorded run offline and free of cost, in a scratch clone with a scratch home. Stops at the first request
// that was not recorded.
//
//   const auto scratch = SB_TRY(make_scratch(seams, recording));
//   Replay replay(seams, recording, scratch);
//   const auto state = SB_TRY(replay.play(watching));
//   std::string difference = replay.diverged_at();
//   if (difference.empty()) difference = divergence(recording.state, state);
//
// Not thread-safe. Its arguments must outlive it.
#pragma once

#include <string>

#include "runs/recorded_people.hpp"
#include "runs/recording.hpp"
#include "runs/run_environment.hpp"

namespace sb::runs {

// A folder for one replay; the caller removes it.
struct Scratch {
  std::string root;
  std::string home() const { return join_path(root, "home"); }
  std::string remote() const { return join_path(root, "remote.git"); }
  std::string repository() const { return join_path(root, "repo"); }
  std::string workflows() const { return join_path(root, "workflows"); }
};
Result<Scratch> make_scratch(const Seams& seams, const Recording& recording);

class Replay {
 public:
  Replay(const Seams& seams, const Recording& recording, const Scratch& scratch);

  // With the scratch home, and a clock that does not wait.
  const Seams& seams() const { return seams_; }
  // People answer as recorded: `ask_interactively` is not called.
  Result<pipeline::RunState> play(const RunObserver& observer);
  // Where it made a request that was not recorded, or could not continue; empty: nowhere.
  const std::string& diverged_at() const { return left_at_; }

 private:
  bool has_left(RunEnvironment& run_environment, const RunObserver& observer) const;
  RunObserver watch(RunEnvironment& run_environment, const RunObserver& observer);
  Result<pipeline::RunState> drive(pipeline::Coordinator& coordinator, RunEnvironment& run_environment,
                                   const std::string& run, const RunObserver& observer);
  Status make_dependencies(RunEnvironment& run_environment);

  const Recording& recording_;
  const Scratch& scratch_;
  Environment environment_;
  SkippingClock clock_;
  Seams seams_;
  ReplayedPeople people_;
  std::string left_at_;
};

// The first point where the two differ; empty: none.
std::string divergence(const pipeline::RunState& then, const pipeline::RunState& now);

}  // namespace sb::runs
