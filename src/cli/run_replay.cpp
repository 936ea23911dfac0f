#include "cli/run_replay.hpp"

#include <fmt/format.h>

#include <ranges>

#include "cli/run_display.hpp"
#include "cli/run_driving.hpp"
#include "cli/run_recording.hpp"
#include "cli/signals.hpp"
#include "pipeline/git.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

// A folder for one replay, taken away when it went well.
struct Scratch {
  std::string root;
  std::string home() const { return join_path(root, "home"); }
  std::string remote() const { return join_path(root, "remote.git"); }
  std::string repository() const { return join_path(root, "repo"); }
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
  if (recording.repository.ends_with(".bundle")) {
    const std::string ref = "refs/signalbox/kept/" + recording.state.id;
    SB_TRY(run_in(context, scratch.remote(), {"fetch", "--quiet", recording.repository, ref + ":" + target}));
  } else {
    const std::string& commit = recording.state.tree.base_commit;
    SB_TRY(run_in(context, recording.repository, {"push", "--quiet", scratch.remote(), commit + ":" + target}));
  }
  SB_TRY(run_in(context, scratch.root, {"clone", "--quiet", scratch.remote(), scratch.repository()}));
  if (!recording.pitch.empty()) {
    const std::string pitch = join_path(scratch.repository(), ".signalbox/current-pitch.md");
    SB_TRY(files.make_directories(parent_path(pitch)));
    SB_TRY(files.write_atomic(pitch, recording.pitch));
  }
  SB_TRY(files.write_atomic(join_path(scratch.home(), "none.jsonl"), ""));
  return scratch;
}

// No model is asked, so none needs its key or its script; no forge either.
pipeline::Settings offline(pipeline::Settings settings, const Scratch& scratch) {
  for (auto& [name, model] : settings.agents.models) {
    model.provider = agent::ModelSettings::Provider::kScripted;
    model.script = join_path(scratch.home(), "none.jsonl");
    model.key.clear();
  }
  const bool was_hosted = settings.forge.kind != "local";
  if (was_hosted && !settings.merge) settings.merge = pipeline::MergePolicy::kAsk;
  settings.forge = {};
  settings.strategy = "worktree";
  return settings;
}

// Answers what was answered then, in the same order.
class Answers {
 public:
  Answers(const RunState& recorded, inbox::Inbox& inbox) : recorded_(recorded), inbox_(inbox) {}

  Status answer(const std::string& decision) {
    if (next_ >= recorded_.asked.size()) return {};
    const pipeline::Asked& then = recorded_.asked[next_++];
    if (then.choice.empty() || then.choice.starts_with('(')) return {};
    inbox::Submission submission;
    for (const auto part : std::views::split(then.choice, ',')) {
      submission.given.options.emplace_back(part.begin(), part.end());
    }
    submission.from = {inbox::Channel::kTerminal, "replay"};
    submission.raw = then.choice;
    SB_TRY(inbox_.answer(decision, submission, then.remark));
    return {};
  }

 private:
  const RunState& recorded_;
  inbox::Inbox& inbox_;
  std::size_t next_ = 0;
};

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
  for (const pipeline::PhaseRecord& record : now.phases) {
    const auto* recorded = then.newest(record.phase, record.round);
    const bool is_new = recorded == nullptr || recorded->state != record.state;
    if (record.is_over && is_new && record.state == "model_failed") {
      return fmt::format("{} {}: {}", to_string(record.phase), record.round, record.reason);
    }
  }
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
        environment_(environment_for(context, recording, scratch)),
        context_(with_environment(context, environment_)),
        display_(context_, wants_json) {}

  Result<RunState> play() {
    auto office = SB_TRY(RunOffice::open_replay(context_, scratch_.repository(), offline(recording_.settings, scratch_),
                                                recording_.cassette, recording_.state.id));
    Answers answers(recording_.state, office->desk().desk().inbox());
    Watching watching;
    watching.on_event = [&](const auto& state, const auto& event) { display_.on_event(state, event); };
    watching.on_progress = [&](const agent::Progress& progress) { display_.on_progress(progress); };
    watching.keeps_going = [&] { return !signals_.came(); };
    watching.ask_here = [&](const std::string& decision) { return answers.answer(decision); };
    pipeline::Coordinator coordinator = office->coordinator(std::move(watching));
    const RunState& then = recording_.state;
    pipeline::RunWish wish{.goal = then.goal, .workspace = scratch_.repository()};
    if (!then.ticket.title.empty()) wish.ticket = then.ticket;
    wish.mode = then.route ? std::optional(then.route->mode) : then.wanted;
    wish.trigger = then.trigger;
    const std::string run = SB_TRY(coordinator.open(wish));
    auto state = coordinator.drive(run, {});
    display_.finish();
    return state;
  }

 private:
  static Environment environment_for(const Context& context, const Recording& recording, const Scratch& scratch) {
    auto variables = context.seams.environment.all();
    variables["SIGNALBOX_HOME"] = scratch.home();
    variables["SIGNALBOX_WORKFLOWS"] = fmt::format("{}", fmt::join(recording.workflows, ":"));
    return Environment(std::move(variables));
  }
  static Context with_environment(const Context& context, const Environment& environment) {
    const Seams& seams = context.seams;
    return Context{Seams{seams.files, seams.clock, seams.random, seams.process, environment, seams.streams},
                   context.arguments, context.has_colour, context.exact};
  }

  const Recording& recording_;
  const Scratch& scratch_;
  Environment environment_;
  Context context_;
  SignalWatch signals_;
  RunDisplay display_;
};

int tell(const Context& context, const Recording& recording, const Scratch& scratch, const RunState& now,
         bool wants_json) {
  const std::string different = divergence(recording.state, now);
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
                            now.outcome.empty() ? "it waits where it waited" : now.outcome));
  } else {
    context.out(fmt::format("\nRun {} goes another way:\n{}\nEverything is in {}\n", recording.state.id, different,
                            scratch.root));
  }
  return different.empty() ? kDone : kNo;
}

}  // namespace

int replay_run(const Context& context, const std::string& name, bool wants_json) {
  const auto recording = load_recording(context, name);
  if (!recording && wants_json) return report_run(context, recording.error().front(), wants_json);
  if (!recording) return report(context, recording.error());
  const auto scratch = make_scratch(context, *recording);
  if (!scratch) return report_run(context, scratch.error(), wants_json);
  const auto state = Replay(context, *recording, *scratch, wants_json).play();
  if (!state) return report_run(context, state.error(), wants_json);
  const int code = tell(context, *recording, *scratch, *state, wants_json);
  if (code == kDone) (void)context.seams.process.run({.argv = {"rm", "-rf", "--", scratch->root}});
  return code;
}

}  // namespace sb::cli
