#include "pipeline/run/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/secrets/redact.hpp"
#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/run/driver.hpp"
#include "pipeline/run/preflight.hpp"
#include "pipeline/run/run_status.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kLockMs = 20;
constexpr int kLockTries = 10;

Result<std::shared_ptr<void>> lock_run(CoordinatorParts& parts, std::string_view run) {
  const std::string path = run_lock_path(parts.home.home().homes(), run);
  SB_TRY(parts.seams.files.make_directories(parent_path(path), 0700));
  auto lock = SB_TRY(parts.seams.files.try_lock(path));
  // A process that checks whether the run is driven holds the lock for a moment.
  for (int tries = 0; lock == nullptr && tries < kLockTries; ++tries) {
    parts.seams.clock.sleep_ms(kLockMs);
    lock = SB_TRY(parts.seams.files.try_lock(path));
  }
  if (lock == nullptr) {
    return fail(ErrorCode::kConflict, fmt::format("another process is driving run {}", run),
                fmt::format("See: signalbox runs show {}", run));
  }
  return lock;
}

Status check_goal(const std::string& goal) {
  if (!is_utf8(goal)) return fail(ErrorCode::kInvalid, "the goal is not UTF-8 text");
  if (is_blank(goal)) return fail(ErrorCode::kInvalid, "the goal is empty", "Say what to do");
  if (goal.size() > sb::limits::kGoalBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("the goal has {} bytes; the limit is {}", goal.size(), sb::limits::kGoalBytes),
                "Put the long text into a ticket: --ticket FILE");
  }
  return {};
}

// The stored ticket is shown to agents and to everyone who looks at the run.
Result<Ticket> without_secrets(const Ticket& ticket, const agent::Redactor& redactor) {
  return Ticket::from(redactor.clean_value(ticket.to_value()));
}

std::vector<Phase> phases_of(const Route& route) {
  std::vector<Phase> phases = {Phase::kCoding, Phase::kReview, Phase::kFix, Phase::kAudit};
  if (route.mode == RunMode::kFull) phases.insert(phases.begin(), {Phase::kDiscovery, Phase::kShaping});
  if (route.touches_ui) phases.push_back(Phase::kDesign);
  return phases;
}

std::set<std::string> workflows_of(const Route& route, const RunSettings& settings) {
  std::set<std::string> workflows;
  for (const Phase phase : phases_of(route)) workflows.insert(settings.phases.at(phase));
  if (workflows.contains(std::string(kAuditWorkflow))) workflows.insert(std::string(kArchitectureWorkflow));
  return workflows;
}

}  // namespace

struct Coordinator::Parts : CoordinatorParts {
  explicit Parts(CoordinatorParts given) : CoordinatorParts(std::move(given)) {}

  // Check what later phases need before the first one costs anything. Returns their hashes, by id.
  Result<Value> check_workflows(const RunRequest& request, const Route& route) const {
    const auto catalog = SB_TRY(open_run_catalog(seams, home.home().homes(), request.workspace));
    Value hashes = Value::object();
    for (const std::string& id : workflows_of(route, settings)) {
      const workflow::CatalogEntry* entry = SB_TRY(catalog.find(id));
      const auto compiled = catalog.compile(*entry);
      if (!compiled) return std::unexpected(compiled.error().front());
      hashes.set(id, compiled->back()->hash);
      const auto role = entry->definition->role;
      const std::string name = role ? std::string(workflow::to_string(*role)) : std::string();
      SB_TRY(settings.agents.model_for(name, ""));
    }
    return hashes;
  }

