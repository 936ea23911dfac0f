#include "cli/run/foreground.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/decision/conversation.hpp"
#include "cli/decision/decision_view.hpp"
#include "cli/run/display.hpp"
#include "cli/signals.hpp"
#include "inbox/question/answer_command.hpp"
#include "runs/request.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

// Drives one run and shows it.
class RunSession {
 public:
  RunSession(const Context& context, runs::RunEnvironment& run_environment, const DriveOptions& options)
      : context_(context), run_environment_(run_environment), options_(options), display_(context, options.wants_json) {
    for (const std::string& warning : agent::warnings_about(run_environment.settings().agents)) {
      context.err(fmt::format("Warning: {}\n", one_line(warning, 1'000)));
    }
    if (::geteuid() == 0) context.err(fmt::format("Warning: {}\n", sandbox::kRootWarning));
  }

  Result<RunState> start(const pipeline::RunRequest& request) {
    pipeline::Coordinator coordinator = run_environment_.coordinator(observer());
    run_ = SB_TRY(coordinator.open(request));
    return coordinator.drive(run_, wait_limits());
  }

  Result<RunState> resume(const std::string& run, const std::optional<pipeline::Ticket>& ticket) {
    run_ = run;
    pipeline::Coordinator coordinator = run_environment_.coordinator(observer());
    if (ticket) SB_TRY(coordinator.compare_ticket(run, *ticket));
    return coordinator.drive(run, wait_limits());
  }

  int finish(const Result<RunState>& state) {
    display_.finish();
    if (!state) return report_run(context_, state.error(), options_.wants_json, run_);
    const auto run_status = pipeline::read_run_status(context_.seams, run_environment_.home().home(), *state);
    if (!run_status) return report_run(context_, run_status.error(), options_.wants_json, run_);
    if (options_.wants_json) context_.out(to_json(result_of(*state, *run_status)) + "\n");
    if (state->outcome.empty()) {
      context_.err(next_step_text(*state));
    } else if (!options_.wants_json) {
      context_.out(ending(*state));
    }
    return state->outcome == "merged" || state->outcome == "requested" ? kExitOk : kExitNegative;
  }
  const std::string& run() const { return run_; }

 private:
  runs::RunObserver observer() {
    runs::RunObserver observer;
    observer.on_event = [this](const auto& state, const auto& event) { display_.on_event(state, event); };
    observer.on_progress = [this](const agent::Progress& progress) { display_.on_progress(progress); };
    observer.should_continue = [this] { return !signals_.was_received(); };
    if (is_person_here(context_)) {
      observer.ask_interactively = [this](const std::string& id, const auto& is_wanted) { return ask(id, is_wanted); };
    }
    return observer;
  }

  pipeline::WaitLimits wait_limits() const {
    return options_.wait_ms ? pipeline::WaitLimits{*options_.wait_ms, *options_.wait_ms} : pipeline::WaitLimits{};
  }

  Status ask(const std::string& decision, const std::function<bool()>& is_wanted) {
    inbox::Home& home = run_environment_.home().home();
    const inbox::DecisionState state = SB_TRY(home.inbox().load(decision));
    const auto declared = declaration_of(state);
    if (!declared || !state.is_open()) return {};
    display_.pause();
    const Conversation::Options options{.uses_errors = options_.wants_json, .is_wanted = is_wanted};
    const auto held = Conversation(context_, home, *declared, options).ask(state);
    display_.resume();
    return held ? Status() : std::unexpected(held.error());
  }

  std::string next_step_text(const RunState& state) {
    std::string text = fmt::format("Run {} is not finished: {}.\n", state.id, one_line(state.waits_for, 1'000));
    if (const pipeline::RunQuestion* asked = state.open_question()) {
      const auto decision = run_environment_.home().home().inbox().load(asked->decision);
      const auto declared = decision ? declaration_of(*decision) : std::nullopt;
      if (declared) text += fmt::format("Answer with: {}\n", inbox::answer_command(asked->decision, *declared));
      if (asked->question != "session" && declared && declared->decision() != nullptr) {
        int number = 0;
        for (const auto& option : declared->decision()->options) {
          text += fmt::format("  {} {}\n", ++number, option.label);
        }
      }
    }
    return text + fmt::format("Resume with: signalbox runs resume {}\n", state.id);
  }

  std::string ending(const RunState& state) const {
    std::string text = fmt::format("\n{}", state.outcome);
    if (!state.outcome_reason.empty()) text += ": " + one_line(state.outcome_reason, 400);
    if (!state.url.empty()) text += fmt::format("\nRequest: {}", one_line(state.url, 400));
    if (!state.commit.empty()) text += fmt::format("\nCommit: {}", state.commit);
    text += fmt::format("\n{} tokens, {}, {}\n", token_count_text(state.usage().total()),
                        agent::dollars(state.micro_cents()), duration_text(state.updated_at - state.started_at));
    if (const std::string why = state.open_ticket(); !why.empty()) {
      text += fmt::format("The ticket is still open: {}\nFix that, then run: signalbox runs resume {}\n",
                          one_line(why, 400), state.id);
    }
    if (has_work_tree(context_.seams.files, state)) {
      text += fmt::format("Undelivered work is in {}\n", state.tree.path);
    }
    return text + fmt::format("More: signalbox runs show {}\n", state.id);
  }

  const Context& context_;
  runs::RunEnvironment& run_environment_;
  DriveOptions options_;
  SignalWatch signals_;
  RunDisplay display_;
  std::string run_;
};

std::optional<pipeline::RunRequest> restart_of(const Result<RunState>& state) {
  return state ? runs::restart_of(*state) : std::nullopt;
}

}  // namespace

int report_run(const Context& context, const Error& error, bool wants_json, std::string_view run) {
  if (wants_json) {
    Value line = Value::object({{"type", "error"},
                                {"code", to_string(error.code)},
                                {"message", error.message},
                                {"remedy", error.remedy},
                                {"retry", error.is_retryable}});
    if (!run.empty()) line.set("run", run);
    context.out(to_json(line) + "\n");
  }
  return report(context, error);
}

bool has_work_tree(const Files& files, const pipeline::RunState& state) {
  const std::string& path = state.tree.path;
  return !path.empty() && path != state.repository && files.kind(path) == FileKind::kDirectory;
}

int start_run(const Context& context, runs::RunEnvironment& run_environment, const pipeline::RunRequest& request,
              const DriveOptions& options) {
  RunSession session(context, run_environment, options);
  const auto state = session.start(request);
  if (const auto again = restart_of(state)) {
    session.finish(state);
    return start_run(context, run_environment, *again, options);
  }
  return session.finish(state);
}

int resume_run(const Context& context, runs::RunEnvironment& run_environment, const std::string& run,
               const std::optional<pipeline::Ticket>& ticket, const DriveOptions& options) {
  std::optional<pipeline::RunRequest> again;
  int code = kExitOk;
  {
    RunSession session(context, run_environment, options);
    const auto state = session.resume(run, ticket);
    again = restart_of(state);
    code = session.finish(state);
  }
  return again ? start_run(context, run_environment, *again, options) : code;
}

Result<std::optional<std::int64_t>> parse_wait(const std::string& given) {
  if (given.empty()) return std::nullopt;
  return SB_TRY(parse_duration_ms(given));
}

}  // namespace sb::cli
