#include "cli/run/replay.hpp"

#include <fmt/format.h>

#include "cli/run/display.hpp"
#include "cli/run/foreground.hpp"
#include "cli/signals.hpp"
#include "runs/replay.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

Result<RunState> play(const Context& context, runs::Replay& replay, const SignalWatch& signals, bool wants_json) {
  RunDisplay display(Context{replay.seams(), context.arguments, context.has_colour, context.exact}, wants_json);
  runs::RunObserver observer;
  observer.on_event = [&](const auto& now, const auto& event) { display.on_event(now, event); };
  observer.on_progress = [&](const agent::Progress& progress) { display.on_progress(progress); };
  observer.should_continue = [&] { return !signals.was_received(); };
  auto state = replay.play(observer);
  display.finish();
  return state;
}

int print_outcome(const Context& context, const runs::Recording& recording, const runs::Scratch& scratch,
                  const std::string& different, const RunState& now, bool wants_json) {
  if (wants_json) {
    context.out(to_json(Value::object({{"type", "replay"},
                                       {"run", recording.state.id},
                                       {"same", different.empty()},
                                       {"difference", different},
                                       {"outcome", now.outcome},
                                       {"scratch", scratch.root}})) +
                "\n");
  } else if (different.empty()) {
    context.out(fmt::format("\nRun {}: replay matches: {}\n", recording.state.id,
                            now.outcome.empty() ? "not finished, same status" : now.outcome));
  } else {
    context.out(fmt::format("\nRun {}: replay diverged:\n{}\nEverything is in {}\n", recording.state.id, different,
                            scratch.root));
  }
  return different.empty() ? kExitOk : kExitNegative;
}

}  // namespace

int replay_run(const Context& context, const std::string& name, bool wants_json) {
  const auto recording = runs::load_recording(context.seams, name);
  if (!recording) return report_run(context, recording.error(), wants_json);
  const auto scratch = runs::make_scratch(context.seams, *recording);
  if (!scratch) return report_run(context, scratch.error(), wants_json);
  runs::Replay replay(context.seams, *recording, *scratch);
  const SignalWatch signals;
  const auto state = play(context, replay, signals, wants_json);
  if (!state) return report_run(context, state.error(), wants_json);
  std::string different = replay.diverged_at();
  if (different.empty()) different = runs::divergence(recording->state, *state);
  for (const std::string& note : recording->notes) {
    if (!different.empty()) different += fmt::format("\nPossible reason: {}.", note);
  }
  const int code = print_outcome(context, *recording, *scratch, different, *state, wants_json);
  if (code == kExitOk) (void)context.seams.files.remove_tree(scratch->root);
  return code;
}

}  // namespace sb::cli
