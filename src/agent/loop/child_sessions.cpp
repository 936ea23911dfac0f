#include "agent/loop/child_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "agent/context/identity.hpp"
#include "agent/limits.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

WorkLimits limits_per_child(WorkLimits left, std::size_t siblings) {
  const auto share = [&](std::int64_t amount) {
    return amount == 0 ? 0 : std::max<std::int64_t>(amount / static_cast<std::int64_t>(siblings), 1);
  };
  left.tokens = share(left.tokens);
  left.micro_cents = share(left.micro_cents);
  return left;
}

std::vector<std::string> both(const std::vector<std::string>& above, const std::vector<std::string>& own) {
  if (above.empty()) return own;
  if (own.empty()) return above;
  std::vector<std::string> common;
  for (const std::string& name : own) {
    if (std::ranges::find(above, name) != above.end()) common.push_back(name);
  }
  // An empty intersection must not mean "all tools": what is left are the tools that every agent has.
  if (common.empty()) common.push_back("complete_step");
  return common;
}

std::string shown(const Value& value) {
  return value.is_string() ? value.as_string() : to_pretty_json(value);
}

// The inputs of its workflow, as far as they may be shown: for a blind role, those that its definition names.
Result<std::vector<ContextSource>> context_sources(WorkContext& work_context, const std::string& session,
                                                   const std::vector<std::string>& keys) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  const engine::Node first = SB_TRY(sessions.node(session, 1));
  const Value context = SB_TRY(sessions.context(first));
  std::vector<ContextSource> sources;
  for (const std::string& key : keys) {
    const Value* value = context.find(key);
    sources.push_back(
        {.key = key, .kind = SourceKind::kRaw, .title = key, .text = value == nullptr ? std::string() : shown(*value)});
  }
  return sources;
}

Result<Bundle> bundle_for(WorkContext& work_context, const ChildSession& child, const workflow::Definition& definition,
                          const std::string& role) {
  ContextSpec spec{.role = role};
  std::vector<std::string> keys = child.shown_keys;
  if (definition.isolation) {
    spec.mode = isolation_mode_named(definition.isolation->mode);
    spec.inputs = definition.isolation->inputs;
    spec.include = definition.isolation->include;
    spec.exclude = definition.isolation->exclude;
    for (const std::string& key : spec.inputs) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<ContextSource> sources =
      work_context.parts.sources ? work_context.parts.sources(work_context.assignment) : std::vector<ContextSource>();
  // An agent cannot pass on what was hidden from itself.
  const std::vector<BundleEntry>& visible = work_context.assignment.bundle.entries;
  std::erase_if(sources, [&](const ContextSource& source) {
    return std::ranges::none_of(visible, [&](const BundleEntry& entry) { return entry.key == source.key; });
  });
  for (ContextSource& source : SB_TRY(context_sources(work_context, child.session, keys))) {
    const bool is_known =
        std::ranges::any_of(sources, [&](const ContextSource& known) { return known.key == source.key; });
    if (!is_known) sources.push_back(std::move(source));
  }
  return make_bundle(spec, identity_text(), sources);
}

Result<Assignment> assignment_for(WorkContext& work_context, const ChildSession& child, std::size_t siblings) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(child.session));
  const auto program = SB_TRY(sessions.program(summary.hash));
  const workflow::Definition& definition = program->definition();
  std::string role = definition.role ? std::string(workflow::to_string(*definition.role)) : std::string();
  // A restricted agent cannot send an unrestricted one to look.
  if (is_restricted(work_context.assignment.role) && !is_restricted(role)) role = work_context.assignment.role;
  Assignment assignment;
  assignment.run = work_context.assignment.run;
  assignment.session = child.session;
  assignment.workflow = summary.workflow_id;
  assignment.role = role;
  assignment.tier = child.tier;
  if (assignment.tier.empty() && definition.model_tier) assignment.tier = workflow::to_string(*definition.model_tier);
  assignment.work_tree = work_context.assignment.work_tree;
  assignment.is_writable = work_context.assignment.is_writable && !is_restricted(role);
  assignment.bundle = SB_TRY(bundle_for(work_context, child, definition, role));
  assignment.limits = limits_per_child(work_context.left(), siblings);
  assignment.tools = both(work_context.assignment.tools, child.tools);
  assignment.depth = summary.depth;
  Watchdog& watchdog = work_context.watchdog;
  assignment.should_continue = [&watchdog] { return watchdog.should_continue(); };
  return assignment;
}

WorkResult run_child(WorkContext& work_context, const ChildSession& child, std::size_t siblings, std::mutex& mutex) {
  const auto assignment = assignment_for(work_context, child, siblings);
  if (!assignment) {
    const bool is_forbidden = assignment.error().code == ErrorCode::kForbidden;
    return {.state = is_forbidden ? EndState::kForbidden : EndState::kInternalError,
            .reason = assignment.error().to_string()};
  }
  const Value began = Value::object({{"turn", work_context.turn},
                                     {"child", child.session},
                                     {"workflow", assignment->workflow},
                                     {"depth", assignment->depth}});
  const bool is_known = work_context.has_child && work_context.has_child(child.session);
  if (const Status kept = is_known ? Status() : work_context.log.append({{"child_began", began}}); !kept) {
    return {.state = EndState::kInternalError, .reason = kept.error().to_string()};
  }
  const auto on_progress = [&](const Progress& progress) {
    work_context.watchdog.note_activity();
    const std::scoped_lock lock(mutex);
    if (work_context.on_progress) work_context.on_progress(progress);
  };
  const WorkResult ended = work_context.children.work(*assignment, on_progress);
  // A child that only waits is called again until it ends.
  const bool was_interrupted = ended.state == EndState::kKilled && ended.reason.empty();
  if (ended.state == EndState::kAwaiting || ended.state == EndState::kOutage || was_interrupted) return ended;
  const Value end_event = Value::object({{"turn", work_context.turn},
                                         {"child", child.session},
                                         {"state", to_string(ended.state)},
                                         {"reason", ended.reason},
                                         {"usage", to_value(ended.usage)},
                                         {"cost", ended.micro_cents}});
  if (const Status kept = work_context.log.append({{"child_ended", end_event}}); !kept) {
    return {.state = EndState::kInternalError, .reason = kept.error().to_string()};
  }
  return ended;
}

}  // namespace

std::vector<WorkResult> run_children(WorkContext& work_context, const std::vector<ChildSession>& children) {
  std::vector<WorkResult> ended(children.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t at = next++; at < children.size(); at = next++) {
      ended[at] = run_child(work_context, children[at], children.size(), mutex);
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t count = std::min<std::size_t>(children.size(), limits::kChildrenAtOnce);
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return ended;
}

std::optional<WorkResult> suspended_by_child(WorkContext& work_context, const std::vector<WorkResult>& ended) {
  if (auto end = work_context.watchdog.end()) return end;
  for (const EndState state : {EndState::kInternalError, EndState::kAwaiting, EndState::kOutage}) {
    const auto found = std::ranges::find(ended, state, &WorkResult::state);
    if (found == ended.end()) continue;
    WorkResult left{.state = state, .reason = found->reason, .decision = found->decision};
    left.retry_at_ms = found->retry_at_ms;
    left.is_retry_after = found->is_retry_after;
    return left;
  }
  return std::nullopt;
}

}  // namespace sb::agent
