#include "runs/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "inbox/config.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::runs {
namespace {

using pipeline::RunState;

Status run_in(const Seams& seams, const std::string& directory, std::vector<std::string> words) {
  pipeline::Git git(seams, directory);
  SB_TRY(git.run(std::move(words)));
  return {};
}

// No model is called, so none needs its key or its script; no forge either, but the requests depend on its kind. Phases
// that never started have no workflow here.
pipeline::RunSettings offline(const Recording& recording, const Scratch& scratch) {
  pipeline::RunSettings settings = recording.settings;
  for (auto& [phase, workflow] : settings.phases) {
    if (recording.state.newest(phase) == nullptr) workflow = pipeline::bundled_phases().at(phase);
  }
  for (auto& [name, model] : settings.agents.models) {
    model.provider = agent::provider_named("scripted");
    model.script = join_path(scratch.home(), "none.jsonl");
    model.key.clear();
  }
  settings.forge = {.kind = settings.forge.kind};
  settings.strategy = "worktree";
  return settings;
}

std::vector<std::string> sequence_of(const RunState& state) {
  std::vector<std::string> steps;
  for (const pipeline::PhaseRecord& record : state.phases) {
    steps.push_back(fmt::format("{} {}/{}: {}, {}", to_string(record.phase), record.round, record.attempt, record.state,
                                record.is_over ? to_string(record.result.kind) : "open"));
  }
  for (const pipeline::RunState::DeliveryRecord& made : state.deliveries) {
    steps.push_back(fmt::format("{} {}: {}", to_string(made.step), made.round, made.done.passed ? "ok" : "failed"));
  }
  steps.push_back("outcome: " + state.outcome);
  return steps;
}

Environment environment_for(const Seams& seams, const Scratch& scratch) {
  auto variables = seams.environment.all();
  variables["SIGNALBOX_HOME"] = scratch.home();
  variables["SIGNALBOX_WORKFLOWS"] = scratch.workflows();
  variables.erase("WORKFLOW_STORAGE_PATH");
  return Environment(std::move(variables));
}

}  // namespace

Result<Scratch> make_scratch(const Seams& seams, const Recording& recording) {
  Files& files = seams.files;
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const std::string id = make_id("p-", seams.clock.now_ms(), seams.random);
  Scratch scratch{join_path(join_path(homes.data, "replays"), id)};
  SB_TRY(files.make_directories(scratch.home(), 0700));
  scratch.root = SB_TRY(files.canonical(scratch.root));
  const std::string& base = recording.settings.base;
  SB_TRY(run_in(seams, scratch.root, {"init", "--quiet", "--bare", "--initial-branch=" + base, scratch.remote()}));
  const std::string target = "refs/heads/" + base;
  const std::string& commit = recording.state.tree.base_commit;
  if (recording.repository.ends_with(".bundle")) {
    const Status fetched =
        run_in(seams, scratch.remote(),
               {"fetch", "--quiet", recording.repository, recorded_ref(recording.state) + ":" + target});
    if (!fetched || !run_in(seams, scratch.remote(), {"cat-file", "-e", commit + "^{commit}"})) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} does not contain the run's start commit{}", recording.repository,
                              fetched ? "" : ": " + fetched.error().message),
                  "Export the run again: signalbox runs export RUN --as-test DIR");
    }
  } else {
    SB_TRY(run_in(seams, recording.repository, {"push", "--quiet", scratch.remote(), commit + ":" + target}));
  }
  SB_TRY(run_in(seams, scratch.root, {"clone", "--quiet", scratch.remote(), scratch.repository()}));
  if (!recording.pitch.empty()) {
    const std::string pitch = join_path(scratch.repository(), ".signalbox/current-pitch.md");
    SB_TRY(files.make_directories(parent_path(pitch)));
    SB_TRY(files.write_atomic(pitch, recording.pitch));
  }
  SB_TRY(files.make_directories(scratch.workflows()));
  for (std::size_t i = 0; i < recording.workflows.size(); ++i) {
    const std::string file = join_path(scratch.workflows(), fmt::format("{}.json", i));
    SB_TRY(files.write_atomic(file, to_json(recording.workflows[i])));
  }
  if (!recording.soul.empty()) SB_TRY(files.write_atomic(join_path(scratch.home(), "soul.md"), recording.soul));
  SB_TRY(files.write_atomic(join_path(scratch.home(), "none.jsonl"), ""));
  // What the user lets agents reach does not depend on which run it is.
  const auto users = SB_TRY(inbox::load_if_exists(files, join_path(homes.config, "config.yaml")));
  if (const Value* sandbox = users ? users->root.find("sandbox") : nullptr; sandbox != nullptr) {
    SB_TRY(files.write_atomic(join_path(scratch.home(), "config.yaml"),
                              to_json(Value::object({{"sandbox", *sandbox}})) + "\n"));
  }
  return scratch;
}

