#include "engine/steps/child_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Delegation;

constexpr std::size_t kLabelBytes = 60;
constexpr std::string_view kNamingArguments[] = {"name", "family", "focus", "role"};

// The initial context of a child: the keys mapped to it, then the arguments, which take precedence.
Value child_context(const Delegation& delegation, const Value& context, workflow::Braces braces) {
  Value own = Value::object();
  for (const auto& [from, to] : delegation.context_mapping) {
    if (const Value* value = workflow::look_up(context, from)) own.set(to, *value);
  }
  for (const auto& [name, text] : delegation.args) own.set(name, workflow::fill_in(text, context, braces));
  return own;
}

// The model it should run on: as its delegation says, else as its workflow does.
std::string tier_of(const Delegation& delegation) {
  return delegation.model_tier ? std::string(workflow::to_string(*delegation.model_tier)) : std::string();
}

Child delegated_child(const Delegation& delegation, const SessionNode& at, const Value& context) {
  Child child;
  child.id = delegation.id;
  child.workflow_id = delegation.workflow_id;
  const auto& calls = at.program.compiled().calls;
  if (const auto found = calls.find(delegation.workflow_id); found != calls.end()) child.hash = found->second;
  child.goal = workflow::Filler(context, at.braces(), {.value_bytes = limits::kFilledValueBytes}).fill(delegation.goal);
  child.capture_as = delegation.capture_as;
  child.tier = tier_of(delegation);
  child.context = child_context(delegation, context, at.braces());
  return child;
}

bool has_own_name(const Child& child) {
  return !child.id.starts_with(child.workflow_id);
}

// A text that can name a child among others.
std::string name_in(const Value& value) {
  if (!value.is_string() || value.as_string().size() > kLabelBytes) return {};
  const std::string& text = value.as_string();
  return is_blank(text) || printable(text) != text || text.find('\n') != text.npos ? std::string() : text;
}

// Authors call it `familyName`, `reviewFocus`, `role`.
bool names_its_child(std::string_view argument) {
  const std::string name = to_lower(argument);
  return std::ranges::any_of(kNamingArguments, [&](std::string_view word) { return name.ends_with(word); });
}

// `report.md`, `out/report`
bool looks_like_file(std::string_view value) {
  const std::size_t dot = value.rfind('.');
  return value.contains('/') || (dot != std::string_view::npos && dot > 0 && dot + 1 < value.size());
}

// The argument in which all of them differ: one whose values do not look like files, that is called a name, whose
// values are single words, and the shortest, in this order; empty if there is none.
std::string distinguishing_argument(const Delegation& delegation, const std::vector<Child*>& siblings) {
  std::string best;
  std::tuple<bool, bool, bool, std::size_t> least;
  for (const auto& [name, text] : delegation.args) {
    std::set<std::string> values;
    std::tuple<bool, bool, bool, std::size_t> cost{false, !names_its_child(name), false, 0};
    for (const Child* child : siblings) {
      const std::string value = name_in(child->context[name]);
      std::get<0>(cost) = std::get<0>(cost) || looks_like_file(value);
      std::get<2>(cost) = std::get<2>(cost) || value.contains(' ');
      std::get<3>(cost) += value.size();
      if (!value.empty()) values.insert(value);
    }
    if (values.size() < siblings.size() || (!best.empty() && cost >= least)) continue;
    best = name;
    least = cost;
  }
  return best;
}

// Children with the same workflow whose author gave them no ids of their own.
void label(const std::vector<Delegation>& delegations, std::vector<Child>& children) {
  for (const Delegation& delegation : delegations) {
    std::vector<Child*> siblings;
    for (Child& child : children) {
      if (child.workflow_id == delegation.workflow_id && !has_own_name(child)) siblings.push_back(&child);
    }
    if (siblings.size() < 2 || !siblings.front()->label.empty()) continue;
    const std::string argument = distinguishing_argument(delegation, siblings);
    for (std::size_t i = 0; i < siblings.size(); ++i) {
      siblings[i]->label =
          argument.empty() ? fmt::format("{} of {}", i + 1, siblings.size()) : name_in(siblings[i]->context[argument]);
    }
  }
}

// Each has its own: the declared one, else that of the step; with its label or id if others have the same.
void give_goals(const SessionNode& at, const Value& context, std::vector<Child>& children) {
  const std::string title = workflow::fill_in_line(at.step().title, context, at.braces());
  std::map<std::string, int> declared;
  for (const Child& child : children) ++declared[child.goal];
  for (Child& child : children) {
    const bool is_shared = declared[child.goal] > 1;
    const std::string& name = child.label.empty() && has_own_name(child) ? child.id : child.label;
    const std::string mark = is_shared && !name.empty() ? fmt::format(" ({})", name) : "";
    child.goal = child.goal.empty() ? fmt::format("{}{}: {}", title, mark, at.summary.goal) : child.goal + mark;
  }
}

// What tells an item from the others: a text, or the first of its members that is usually one.
std::string name_of_item(const Value& item) {
  for (const std::string_view member : {"title", "name", "label", "id", "key"}) {
    if (std::string name = name_in(item.is_object() ? item[member] : item); !name.empty()) return name;
  }
  return {};
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
    child.label = name_of_item(items->items()[i]);
    child.goal = fmt::format("{} ({}{}{} of {}): {}", workflow::fill_in_line(step.title, context, at.braces()),
                             child.label, child.label.empty() ? "" : ", ", i + 1, count, at.summary.goal);
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
  std::vector<Delegation> delegations;
  if (const workflow::CallStep* call = step.call()) delegations = {call->call};
  if (const workflow::ParallelStep* parallel = step.parallel()) delegations = parallel->delegations;
  std::erase_if(delegations, [&](const Delegation& delegation) {
    return delegation.run_condition && !workflow::holds(*delegation.run_condition, context);
  });
  std::vector<Child> children;
  for (const Delegation& delegation : delegations) children.push_back(delegated_child(delegation, at, context));
  label(delegations, children);
  give_goals(at, context, children);
  return children;
}

}  // namespace sb::engine
