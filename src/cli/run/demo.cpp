// `signalbox demo`: turns a sample ticket into a merged change without an API key. Uses the real pipeline and
// workflows, a real repository and remote, and a model with recorded replies.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"
#include "base/text/printable.hpp"
#include "cli/decision/conversation.hpp"
#include "cli/decision/decision_view.hpp"
#include "cli/person.hpp"
#include "cli/run/demo_project.hpp"
#include "cli/run/display.hpp"
#include "cli/run/foreground.hpp"
#include "cli/signals.hpp"
#include "hook/install/hook_command.hpp"
#include "pipeline/git/git.hpp"
#include "runs/request.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

struct DemoOptions {
  std::string directory;
  bool wants_json = false;
};

struct Question {
  std::string asked, answered, by;
};

class Demo {
 public:
  Demo(const Context& context, const DemoFolder& place, runs::RunEnvironment& run_environment, bool wants_json)
      : context_(context), place_(place), run_environment_(run_environment), wants_json_(wants_json) {}

  Result<int> show() {
    const ProcessResult before = SB_TRY(check());
    SB_TRY(open());
    introduce(before);
    RunState state = SB_TRY(drive());
    if (state.outcome == "merged") SB_TRY(merge_by_hand());
    const ProcessResult after = SB_TRY(check());
    const auto events = SB_TRY(count_events(state));
    wants_json_ ? print_json(state, before, after, events) : conclude(state, after, events);
    return state.outcome == "merged" && after.code == 0 ? kExitOk : kExitNegative;
  }