std::string divergence(const RunState& then, const RunState& now) {
  const auto before = sequence_of(then), after = sequence_of(now);
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string was = i < before.size() ? before[i] : "(nothing)";
    const std::string is = i < after.size() ? after[i] : "(nothing)";
    if (was != is) return fmt::format("recorded: {}\nreplayed: {}", was, is);
  }
  return {};
}

Replay::Replay(const Seams& seams, const Recording& recording, const Scratch& scratch)
    : recording_(recording),
      scratch_(scratch),
      environment_(environment_for(seams, scratch)),
      clock_(seams.clock),
      seams_{seams.files, clock_, seams.random, seams.process, environment_, seams.streams},
      people_(recording, clock_) {}

Result<RunState> Replay::play(const RunObserver& observer) {
  const ReplaySource played{.run = recording_.state.id,
                            .cassette = recording_.cassette,
                            .before = [this](const auto& requester) { return people_.before(requester); }};
  auto run_environment =
      SB_TRY(RunEnvironment::open_replay(seams_, scratch_.repository(), offline(recording_, scratch_), played));
  SB_TRY(make_dependencies(*run_environment));
  pipeline::Coordinator coordinator = run_environment->coordinator(watch(*run_environment, observer));
  const RunState& then = recording_.state;
  pipeline::RunRequest request{.goal = then.goal, .workspace = scratch_.repository()};
  if (!then.ticket.title.empty()) request.ticket = then.ticket;
  request.mode = then.route ? std::optional(then.route->mode) : then.wanted;
  request.trigger = then.trigger;
  const std::string run = SB_TRY(coordinator.open(request));
  people_.attach(*run_environment, run);
  auto state = drive(coordinator, *run_environment, run, observer);
  left_at_ = run_environment->diverged_at();
  return state;
}

bool Replay::has_left(RunEnvironment& run_environment, const RunObserver& observer) const {
  return !observer.should_continue() || !run_environment.diverged_at().empty();
}

RunObserver Replay::watch(RunEnvironment& run_environment, const RunObserver& observer) {
  RunObserver own = observer;
  own.on_event = [this, &observer](const auto& state, const auto& event) {
    people_.on_event(event);
    observer.on_event(state, event);
  };
  own.should_continue = [this, &run_environment, &observer] {
    return !has_left(run_environment, observer) && !people_.is_action_due();
  };
  own.ask_interactively = [this](const std::string& decision, const auto&) { return people_.answer(decision); };
  return own;
}

Result<RunState> Replay::drive(pipeline::Coordinator& coordinator, RunEnvironment& run_environment,
                               const std::string& run, const RunObserver& observer) {
  for (;;) {
    RunState state = SB_TRY(coordinator.drive(run, {}));
    if (!state.outcome.empty() || has_left(run_environment, observer) || !people_.is_action_due()) return state;
    if (!SB_TRY(people_.act(coordinator))) return state;
  }
}

// The replay does not wait: what the run waited for is available.
Status Replay::make_dependencies(RunEnvironment& run_environment) {
  int number = 0;
  for (const std::string& ticket : recording_.state.ticket.depends_on) {
    const std::string run = fmt::format("r-before-{}", ++number);
    const Value opened = Value::object({{"v", 1},
                                        {"run", run},
                                        {"repository", scratch_.repository()},
                                        {"ticket", Value::object({{"id", ticket}, {"title", ticket}})}});
    SB_TRY(run_environment.log().append(run, 0, "opened", opened));
    SB_TRY(run_environment.log().append(run, 1, "ended", Value::object({{"outcome", "merged"}, {"reason", "before"}})));
  }
  return {};
}

}  // namespace sb::runs
