#include "cli/run/foreground.hpp"

#include <fmt/format.h>

#include "cli/decision/conversation.hpp"
#include "cli/decision/decision_view.hpp"
#include "cli/run/display.hpp"
#include "cli/signals.hpp"
#include "inbox/question/answer_command.hpp"
#include "runs/request.hpp"

namespace sb::cli {
namespace {

using pipeline::RunState;

// One run being watched.
class Driving {
 public:
  Driving(const Context& context, runs::RunOffice& office, const DrivingOptions& options)
      : context_(context), office_(office), options_(options), display_(context, options.wants_json) {
    for (const std::string& warning : agent::warnings_about(office.settings().agents)) {
      context.err(fmt::format("Warning: {}\n", one_line(warning, 1'000)));
    }
  }

  Result<RunState> start(const pipeline::RunWish& wish) {
    pipeline::Coordinator coordinator = office_.coordinator(watching());
    run_ = SB_TRY(coordinator.open(wish));
    return coordinator.drive(run_, patience());
  }

  Result<RunState> resume(const std::string& run, const std::optional<pipeline::Ticket>& ticket) {
    run_ = run;
    pipeline::Coordinator coordinator = office_.coordinator(watching());
    if (ticket) SB_TRY(coordinator.compare_ticket(run, *ticket));
    return coordinator.drive(run, patience());
  }

  int finish(const Result<RunState>& state) {
    display_.finish();
    if (!state) return report_run(context_, state.error(), options_.wants_json, run_);
    const auto standing = pipeline::look_at_run(context_.seams, office_.desk().desk(), *state);
    if (!standing) return report_run(context_, standing.error(), options_.wants_json, run_);
    if (options_.wants_json) context_.out(to_json(result_of(*state, *standing)) + "\n");
    if (state->outcome.empty()) {
      context_.err(what_now(*state));
    } else if (!options_.wants_json) {
      context_.out(ending(*state));
    }
    return state->outcome == "merged" || state->outcome == "requested" ? kDone : kNo;
  }
  const std::string& run() const { return run_; }

 private:
  runs::Watching watching() {
    runs::Watching watching;
    watching.on_event = [this](const auto& state, const auto& event) { display_.on_event(state, event); };
    watching.on_progress = [this](const agent::Progress& progress) { display_.on_progress(progress); };
    watching.keeps_going = [this] { return !signals_.came(); };
    if (is_person_here(context_)) {
      watching.ask_here = [this](const std::string& id, const auto& is_wanted) { return ask(id, is_wanted); };
    }
    return watching;
  }

  pipeline::Patience patience() const {
    return options_.wait_ms ? pipeline::Patience{*options_.wait_ms, *options_.wait_ms} : pipeline::Patience{};
  }

  Status ask(const std::string& decision, const std::function<bool()>& is_wanted) {
    inbox::Desk& desk = office_.desk().desk();
    const inbox::DecisionState state = SB_TRY(desk.inbox().load(decision));
    const auto declared = declaration_of(state);
    if (!declared || !state.is_open()) return {};
    display_.hold();
    const Conversation::Options options{.uses_errors = options_.wants_json, .is_wanted = is_wanted};
    const Status held = Conversation(context_, desk, *declared, options).hold(state);
    display_.go_on();
    return held;
  }

  std::string what_now(const RunState& state) {
    std::string text = fmt::format("Run {} is not over: {}.\n", state.id, one_line(state.waits_for, 1'000));
    if (const pipeline::Asked* asked = state.open_question()) {
      const auto decision = office_.desk().desk().inbox().load(asked->decision);
      const auto declared = decision ? declaration_of(*decision) : std::nullopt;
      if (declared) text += fmt::format("Answer with: {}\n", inbox::answer_command(asked->decision, *declared));
      if (asked->question != "session" && declared && declared->decision() != nullptr) {
        int number = 0;
        for (const auto& option : declared->decision()->options) {
          text += fmt::format("  {} {}\n", ++number, option.label);
        }
      }
    }
    return text + fmt::format("Go on with: signalbox runs resume {}\n", state.id);
  }

  std::string ending(const RunState& state) const {
    std::string text = fmt::format("\n{}", state.outcome);
    if (!state.outcome_reason.empty()) text += ": " + one_line(state.outcome_reason, 400);
    if (!state.url.empty()) text += fmt::format("\nRequest: {}", one_line(state.url, 400));
    if (!state.commit.empty()) text += fmt::format("\nCommit: {}", state.commit);
    text += fmt::format("\n{} tokens, {}, {}\n", counted(state.usage().total()), agent::dollars(state.micro_cents()),
                        lasted(state.updated_at - state.started_at));
    if (const std::string why = state.open_ticket(); !why.empty()) {
      text += fmt::format("The ticket is still open: {}\nMend that, then: signalbox runs resume {}\n",
                          one_line(why, 400), state.id);
    }
    if (keeps_work(context_.seams.files, state)) {
      text += fmt::format("What was not delivered is still in {}\n", state.tree.path);
    }
    return text + fmt::format("More: signalbox runs show {}\n", state.id);
  }

  const Context& context_;
  runs::RunOffice& office_;
  DrivingOptions options_;
  SignalWatch signals_;
  RunDisplay display_;
  std::string run_;
};

std::optional<pipeline::RunWish> restart_of(const Result<RunState>& state) {
  return state ? runs::restart_of(*state) : std::nullopt;
}

}  // namespace

int report_run(const Context& context, const Error& error, bool wants_json, std::string_view run) {
  if (wants_json) {
    Value line = Value::object({{"type", "error"},
                                {"code", to_string(error.code)},
                                {"message", error.message},
                                {"remedy", error.remedy},
                                {"retry", error.retry_helps}});
    if (!run.empty()) line.set("run", run);
    context.out(to_json(line) + "\n");
  }
  return report(context, error);
}

bool keeps_work(const Files& files, const pipeline::RunState& state) {
  const std::string& path = state.tree.path;
  return !path.empty() && path != state.repository && files.kind(path) == FileKind::kDirectory;
}

int start_run(const Context& context, runs::RunOffice& office, const pipeline::RunWish& wish,
              const DrivingOptions& options) {
  Driving driving(context, office, options);
  const auto state = driving.start(wish);
  if (const auto again = restart_of(state)) {
    driving.finish(state);
    return start_run(context, office, *again, options);
  }
  return driving.finish(state);
}

int resume_run(const Context& context, runs::RunOffice& office, const std::string& run,
               const std::optional<pipeline::Ticket>& ticket, const DrivingOptions& options) {
  std::optional<pipeline::RunWish> again;
  int code = kDone;
  {
    Driving driving(context, office, options);
    const auto state = driving.resume(run, ticket);
    again = restart_of(state);
    code = driving.finish(state);
  }
  return again ? start_run(context, office, *again, options) : code;
}

Result<std::optional<std::int64_t>> wait_of(const std::string& given) {
  if (given.empty()) return std::nullopt;
  return SB_TRY(parse_duration_ms(given));
}

}  // namespace sb::cli
