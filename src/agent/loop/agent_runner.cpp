#include "agent/loop/agent_runner.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "agent/loop/agent_loop.hpp"
#include "agent/loop/transcript.hpp"
#include "agent/loop/work_context.hpp"
#include "agent/model/provider.hpp"
#include "agent/programs/command_agent.hpp"
#include "agent/secrets/secret_value.hpp"
#include "agent/tools/work_tools.hpp"
#include "base/limits.hpp"
#include "engine/advance/step_program.hpp"

namespace sb::agent {
namespace {

std::vector<std::string> secrets_of(const StaffParts& parts) {
  std::vector<std::string> all = parts.secrets;
  for (const auto& [name, model] : parts.settings.models) {
    const auto value = secret_of(model.key, parts.seams);
    if (value && !value->empty()) all.push_back(*value);
  }
  return all;
}

// The open steps of the session and of those around it, for the interlock.
Result<guard::OpenChain> open_chain(engine::SessionDesk& desk, const std::string& session) {
  engine::Summary summary = SB_TRY(desk.sessions().summary(session));
  return desk.desk().store().read([&](store::Snapshot& snapshot) -> Result<guard::OpenChain> {
    guard::OpenChain chain;
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

struct Staff::Parts {
  explicit Parts(StaffParts given_parts)
      : given(std::move(given_parts)),
        used(std::make_shared<UsedLines>(given.desk.desk().store())),
        secrets(secrets_of(given)),
        redactor(secrets) {
    for (const auto& [name, model] : given.settings.models) {
      if (std::string file = secret_file(model.key); !file.empty()) given.secret_files.push_back(std::move(file));
    }
  }

  const engine::Sandbox& sandbox() {
    const std::scoped_lock lock(mutex);
    if (!found) found = engine::find_sandbox(given.seams);
    return *found;
  }
  Result<const ModelSettings*> model_of(const Assignment& assignment) const;
  Result<std::reference_wrapper<const ModelSettings>> model_for_step(const Assignment& assignment,
                                                                     const engine::Program& program,
                                                                     const std::string& step,
                                                                     const ModelSettings& usual) const;
  WorkPlace place_for(const Assignment& assignment, SeenFiles& seen);
  Ended lead(Staff& staff, const Assignment& assignment, const ModelSettings& model, const OnProgress& on_progress);
  // While a step's command runs, on this thread, the session's own watch says whether it goes on.
  struct Watching {
    Watching(Parts& all, Watch& watch) : parts(all) {
      const std::scoped_lock lock(parts.mutex);
      parts.watches[std::this_thread::get_id()].push_back(&watch);
    }
    ~Watching() {
      const std::scoped_lock lock(parts.mutex);
      auto& own = parts.watches[std::this_thread::get_id()];
      own.pop_back();
      if (own.empty()) parts.watches.erase(std::this_thread::get_id());
    }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
    Parts& parts;
  };
  bool command_keeps_going() {
    Watch* watch = nullptr;
    {
      const std::scoped_lock lock(mutex);
      const auto own = watches.find(std::this_thread::get_id());
      if (own != watches.end()) watch = own->second.back();
    }
    return watch == nullptr || watch->keeps_going();
  }

  StaffParts given;
  std::shared_ptr<UsedLines> used;
  std::vector<std::string> secrets;
  Redactor redactor;
  std::mutex mutex;
  std::optional<engine::Sandbox> found;
  std::map<std::thread::id, std::vector<Watch*>> watches;
};

Staff::Staff(StaffParts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {
  Parts& own = *parts_;
  own.given.desk.commands().watch([&own] { return own.command_keeps_going(); });
  own.given.desk.commands().hide(own.given.secret_files);
}

Staff::~Staff() {
  parts_->given.desk.commands().watch({});
}

const std::vector<std::string>& Staff::secrets() const {
  return parts_->secrets;
}

Result<const ModelSettings*> Staff::Parts::model_of(const Assignment& assignment) const {
  if (assignment.model.empty()) return given.settings.model_for(assignment.role, assignment.tier);
  const auto found = given.settings.models.find(assignment.model);
  if (found == given.settings.models.end()) {
    return fail(ErrorCode::kInvalid, fmt::format("there is no model {} in the settings", quote_json(assignment.model)),
                "Name one of `models`");
  }
  return &found->second;
}

// A step's own tier counts before the session's. A program cannot take over in the middle of a conversation, so a tier
// that is one leaves the step to the session's model.
Result<std::reference_wrapper<const ModelSettings>> Staff::Parts::model_for_step(const Assignment& assignment,
                                                                                 const engine::Program& program,
                                                                                 const std::string& step,
                                                                                 const ModelSettings& usual) const {
  if (!assignment.model.empty() || program.find(step) == engine::kNoStep) return std::cref(usual);
  const auto tier = program.step(step).model_tier;
  if (!tier) return std::cref(usual);
  const ModelSettings* own = SB_TRY(given.settings.model_for(assignment.role, workflow::to_string(*tier)));
  return std::cref(own->provider == ModelSettings::Provider::kCommand ? usual : *own);
}

WorkPlace Staff::Parts::place_for(const Assignment& assignment, SeenFiles& seen) {
  const inbox::Desk& desk = given.desk.desk();
  WorkPlace place{.seams = given.seams, .root = assignment.work_tree, .readable = {}, .only = {}, .steps = {}};
  place.is_writable = assignment.is_writable;
  if (is_restricted(assignment.role)) place.only = restricted_paths();
  place.sandbox = sandbox();
  place.hidden = engine::hidden_paths(given.seams.files, given.seams.environment, desk.homes(), given.secret_files);
  place.secrets = secrets;
  place.steps = [this, session = assignment.session] { return open_chain(given.desk, session); };
  place.seen = &seen;
  return place;
}

Ended Staff::Parts::lead(Staff& staff, const Assignment& assignment, const ModelSettings& settings,
                         const OnProgress& on_progress) {
  const auto broke = [](const Error& error) { return Ended{.state = EndState::kBroke, .reason = error.to_string()}; };
  store::Store& store = given.desk.desk().store();
  AgentLog log(store, given.seams.clock, assignment.session);
  Course course;
  const auto events = log.read();
  if (!events) return broke(events.error());
  for (const LoggedEvent& event : *events) {
    const Status followed = course.follow(event, [&](std::string_view hex) { return log.blob(hex); });
    if (!followed) return broke(followed.error());
  }
  const auto totals = [&course] {
    Ended ended;
    ended.usage = course.usage();
    ended.micro_cents = course.micro_cents();
    ended.turns = course.turn();
    return ended;
  };
  const auto summary = given.desk.sessions().summary(assignment.session);
  if (!summary) return broke(summary.error());
  if (course.ended() &&
      (course.ended()->state == EndState::kComplete || summary->status != engine::SessionStatus::kComplete)) {
    Ended again = totals();
    again.state = course.ended()->state;
    again.reason = course.ended()->reason;
    return again;
  }
  const WorkLimits limits = with_defaults(assignment.limits);
  Watch watch(log, given.seams.clock, limits, course.worked_ms(), assignment.keeps_going);
  const Watching watching(*this, watch);
  Duty duty{given, assignment, limits, log, watch, redactor, secrets, staff, on_progress, {}, totals};
  duty.left = [&] {
    WorkLimits left = limits;
    left.turns = std::max(limits.turns - course.turns(), 1);
    left.time_ms = watch.left_ms();
    if (limits.tokens > 0) left.tokens = std::max<std::int64_t>(limits.tokens - course.spent().total(), 1);
    if (limits.micro_cents > 0)
      left.micro_cents = std::max<std::int64_t>(limits.micro_cents - course.spent_micro_cents(), 1);
    return left;
  };
  if (settings.provider == ModelSettings::Provider::kCommand) {
    const auto watching = [this, &watch]() -> std::shared_ptr<void> {
      return std::make_shared<Watching>(*this, watch);
    };
    SeenFiles seen;
    const WorkPlace place = place_for(assignment, seen);
    return work_by_command({duty, course, settings, used, sandbox(), place, watching});
  }
  duty.has_child = [&course](const std::string& session) { return course.has_child(session); };
  const auto program = given.desk.sessions().program(summary->hash);
  if (!program) return broke(program.error());
  std::map<std::string, std::unique_ptr<Model>> models;
  const auto choose = [&](const std::string& step) -> Result<ChosenModel> {
    const ModelSettings& chosen = SB_TRY(model_for_step(assignment, **program, step, settings));
    std::unique_ptr<Model>& model = models[chosen.name];
    if (model == nullptr) {
      const std::string& run = assignment.run.empty() ? assignment.session : assignment.run;
      model = SB_TRY(make_model(chosen, {given.seams, given.http, store, run, used}));
      if (given.around) model = given.around(std::move(model), assignment);
    }
    return ChosenModel{model.get(), &chosen};
  };
  SeenFiles seen;
  for (const auto& [path, hash] : course.seen_files()) seen.saw(path, hash);
  Tools tools = make_work_tools(place_for(assignment, seen), assignment.tools);
  return Loop({duty, course, choose, tools, sandbox().name()}).work();
}

Ended Staff::work(const Assignment& assignment, const OnProgress& on_progress) {
  const auto model = parts_->model_of(assignment);
  if (!model) return {.state = EndState::kModelFailed, .reason = model.error().to_string()};
  const Status lineage = parts_->given.desk.sessions().check_lineage(assignment.session);
  if (!lineage && lineage.error().code == ErrorCode::kForbidden) {
    return {.state = EndState::kForbidden, .reason = lineage.error().to_string()};
  }
  if (!lineage) return {.state = EndState::kBroke, .reason = lineage.error().to_string()};
  if (assignment.depth > with_defaults(assignment.limits).depth) {
    return {.state = EndState::kForbidden, .reason = "it is deeper below the first session than its limits allow"};
  }
  return parts_->lead(*this, assignment, **model, on_progress);
}

}  // namespace sb::agent
