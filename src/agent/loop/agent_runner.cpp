#include "agent/loop/agent_runner.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "agent/loop/agent_loop.hpp"
#include "agent/loop/transcript.hpp"
#include "agent/loop/work_context.hpp"
#include "agent/model/make_model.hpp"
#include "agent/programs/command_agent.hpp"
#include "agent/programs/writable_folders.hpp"
#include "agent/secrets/secret_value.hpp"
#include "agent/tools/work_tools.hpp"
#include "base/limits.hpp"
#include "engine/advance/step_program.hpp"
#include "inbox/hidden_paths.hpp"

namespace sb::agent {
namespace {

std::vector<std::string> secrets_of(const AgentRunnerParts& parts) {
  std::vector<std::string> all = parts.secrets;
  for (const auto& [name, model] : parts.settings.models) {
    const auto value = secret_of(model.key, parts.seams);
    if (value && !value->empty()) all.push_back(*value);
  }
  return all;
}

// The open steps of the session and of its parents, for the interlock.
Result<guard::OpenStepChain> open_chain(engine::SessionHome& home, const std::string& session) {
  engine::Summary summary = SB_TRY(home.sessions().summary(session));
  return home.home().store().read([&](store::Snapshot& snapshot) -> Result<guard::OpenStepChain> {
    guard::OpenStepChain chain;
    std::string id = session;
    for (int up = 0; !id.empty() && up <= sb::limits::kChildDepth; ++up) {
      auto step = SB_TRY(guard::find_open_step(snapshot, summary.workspace, id));
      if (!step) break;
      id = step->parent;
      chain.push_back(std::move(*step));
    }
    return chain;
  });
}

}  // namespace

struct AgentRunner::Parts {
  explicit Parts(AgentRunnerParts given_parts)
      : given(std::move(given_parts)),
        used(std::make_shared<UsedLines>(given.home.home().store())),
        secrets(secrets_of(given)),
        redactor(secrets) {
    for (const auto& [name, model] : given.settings.models) {
      if (std::string file = secret_file(model.key); !file.empty()) given.secret_files.push_back(std::move(file));
    }
  }

  const sandbox::Sandbox& users_sandbox() {
    const std::scoped_lock lock(mutex);
    if (!found) found = sandbox::find_sandbox(given.seams, given.home.home().config().sandbox);
    return *found;
  }
  Result<const ModelSettings*> model_of(const Assignment& assignment) const;
  Result<std::reference_wrapper<const ModelSettings>> model_for_step(const Assignment& assignment,
                                                                     const engine::Program& program,
                                                                     const std::string& step,
                                                                     const ModelSettings& usual) const;
  WorkTreeAccess place_for(const Assignment& assignment, SeenFiles& seen);
  WorkResult run_session(AgentRunner& runner, const Assignment& assignment, const ModelSettings& model,
                         const OnProgress& on_progress);

