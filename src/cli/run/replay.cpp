#include "cli/run/replay.hpp"

#include <fmt/format.h>

#include "cli/replay_people.hpp"
#include "cli/run/display.hpp"
#include "cli/run/foreground.hpp"
#include "cli/run_recording.hpp"
#include "cli/signals.hpp"
#include "pipeline/git/git.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

// A folder for one replay, taken away when it went well.
struct Scratch {
  std::string root;
  std::string home() const { return join_path(root, "home"); }
  std::string remote() const { return join_path(root, "remote.git"); }
  std::string repository() const { return join_path(root, "repo"); }
  std::string workflows() const { return join_path(root, "workflows"); }
};

Status run_in(const Context& context, const std::string& directory, std::vector<std::string> words) {
  pipeline::Git git(context.seams, directory);
  SB_TRY(git.run(std::move(words)));
  return {};
}

Result<Scratch> make_scratch(const Context& context, const Recording& recording) {
  Files& files = context.seams.files;
  const Homes homes = SB_TRY(sb::homes(context.seams.environment));
  const std::string id = make_id("p-", context.seams.clock.now_ms(), context.seams.random);
  Scratch scratch{join_path(join_path(homes.data, "replays"), id)};
  SB_TRY(files.make_directories(scratch.home(), 0700));
  scratch.root = SB_TRY(files.canonical(scratch.root));
  const std::string& base = recording.settings.base;
  SB_TRY(run_in(context, scratch.root, {"init", "--quiet", "--bare", "--initial-branch=" + base, scratch.remote()}));
  const std::string target = "refs/heads/" + base;
  const std::string& commit = recording.state.tree.base_commit;
  if (recording.repository.ends_with(".bundle")) {
    const Status fetched = run_in(context, scratch.remote(),
                                  {"fetch", "--quiet", recording.repository, kept_ref(recording.state) + ":" + target});
    if (!fetched || !run_in(context, scratch.remote(), {"cat-file", "-e", commit + "^{commit}"})) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} does not have the commit the run began from{}", recording.repository,
                              fetched ? "" : ": " + fetched.error().message),
                  "Export the run again: signalbox runs export RUN --as-test DIR");
    }
  } else {
    SB_TRY(run_in(context, recording.repository, {"push", "--quiet", scratch.remote(), commit + ":" + target}));
  }
  SB_TRY(run_in(context, scratch.root, {"clone", "--quiet", scratch.remote(), scratch.repository()}));
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
  return scratch;
}

// No model is asked, so none needs its key or its script; no forge either, but what is asked depends on which it is.
// Phases that were never started have no workflow of their own here.
pipeline::Settings offline(const Recording& recording, const Scratch& scratch) {
  pipeline::Settings settings = recording.settings;
  for (auto& [phase, workflow] : settings.phases) {
    if (recording.state.newest(phase) == nullptr) workflow = pipeline::bundled_phases().at(phase);
  }
  for (auto& [name, model] : settings.agents.models) {
    model.provider = agent::ModelSettings::Provider::kScripted;
    model.script = join_path(scratch.home(), "none.jsonl");
    model.key.clear();
  }
  settings.forge = {.kind = settings.forge.kind};
  settings.strategy = "worktree";
  return settings;
}

std::vector<std::string> course_of(const RunState& state) {
  std::vector<std::string> steps;
  for (const pipeline::PhaseRecord& record : state.phases) {
    steps.push_back(fmt::format("{} {}/{}: {}, {}", to_string(record.phase), record.round, record.attempt, record.state,
                                record.is_over ? to_string(record.result.kind) : "open"));
  }
  for (const pipeline::RunState::Delivered& made : state.delivered) {
    steps.push_back(fmt::format("{} {}: {}", to_string(made.step), made.round, made.done.passed ? "ok" : "failed"));
  }
  steps.push_back("outcome: " + state.outcome);
  return steps;
}

// The first place where both went different ways; empty: they did not.
std::string divergence(const RunState& then, const RunState& now) {
  const auto before = course_of(then), after = course_of(now);
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string was = i < before.size() ? before[i] : "(nothing)";
    const std::string is = i < after.size() ? after[i] : "(nothing)";
    if (was != is) return fmt::format("then: {}\nnow:  {}", was, is);
  }
  return {};
}

class Replay {
 public:
  Replay(const Context& context, const Recording& recording, const Scratch& scratch, bool wants_json)
      : recording_(recording),
        scratch_(scratch),
        environment_(environment_for(context, scratch)),
        clock_(context.seams.clock),
        context_(context_for(context, environment_, clock_)),
        display_(context_, wants_json),
        people_(recording, clock_) {}

