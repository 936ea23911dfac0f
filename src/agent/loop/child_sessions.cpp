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

WorkLimits share_of(WorkLimits left, std::size_t siblings) {
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
  // Nothing in common is not the same as everything: what is left is what every agent has.
  if (common.empty()) common.push_back("complete_step");
  return common;
}

std::string shown(const Value& value) {
  return value.is_string() ? value.as_string() : to_pretty_json(value);
}

// What its workflow was started with, as far as it is to be shown: in a blind role the inputs its definition names.
Result<std::vector<Source>> context_sources(Duty& duty, const std::string& session,
                                            const std::vector<std::string>& keys) {
  engine::Sessions& sessions = duty.parts.desk.sessions();
  const engine::Node first = SB_TRY(sessions.node(session, 1));
  const Value context = SB_TRY(sessions.context(first));
  std::vector<Source> sources;
  for (const std::string& key : keys) {
    const Value* value = context.find(key);
    sources.push_back(
        {.key = key, .kind = SourceKind::kRaw, .title = key, .text = value == nullptr ? std::string() : shown(*value)});
  }
  return sources;
}

Result<Bundle> bundle_for(Duty& duty, const ChildWork& child, const workflow::Definition& definition,
                          const std::string& role) {
  Wish wish{.role = role};
  std::vector<std::string> keys = child.shown_keys;
  if (definition.isolation) {
    wish.mode = mode_named(definition.isolation->mode);
    wish.inputs = definition.isolation->inputs;
    wish.include = definition.isolation->include;
    wish.exclude = definition.isolation->exclude;
    for (const std::string& key : wish.inputs) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<Source> sources = duty.parts.sources ? duty.parts.sources(duty.assignment) : std::vector<Source>();
  // Nobody tells another what he was not told himself.
  const std::vector<BundleEntry>& told = duty.assignment.bundle.entries;
  std::erase_if(sources, [&](const Source& source) {
    return std::ranges::none_of(told, [&](const BundleEntry& entry) { return entry.key == source.key; });
  });
  for (Source& source : SB_TRY(context_sources(duty, child.session, keys))) {
    const bool is_known = std::ranges::any_of(sources, [&](const Source& known) { return known.key == source.key; });
    if (!is_known) sources.push_back(std::move(source));
  }
  return make_bundle(wish, identity_text(), sources);
}

Result<Assignment> assignment_for(Duty& duty, const ChildWork& child, std::size_t siblings) {
  engine::Sessions& sessions = duty.parts.desk.sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(child.session));
  const auto program = SB_TRY(sessions.program(summary.hash));
  const workflow::Definition& definition = program->definition();
  std::string role = definition.role ? std::string(workflow::to_string(*definition.role)) : std::string();
  // Who is restricted cannot send another to look.
  if (is_restricted(duty.assignment.role) && !is_restricted(role)) role = duty.assignment.role;
  Assignment assignment;
  assignment.run = duty.assignment.run;
  assignment.session = child.session;
  assignment.workflow = summary.workflow_id;
  assignment.role = role;
  assignment.tier = child.tier;
  if (assignment.tier.empty() && definition.model_tier) assignment.tier = workflow::to_string(*definition.model_tier);
  assignment.work_tree = duty.assignment.work_tree;
  assignment.is_writable = duty.assignment.is_writable && !is_restricted(role);
  assignment.bundle = SB_TRY(bundle_for(duty, child, definition, role));
  assignment.limits = share_of(duty.left(), siblings);
  assignment.tools = both(duty.assignment.tools, child.tools);
  assignment.depth = summary.depth;
  Watch& watch = duty.watch;
  assignment.keeps_going = [&watch] { return watch.keeps_going(); };
  return assignment;
}

Ended work_child(Duty& duty, const ChildWork& child, std::size_t siblings, std::mutex& mutex) {
  const auto assignment = assignment_for(duty, child, siblings);
  if (!assignment) {
    const bool is_forbidden = assignment.error().code == ErrorCode::kForbidden;
    return {.state = is_forbidden ? EndState::kForbidden : EndState::kBroke, .reason = assignment.error().to_string()};
  }
  const Value began = Value::object({{"turn", duty.turn},
                                     {"child", child.session},
                                     {"workflow", assignment->workflow},
                                     {"depth", assignment->depth}});
  const bool is_known = duty.has_child && duty.has_child(child.session);
  if (const Status kept = is_known ? Status() : duty.log.append({{"child_began", began}}); !kept) {
    return {.state = EndState::kBroke, .reason = kept.error().to_string()};
  }
  const auto on_progress = [&](const Progress& progress) {
    duty.watch.alive();
    const std::scoped_lock lock(mutex);
    if (duty.on_progress) duty.on_progress(progress);
  };
  const Ended ended = duty.children.work(*assignment, on_progress);
  // Whoever only waits is come back to, and that again and again.
  const bool is_left_off = ended.state == EndState::kKilled && ended.reason.empty();
  if (ended.state == EndState::kAwaiting || ended.state == EndState::kOutage || is_left_off) return ended;
  const Value told = Value::object({{"turn", duty.turn},
                                    {"child", child.session},
                                    {"state", to_string(ended.state)},
                                    {"reason", ended.reason},
                                    {"usage", to_value(ended.usage)},
                                    {"cost", ended.micro_cents}});
  if (const Status kept = duty.log.append({{"child_ended", told}}); !kept) {
    return {.state = EndState::kBroke, .reason = kept.error().to_string()};
  }
  return ended;
}

}  // namespace

std::vector<Ended> work_children(Duty& duty, const std::vector<ChildWork>& children) {
  std::vector<Ended> ended(children.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t at = next++; at < children.size(); at = next++) {
      ended[at] = work_child(duty, children[at], children.size(), mutex);
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t count = std::min<std::size_t>(children.size(), limits::kChildrenAtOnce);
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return ended;
}

std::optional<Ended> left_with(Duty& duty, const std::vector<Ended>& ended) {
  if (auto end = duty.watch.end()) return end;
  for (const EndState state : {EndState::kBroke, EndState::kAwaiting, EndState::kOutage}) {
    const auto found = std::ranges::find(ended, state, &Ended::state);
    if (found == ended.end()) continue;
    Ended left{.state = state, .reason = found->reason, .decision = found->decision};
    left.retry_at_ms = found->retry_at_ms;
    left.is_told = found->is_told;
    return left;
  }
  return std::nullopt;
}

}  // namespace sb::agent