 private:
  Result<ProcessResult> check() const {
    return context_.seams.process.run({.argv = {"./check"},
                                       .directory = place_.repository(),
                                       .environment = sandbox::clean_environment(context_.seams.environment),
                                       .timeout_ms = 10'000});
  }

  // Starts a new run, or resumes the unfinished run of an interrupted demo.
  Status open() {
    if (place_.already_existed) {
      const auto last = run_environment_.log().resolve("last");
      if (last) {
        const RunState state = SB_TRY(run_environment_.log().state(*last));
        if (!state.outcome.empty()) return is_over_already();
        run_ = *last;
      }
    }
    started_ms_ = context_.seams.clock.now_ms();
    return {};
  }

  std::unexpected<Error> is_over_already() const {
    return fail(ErrorCode::kConflict, fmt::format("the demo in {} has already finished", quote_json(place_.directory)),
                fmt::format("See {} runs show last, or name another folder", program()));
  }

  Result<RunState> drive() {
    std::optional<RunDisplay> display;
    if (!wants_json_) display.emplace(context_, false);
    display_ = display ? &*display : nullptr;
    const SignalWatch signals;
    runs::RunObserver observer;
    observer.should_continue = [&] { return !signals.was_received(); };
    observer.ask_interactively = [this](const std::string& decision, const auto& is_wanted) {
      return ask(decision, is_wanted);
    };
    if (display_ != nullptr) {
      observer.on_event = [this](const auto& state, const auto& event) { display_->on_event(state, event); };
      observer.on_progress = [this](const agent::Progress& progress) { display_->on_progress(progress); };
    }
    pipeline::Coordinator coordinator = run_environment_.coordinator(std::move(observer));
    if (run_.empty()) run_ = SB_TRY(coordinator.open(SB_TRY(request())));
    auto state = coordinator.drive(run_, {});
    if (display_ != nullptr) display_->finish();
    display_ = nullptr;
    took_ms_ = context_.seams.clock.now_ms() - started_ms_;
    return state;
  }

  Result<pipeline::RunRequest> request() {
    pipeline::RunRequest request;
    request.goal = demo_data()["goal"].as_string();
    request.workspace = place_.repository();
    request.ticket =
        SB_TRY(runs::load_ticket(context_.seams, run_environment_.forge(), place_.ticket(), &request.ticket_source));
    return request;
  }

  // The one question the script asks. Any other question stays in the inbox: the demo must not decide it.
  Status ask(const std::string& decision, const std::function<bool()>& is_wanted) {
    inbox::Home& home = run_environment_.home().home();
    const inbox::DecisionState state = SB_TRY(home.inbox().load(decision));
    const auto declared = declaration_of(state);
    if (!declared || !state.is_open()) return {};
    if (is_here()) {
      if (display_ != nullptr) display_->pause();
      const Conversation::Options options{.uses_errors = wants_json_, .is_wanted = is_wanted};
      const auto held = Conversation(context_, home, *declared, options).ask(state);
      if (display_ != nullptr) display_->resume();
      return held ? Status() : std::unexpected(held.error());
    }
    const std::string choice = default_of(state);
    return choice.empty() ? Status() : take_default(decision, choice);
  }

  Status take_default(const std::string& decision, const std::string& choice) {
    if (!wants_json_) {
      context_.out(
          fmt::format("          No terminal; using the default answer: {}\n", demo_data()["default"].as_string()));
    }
    inbox::AnswerSubmission submission;
    submission.given.options = {choice};
    submission.from = {inbox::Channel::kProgram, "signalbox demo"};
    submission.raw = choice;
    submission.resolved_by = inbox::ResolvedBy::kPreference;
    SB_TRY(run_environment_.home().home().inbox().answer(decision, submission));
    return {};
  }

  bool is_here() {
    if (!is_here_) is_here_ = is_person_here(context_);
    return *is_here_;
  }

  static std::string default_of(const inbox::DecisionState& state) {
    for (const inbox::Part& part : state.opened.question.parts) {
      for (const inbox::Choice& choice : part.options) {
        if (choice.label == demo_data()["default"].as_string()) return choice.id;
      }
    }
    return {};
  }

  // Updates the working copy to what was merged, as a person would.
  Status merge_by_hand() const {
    pipeline::Git git(context_.seams, place_.repository());
    SB_TRY(git.run({"pull", "--quiet", "--ff-only", "origin", "main"}));
    return {};
  }

  struct Events {
    std::int64_t of_run = 0, of_agents = 0;
  };
  Result<Events> count_events(const RunState& state) {
    Events events;
    events.of_run = state.events;
    for (const pipeline::PhaseRecord& phase : state.phases) {
      agent::AgentLog log(run_environment_.home().home().store(), context_.seams.clock, phase.session);
      events.of_agents += static_cast<std::int64_t>(SB_TRY(log.read()).size());
    }
    return events;
  }

  // The first question and its answer, from the inbox.
  Question question(const RunState& state) {
    for (const pipeline::RunQuestion& asked : state.asked) {
      const auto decision = run_environment_.home().home().inbox().load(asked.decision);
      if (!decision) continue;
      Question question{.asked = {}, .answered = asked.choice, .by = asked.by};
      if (const auto declared = declaration_of(*decision)) {
        question.asked = decision->opened.source.string_at("instruction").value_or("");
      }
      for (const inbox::Part& part : decision->opened.question.parts) {
        if (const inbox::Choice* choice = part.find(asked.choice)) question.answered = choice->label;
      }
      return question;
    }
    return {};
  }

  std::string program() const { return fmt::format("SIGNALBOX_HOME={} signalbox", hook::shell_quoted(place_.home())); }

  static std::string failed_line(const ProcessResult& exit) {
    const std::size_t at = exit.output.find("FAILED");
    return at == std::string::npos ? std::string() : exit.output.substr(at, exit.output.find('\n', at) - at);
  }

  void introduce(const ProcessResult& before) const {
    if (wants_json_) return;
    context_.out(
        fmt::format("In {}: a small project (repo/), its remote (remote.git), and a home for Signalbox "
                    "(home/).\nTicket: {}\nThe project's check before: {}\n\n",
                    printable(place_.directory), demo_data()["goal"].as_string(),
                    before.code == 0 ? "passed" : failed_line(before)));
    if (place_.sandbox_is_missing.empty()) return;
    context_.out(fmt::format("No sandbox on this machine ({}), so home/config.yaml says sandbox: {{mode: none}}.\n\n",
                             printable(place_.sandbox_is_missing)));
  }

  void conclude(const RunState& state, const ProcessResult& after, const Events& events) {
    if (state.outcome != "merged") {
      context_.err(fmt::format("The demo did not end in a merge: {}\nSee {} runs show {}\n",
                               state.outcome.empty() ? state.waits_for : state.outcome, program(), run_));
      return;
    }
    const Question answer = question(state);
    const std::string repository = hook::shell_quoted(place_.repository());
    context_.out(fmt::format("\nMerged: {} on main of remote.git\n", state.commit.substr(0, 12)));
    context_.out(
        fmt::format("Asked: {} {} ({})\n", printable(answer.asked), printable(answer.answered), printable(answer.by)));
    context_.out(fmt::format("The project's check after: {}\n", after.code == 0 ? "passed" : failed_line(after)));
    context_.out(fmt::format("{} events ({} of the run, {} of its agents) in {:.1f} s\n\nExplore:\n",
                             events.of_run + events.of_agents, events.of_run, events.of_agents,
                             static_cast<double>(took_ms_) / 1'000));
    context_.out(fmt::format("  git -C {} show\n  cd {} && ./check\n", repository, repository));
    for (const char* words : {"runs show last", "inbox list --all", "session list"}) {
      context_.out(fmt::format("  {} {}\n", program(), words));
    }
    context_.out("\nThe model's replies were recorded (home/replies.jsonl); everything else was real.\n");
  }

  void print_json(const RunState& state, const ProcessResult& before, const ProcessResult& after,
                  const Events& events) {
    const Question answer = question(state);
    Value result = Value::object({{"outcome", state.outcome.empty() ? "waiting" : state.outcome},
                                  {"run", run_},
                                  {"directory", place_.directory},
                                  {"repository", place_.repository()},
                                  {"remote", place_.remote()},
                                  {"home", place_.home()},
                                  {"commit", state.commit},
                                  {"request", state.request},
                                  {"url", state.url}});
    result.set("question", Value::object({{"asked", answer.asked}, {"answered", answer.answered}, {"by", answer.by}}));
    result.set("check", Value::object({{"before", before.code}, {"after", after.code}}));
    result.set("events", events.of_run + events.of_agents);
    result.set("run_events", events.of_run);
    result.set("agent_events", events.of_agents);
    result.set("seconds", static_cast<double>(took_ms_) / 1'000);
    if (state.outcome.empty()) result.set("waits_for", state.waits_for);
    context_.out(to_json(result) + "\n");
  }

  const Context& context_;
  const DemoFolder& place_;
  runs::RunEnvironment& run_environment_;
  bool wants_json_;
  RunDisplay* display_ = nullptr;
  std::optional<bool> is_here_;
  std::string run_;
  TimestampMs started_ms_ = 0;
  std::int64_t took_ms_ = 0;
};

int run_demo(const Context& users, const DemoOptions& options) {
  const auto fail_with = [&](const Error& error) { return report_run(users, error, options.wants_json); };
  const auto place = make_demo_folder(users.seams, options.directory);
  if (!place) return fail_with(place.error());
  const Environment environment = demo_environment(users.seams.environment, *place);
  const Seams& seams = users.seams;
  const Context context{{seams.files, seams.clock, seams.random, seams.process, environment, seams.streams},
                        users.arguments,
                        users.has_colour,
                        {}};
  const auto run_environment = runs::RunEnvironment::open(context.seams, place->repository());
  if (!run_environment) return fail_with(run_environment.error().front());
  const auto code = Demo(context, *place, **run_environment, options.wants_json).show();
  return code ? *code : fail_with(code.error());
}

}  // namespace

Action declare_demo(App& app) {
  auto options = std::make_shared<DemoOptions>();
  app.add_option("--dir", options->directory,
                 "Keep everything in this new or empty folder (default: a temporary folder)");
  app.add_flag("--json", options->wants_json, "Print the result as one JSON object");
  return [options](Context& context) { return run_demo(context, *options); };
}

}  // namespace sb::cli