  Result<RunState> play() {
    const Played played{.run = recording_.state.id,
                        .cassette = recording_.cassette,
                        .before = [this](const auto& asker) { return people_.before(asker); }};
    auto office =
        SB_TRY(RunOffice::open_replay(context_, scratch_.repository(), offline(recording_, scratch_), played));
    SB_TRY(make_dependencies(*office));
    pipeline::Coordinator coordinator = office->coordinator(watching(*office));
    const RunState& then = recording_.state;
    pipeline::RunWish wish{.goal = then.goal, .workspace = scratch_.repository()};
    if (!then.ticket.title.empty()) wish.ticket = then.ticket;
    wish.mode = then.route ? std::optional(then.route->mode) : then.wanted;
    wish.trigger = then.trigger;
    const std::string run = SB_TRY(coordinator.open(wish));
    people_.meet(*office, run);
    auto state = drive(coordinator, *office, run);
    display_.finish();
    left_at_ = office->left_at();
    return state;
  }
  // Where it asked what was not recorded, or could not go on; empty: nowhere.
  const std::string& left_at() const { return left_at_; }

 private:
  bool has_left(RunOffice& office) const { return signals_.came() || !office.left_at().empty(); }

  Watching watching(RunOffice& office) {
    Watching watching;
    watching.on_event = [this](const auto& state, const auto& event) {
      people_.saw(event);
      display_.on_event(state, event);
    };
    watching.on_progress = [this](const agent::Progress& progress) { display_.on_progress(progress); };
    watching.keeps_going = [this, &office] { return !has_left(office) && !people_.has_come(); };
    watching.ask_here = [this](const std::string& decision, const auto&) { return people_.answer(decision); };
    return watching;
  }

  Result<RunState> drive(pipeline::Coordinator& coordinator, RunOffice& office, const std::string& run) {
    for (;;) {
      RunState state = SB_TRY(coordinator.drive(run, {}));
      if (!state.outcome.empty() || has_left(office) || !people_.has_come()) return state;
      if (!SB_TRY(people_.act(coordinator))) return state;
    }
  }

  // What the run had to wait for, is there.
  Status make_dependencies(RunOffice& office) {
    int number = 0;
    for (const std::string& ticket : recording_.state.ticket.depends_on) {
      const std::string run = fmt::format("r-before-{}", ++number);
      const Value opened = Value::object({{"v", 1},
                                          {"run", run},
                                          {"repository", scratch_.repository()},
                                          {"ticket", Value::object({{"id", ticket}, {"title", ticket}})}});
      SB_TRY(office.log().append(run, 0, "opened", opened));
      SB_TRY(office.log().append(run, 1, "ended", Value::object({{"outcome", "merged"}, {"reason", "before"}})));
    }
    return {};
  }

  static Environment environment_for(const Context& context, const Scratch& scratch) {
    auto variables = context.seams.environment.all();
    variables["SIGNALBOX_HOME"] = scratch.home();
    variables["SIGNALBOX_WORKFLOWS"] = scratch.workflows();
    variables.erase("WORKFLOW_STORAGE_PATH");
    return Environment(std::move(variables));
  }
  static Context context_for(const Context& context, const Environment& environment, Clock& clock) {
    const Seams& seams = context.seams;
    return Context{Seams{seams.files, clock, seams.random, seams.process, environment, seams.streams},
                   context.arguments, context.has_colour, context.exact};
  }

  const Recording& recording_;
  const Scratch& scratch_;
  Environment environment_;
  SkippingClock clock_;
  Context context_;
  SignalWatch signals_;
  RunDisplay display_;
  ReplayedPeople people_;
  std::string left_at_;
};

int tell(const Context& context, const Recording& recording, const Scratch& scratch, const std::string& different,
         const RunState& now, bool wants_json) {
  if (wants_json) {
    context.out(to_json(Value::object({{"type", "replay"},
                                       {"run", recording.state.id},
                                       {"same", different.empty()},
                                       {"difference", different},
                                       {"outcome", now.outcome},
                                       {"scratch", scratch.root}})) +
                "\n");
  } else if (different.empty()) {
    context.out(fmt::format("\nRun {} goes the same way: {}\n", recording.state.id,
                            now.outcome.empty() ? "it is not over, and stands where it stood" : now.outcome));
  } else {
    context.out(fmt::format("\nRun {} goes another way:\n{}\nEverything is in {}\n", recording.state.id, different,
                            scratch.root));
  }
  return different.empty() ? kDone : kNo;
}

}  // namespace

int replay_run(const Context& context, const std::string& name, bool wants_json) {
  const auto recording = load_recording(context, name);
  if (!recording) return report_run(context, recording.error(), wants_json);
  const auto scratch = make_scratch(context, *recording);
  if (!scratch) return report_run(context, scratch.error(), wants_json);
  Replay replay(context, *recording, *scratch, wants_json);
  const auto state = replay.play();
  if (!state) return report_run(context, state.error(), wants_json);
  std::string different = replay.left_at();
  if (different.empty()) different = divergence(recording->state, *state);
  for (const std::string& note : recording->notes) {
    if (!different.empty()) different += fmt::format("\nPerhaps because {}.", note);
  }
  const int code = tell(context, *recording, *scratch, different, *state, wants_json);
  if (code == kDone) (void)context.seams.process.run({.argv = {"rm", "-rf", "--", scratch->root}});
  return code;
}

}  // namespace sb::cli