  AgentRunnerParts given;
  std::shared_ptr<UsedLines> used;
  std::vector<std::string> secrets;
  Redactor redactor;
  std::mutex mutex;
  std::optional<sandbox::Sandbox> found;
};

AgentRunner::AgentRunner(AgentRunnerParts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {
  parts_->given.home.commands().hide(parts_->given.secret_files);
}

AgentRunner::~AgentRunner() = default;

const std::vector<std::string>& AgentRunner::secrets() const {
  return parts_->secrets;
}

Result<const ModelSettings*> AgentRunner::Parts::model_of(const Assignment& assignment) const {
  if (assignment.model.empty()) return given.settings.model_for(assignment.role, assignment.tier);
  const auto named = given.settings.models.find(assignment.model);
  if (named == given.settings.models.end()) {
    return fail(ErrorCode::kInvalid, fmt::format("the settings have no model {}", quote_json(assignment.model)),
                "Name one of `models`");
  }
  return &named->second;
}

// A step's own tier takes precedence over the session's. A program cannot take over in the middle of a conversation, so
// a step whose tier is a program keeps the session's model.
Result<std::reference_wrapper<const ModelSettings>> AgentRunner::Parts::model_for_step(
    const Assignment& assignment, const engine::Program& program, const std::string& step,
    const ModelSettings& usual) const {
  if (!assignment.model.empty() || program.find(step) == engine::kNoStep) return std::cref(usual);
  const auto tier = program.step(step).model_tier;
  if (!tier) return std::cref(usual);
  const ModelSettings* own = SB_TRY(given.settings.model_for(assignment.role, workflow::to_string(*tier)));
  return std::cref(own->is_program() ? usual : *own);
}

WorkTreeAccess AgentRunner::Parts::place_for(const Assignment& assignment, SeenFiles& seen) {
  const inbox::Home& home = given.home.home();
  WorkTreeAccess place{.seams = given.seams, .root = assignment.work_tree, .readable = {}, .only = {}, .steps = {}};
  place.is_writable = assignment.is_writable;
  if (is_restricted(assignment.role)) place.only = restricted_paths();
  place.sandbox = users_sandbox();
  place.homes = home.homes();
  place.hidden = inbox::hidden_paths(given.seams.files, given.seams.environment, home.homes(), given.secret_files);
  place.secrets = secrets;
  place.steps = [this, session = assignment.session] { return open_chain(given.home, session); };
  place.seen = &seen;
  return place;
}

WorkResult AgentRunner::Parts::run_session(AgentRunner& runner, const Assignment& assignment,
                                           const ModelSettings& settings, const OnProgress& on_progress) {
  const auto broke = [](const Error& error) {
    return WorkResult{.state = EndState::kInternalError, .reason = error.to_string()};
  };
  store::Store& store = given.home.home().store();
  AgentLog log(store, given.seams.clock, assignment.session);
  Transcript transcript;
  const auto events = log.read();
  if (!events) return broke(events.error());
  for (const LoggedEvent& event : *events) {
    const Status followed = transcript.follow(event, [&](std::string_view hex) { return log.blob(hex); });
    if (!followed) return broke(followed.error());
  }
  const auto totals = [&transcript] {
    WorkResult ended;
    ended.usage = transcript.usage();
    ended.micro_cents = transcript.micro_cents();
    ended.turns = transcript.turn();
    return ended;
  };
  const auto summary = given.home.sessions().summary(assignment.session);
  if (!summary) return broke(summary.error());
  if (transcript.ended() &&
      (transcript.ended()->state == EndState::kComplete || summary->status != engine::SessionStatus::kComplete)) {
    WorkResult again = totals();
    again.state = transcript.ended()->state;
    again.reason = transcript.ended()->reason;
    return again;
  }
  const WorkLimits limits = with_defaults(assignment.limits);
  Watchdog watchdog(log, given.seams.clock, limits, transcript.worked_ms(), assignment.should_continue);
  WorkContext work_context{given, assignment, limits, log, watchdog, redactor, runner, on_progress, {}, totals};
  work_context.left = [&] {
    WorkLimits left = limits;
    left.turns = std::max(limits.turns - transcript.turns(), 1);
    left.time_ms = watchdog.left_ms();
    if (limits.tokens > 0) left.tokens = std::max<std::int64_t>(limits.tokens - transcript.spent().total(), 1);
    if (limits.micro_cents > 0)
      left.micro_cents = std::max<std::int64_t>(limits.micro_cents - transcript.spent_micro_cents(), 1);
    return left;
  };
  if (settings.is_program()) {
    SeenFiles seen;
    WorkTreeAccess place = place_for(assignment, seen);
    auto chain = open_chain(given.home, assignment.session);
    const auto program = given.home.sessions().program(summary->hash);
    if (!chain || !program) return broke(chain ? program.error() : chain.error());
    if (!chain->empty()) chain->erase(chain->begin());
    if (auto real = given.seams.files.canonical(place.root)) place.root = std::move(*real);
    place.writable_folders = writable_folders(**program, *chain, place.root);
    return run_agent_program({work_context, transcript, settings, used, users_sandbox(), place});
  }
  work_context.has_child = [&transcript](const std::string& session) { return transcript.has_child(session); };
  const auto program = given.home.sessions().program(summary->hash);
  if (!program) return broke(program.error());
  std::map<std::string, std::unique_ptr<Model>> models;
  const auto choose = [&](const std::string& step) -> Result<ChosenModel> {
    const ModelSettings& chosen = SB_TRY(model_for_step(assignment, **program, step, settings));
    std::unique_ptr<Model>& model = models[chosen.name];
    if (model == nullptr) {
      const std::string& run = assignment.run.empty() ? assignment.session : assignment.run;
      model = SB_TRY(make_model(chosen, {given.seams, given.http, store, run, used}));
      if (given.wrap_model) model = given.wrap_model(std::move(model), assignment, chosen);
    }
    return ChosenModel{model.get(), &chosen};
  };
  SeenFiles seen;
  for (const auto& [path, hash] : transcript.seen_files()) seen.record(path, hash);
  Tools tools = make_work_tools(place_for(assignment, seen), assignment.tools);
  return AgentLoop({work_context, transcript, choose, tools, users_sandbox().name()}).work();
}

WorkResult AgentRunner::work(const Assignment& assignment, const OnProgress& on_progress) {
  const auto model = parts_->model_of(assignment);
  if (!model) return {.state = EndState::kModelFailed, .reason = model.error().to_string()};
  const Status lineage = parts_->given.home.sessions().check_lineage(assignment.session);
  if (!lineage && lineage.error().code == ErrorCode::kForbidden) {
    return {.state = EndState::kForbidden, .reason = lineage.error().to_string()};
  }
  if (!lineage) return {.state = EndState::kInternalError, .reason = lineage.error().to_string()};
  if (assignment.depth > with_defaults(assignment.limits).depth) {
    return {.state = EndState::kForbidden, .reason = "nested deeper below the first session than the limits allow"};
  }
  if (const sandbox::Sandbox& sandbox = parts_->users_sandbox(); sandbox.is_refused()) {
    return {.state = EndState::kForbidden, .reason = sandbox::refusal(sandbox).to_string()};
  }
  return parts_->run_session(*this, assignment, **model, on_progress);
}

}  // namespace sb::agent
