#include "engine/steps/child_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Delegation;

// The initial context of a child: the keys mapped to it, then the arguments, which take precedence.
Value child_context(const Delegation& delegation, const Value& context) {
  Value own = Value::object();
  for (const auto& [from, to] : delegation.context_mapping) {
    if (const Value* value = workflow::look_up(context, from)) own.set(to, *value);
  }
  for (const auto& [name, text] : delegation.args) own.set(name, workflow::fill_in(text, context));
  return own;
}

Child delegated_child(const Delegation& delegation, const SessionNode& at, const Value& context) {
  Child child;
  child.id = delegation.id;
  child.workflow_id = delegation.workflow_id;
  const auto& calls = at.program.compiled().calls;
  if (const auto found = calls.find(delegation.workflow_id); found != calls.end()) child.hash = found->second;
  child.goal = delegation.goal.empty()
                   ? fmt::format("{}: {}", workflow::fill_in_line(at.step().title, context), at.summary.goal)
                   : workflow::fill_in(delegation.goal, context);
  child.capture_as = delegation.capture_as;
  child.context = child_context(delegation, context);
  return child;
}

std::vector<Child> loop_children(const SessionNode& at, const Value& context) {
  const workflow::Step& step = at.step();
  const workflow::Loop& loop = step.loop()->loop;
  const auto& calls = at.program.compiled().calls;
  const auto body = calls.find(step.id + "#body");
  std::vector<Child> children;
  const Value* items = workflow::look_up(context, loop.items);
  const std::size_t all = items != nullptr && items->is_array() ? items->size() : 0;
  const std::size_t count = std::min(all, static_cast<std::size_t>(loop.max_iterations));
  for (std::size_t i = 0; i < count; ++i) {
    Child child;
    child.id = fmt::format("{}#{}", step.id, i + 1);
    child.workflow_id = step.id + "#body";
    if (body != calls.end()) child.hash = body->second;
    child.goal =
        fmt::format("{} ({} of {}): {}", workflow::fill_in_line(step.title, context), i + 1, count, at.summary.goal);
    child.context = context;
    child.context.set(loop.item_var, items->items()[i]);
    child.context.set(loop.index_var, i);
    child.context.set(loop.iteration_var, i + 1);
    children.push_back(std::move(child));
  }
  return children;
}

}  // namespace

std::vector<Child> children_of_step(const SessionNode& at, const Value& context) {
  const workflow::Step& step = at.step();
  if (step.loop() != nullptr) return loop_children(at, context);
  std::vector<Child> children;
  const auto add = [&](const Delegation& delegation) {
    if (delegation.run_condition && !workflow::holds(*delegation.run_condition, context)) return;
    children.push_back(delegated_child(delegation, at, context));
  };
  if (const workflow::CallStep* call = step.call()) add(call->call);
  if (const workflow::ParallelStep* parallel = step.parallel()) {
    for (const Delegation& delegation : parallel->delegations) add(delegation);
  }
  return children;
}

}  // namespace sb::engine