  Status check_route(const Route& route) const {
    if (route.mode == RunMode::kQuickReview || route.mode == RunMode::kReviewOnly) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("this looks like a review request ({}), and this command does not run reviews",
                              to_string(route.mode)),
                  "To implement it instead: --mode FULL");
    }
    if (settings.strategy == "read-only" && route.mode != RunMode::kEscalate) {
      return fail(ErrorCode::kInvalid, "the branch strategy read-only has nothing to deliver",
                  "Set branch: {strategy: worktree} in signalbox.yaml");
    }
    return {};
  }

  // Its name for the record.
  Result<std::string> require_sandbox() const {
    const sandbox::Sandbox sandbox = sandbox::find_sandbox(seams, home.home().config().sandbox);
    if (sandbox.is_refused()) return std::unexpected(sandbox::refusal(sandbox));
    return sandbox.name();
  }

  Status check_pitch(const RunRequest& request, const Route& route, const RepositoryFacts& repository) const {
    if (route.mode != RunMode::kImplement) return {};
    if (SB_TRY(find_pitch(seams.files, request.workspace))) return {};
    Git git(seams, repository.root);
    for (const std::string& file : kPitchFiles) {
      for (const std::string& base : {settings.forge.remote + "/" + settings.base, settings.base}) {
        const std::string name = fmt::format("{}:{}", base, file);
        if (!SB_TRY(git.has_object(name))) continue;
        return pipeline::check_pitch(file, SB_TRY(git.run({"cat-file", "blob", name})));
      }
    }
    return fail(ErrorCode::kNotFound, "there is no pitch to implement",
                fmt::format("Write {}, or omit --mode", kPitchFiles.front()));
  }
};

Coordinator::Coordinator(CoordinatorParts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {}
Coordinator::~Coordinator() = default;

Result<std::string> Coordinator::open(const RunRequest& request) {
  Clock& clock = parts_->seams.clock;
  RunLog log(parts_->home.home().store(), clock);
  const std::string run =
      request.restart_of.empty() ? make_id("r-", clock.now_ms(), parts_->seams.random) : restart_id(request.restart_of);
  if (!request.restart_of.empty() && SB_TRY(log.has(run))) return run;
  SB_TRY(check_goal(request.goal));
  const std::string sandbox = SB_TRY(parts_->require_sandbox());
  const RepositoryFacts repository = SB_TRY(inspect_repository(parts_->seams, request.workspace));
  SB_TRY(check_preflight(parts_->seams, parts_->settings, parts_->forge, repository));
  const agent::Redactor redactor(parts_->secrets);
  const std::string goal = redactor.clean(request.goal);
  const Ticket ticket = SB_TRY(without_secrets(request.ticket.value_or(Ticket{}), redactor));
  const Route planned =
      route({.goal = goal,
             .ticket = ticket,
             .has_pitch = !unused_pitch(parts_->seams.files, parts_->home.home().homes(), request.workspace).empty(),
             .trigger = request.trigger,
             .wanted = request.mode});
  SB_TRY(parts_->check_route(planned));
  SB_TRY(parts_->check_pitch(request, planned, repository));
  Value workflows = SB_TRY(parts_->check_workflows(request, planned));
  const std::string settings = to_canonical_json(to_value(parts_->settings));
  Value opened = Value::object({{"v", 1},
                                {"run", run},
                                {"goal", goal},
                                {"ticket", ticket.to_value()},
                                {"ticket_hash", ticket.hash()},
                                {"workspace", request.workspace},
                                {"repository", repository.root},
                                {"settings_hash", parts_->settings.hash},
                                {"settings", sha256_hex(settings)},
                                {"workflows", std::move(workflows)},
                                {"sandbox", sandbox}});
  if (request.mode) opened.set("mode", to_string(*request.mode));
  if (!request.ticket_source.empty()) opened.set("ticket_source", request.ticket_source);
  if (!request.trigger.empty()) opened.set("trigger", request.trigger);
  if (!request.restart_of.empty()) opened.set("restart_of", request.restart_of);
  SB_TRY(log.append(run, 0, "opened", opened, {settings}));
  if (parts_->on_event) {
    const RunState state = SB_TRY(log.state(run));
    parts_->on_event(state, {1, state.updated_at, "opened", std::move(opened)});
  }
  return run;
}

Result<RunState> Coordinator::drive(std::string_view run, WaitLimits wait_limits) {
  const auto lock = SB_TRY(lock_run(*parts_, run));
  // A run that ends now, or has ended, starts nothing.
  const RunState state = SB_TRY(RunLog(parts_->home.home().store(), parts_->seams.clock).state(run));
  if (state.outcome.empty() && !state.stop_requested) SB_TRY(parts_->require_sandbox());
  return RunDriver(*parts_, std::string(run), wait_limits).drive();
}

Status Coordinator::compare_ticket(std::string_view run, const Ticket& now) {
  const auto lock = SB_TRY(lock_run(*parts_, run));
  const Ticket clean = SB_TRY(without_secrets(now, agent::Redactor(parts_->secrets)));
  return RunDriver(*parts_, std::string(run), {}).compare_ticket(clean);
}

}  // namespace sb::pipeline
