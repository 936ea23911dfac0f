// Replaces steps that call a routine by the routine's steps.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

bool is_loop(const Value& step) {
  return step.string_at("type") == "loop";
}
bool is_work(const Value& step) {
  return !step.find("type");
}

// Every ordinary step of these, including those in loops.
template <class Visit>
void for_each_work_step(std::span<Value> steps, const Visit& visit) {
  for (Value& step : steps) {
    if (is_work(step)) visit(step);
    if (Value* body = step.find("body"); is_loop(step) && body && body->is_array()) {
      for_each_work_step(body->items(), visit);
    }
  }
}

void set_where_absent(Value& step, std::string_view name, const Value* value) {
  if (value && !step.find(name)) step.set(name, *value);
}

void prepend(Value& step, std::string_view name, const Value* items) {
  if (!items || !items->is_array() || items->size() == 0) return;
  Value all = *items;
  if (const Value* own = step.find(name); own && own->is_array()) {
    for (const Value& item : own->items()) all.push_back(item);
  }
  step.set(name, std::move(all));
}

bool uses_functions(const Value& step) {
  return step.find("functionReferences") || step.find("functionCalls");
}

// What the calling step requires at its end is required at the end of the routine.
void apply_caller_end_fields(const Value& caller, Value& last, const PointerPath& path, FaultLog& faults) {
  for (const std::string_view name : {"requireConfirmation", "notesOptional"}) {
    // A caller's `false` never removes a gate of the routine.
    const Value* value = caller.find(name);
    if (value && !(value->is_bool() && !value->as_bool())) last.set(name, *value);
  }
  static constexpr std::string_view kAtEnd[] = {
      "outputContract", "validationCriteria", "assessmentRefs", "assessmentConsequences", "captures", "jumpIf",
      "audit",          "verification"};
  for (const std::string_view name : kAtEnd) {
    const Value* value = caller.find(name);
    if (!value) continue;
    if (!is_work(last)) {
      faults.add(path.at(name), "no_step_for_it",
                 fmt::format("\"{}\" cannot be applied: the routine ends with a {} step", name,
                             last.string_at("type").value_or("")),
                 "Put it on a separate step after the call");
    } else if (last.find(name)) {
      faults.add(path.at(name), "said_twice", fmt::format("the last step of the routine has its own \"{}\"", name),
                 "Remove this one, or put it on a separate step after the call");
    } else {
      last.set(name, *value);
    }
  }
}

}  // namespace

void apply_caller_fields(const Value& caller, std::span<Value> steps, const PointerPath& path, FaultLog& faults) {
  if (steps.empty()) return;
  for (Value& step : steps) set_where_absent(step, "runCondition", caller.find("runCondition"));
  Value* first = nullptr;
  for_each_work_step(steps, [&](Value& step) {
    if (!first) first = &step;
    for (const std::string_view name : {"agentRole", "modelTier", "writes", "commands"}) {
      set_where_absent(step, name, caller.find(name));
    }
    prepend(step, "guidance", caller.find("guidance"));
  });
  if (first) {
    for (const std::string_view name :
         {"needs", "promptFragments", "functionDefinitions", "functionCalls", "functionReferences"}) {
      prepend(*first, name, caller.find(name));
    }
  }
  apply_caller_end_fields(caller, steps.back(), path, faults);
}

bool Expander::enter_routine(const ExpansionScope& scope, const Step& step, const PointerPath& path,
                             ExpansionScope& inner) {
  const std::string& template_id = step.template_call->template_id;
  const PointerPath at_call = path.at("templateCall");
  const Definition* routine = resolver_->routine(template_id);
  if (!routine) {
    faults_->add_unknown(at_call.at("templateId"), FaultLog::ReferenceKind::kTemplate, template_id,
                         resolver_->template_ids());
    return false;
  }
  for (const ExpansionScope* at = &scope; at; at = at->caller) {
    if (at->definition != routine) continue;
    // Reported once, at the outermost call: every call in the cycle finds the same cycle again.
    if (reported_cycles_.insert(path.pointer()).second) {
      faults_->add(at_call.at("templateId"), "template_circle",
                   fmt::format("template \"{}\" calls itself, directly or through others", template_id),
                   "Remove the call from the routine, or make it a loop");
    }
    return false;
  }
  if (scope.depth >= limits::kCallDepth) {
    faults_->add(at_call.at("templateId"), "too_deep",
                 fmt::format("template calls are nested more than {} deep", limits::kCallDepth), "Flatten the routines",
                 ErrorCode::kLimit);
    return false;
  }
  inner.definition = routine;
  inner.caller = &scope;
  inner.features = scope.features;
  inner.feature_ids = scope.feature_ids;
  inner.prefix = scope.prefix + step.id + ".";
  inner.template_id = template_id;
  inner.depth = scope.depth + 1;
  return true;
}

void Expander::expand_call(const ExpansionScope& scope, const Step& step, const Value& source, const PointerPath& path,
                           Steps& out) {
  ExpansionScope inner;
  if (is_full_ || !enter_routine(scope, step, path, inner)) return;
  inner.reported_at = &path;
  Value args = step.template_call->args;
  if (scope.args && args.is_object()) {
    for (auto& [name, arg] : args.members()) fill_text(scope, true, arg);
  }
  inner.args = &args;
  add_features(*inner.definition, inner);
  if (routines_.insert(inner.definition).second) {
    check_references(*inner.definition, *resolver_, &path, *faults_, *calls_);
  }
  add_routine_assessments(scope, *inner.definition, path);

  const std::size_t first = out.size();
  expand_list(inner, inner.definition->steps, inner.definition->source["steps"], path, out);
  if (first == out.size()) return;
  const std::span<Value> steps(out.data() + first, out.size() - first);
  first_of_call_[scope.prefix + step.id] = steps.front().string_at("id").value_or("");
  const Value guidance = Value::array(inner.definition->meta_guidance);
  const Value* functions = inner.definition->source.find("functionDefinitions");
  for_each_work_step(steps, [&](Value& each) {
    prepend(each, "guidance", &guidance);
    if (uses_functions(each)) prepend(each, "functionDefinitions", functions);
  });
  Value caller = source;
  if (Value* jump = caller.find("jumpIf"); jump && scope.caller) {
    if (const auto to = jump->string_at("to")) jump->set("to", scope.prefix + *to);
  }
  apply_caller_fields(caller, steps, path, *faults_);
}

void Expander::report_arguments(const ExpansionScope& scope, const FilledText& filled, bool must_have_arguments) {
  const PointerPath at_args = scope.reported_at->at("templateCall");
  const auto report_once = [&](const std::string& name, std::string message, std::string remedy) {
    if (reported_arguments_.insert({at_args.pointer(), name}).second) {
      faults_->add(at_args, "bad_argument", std::move(message), std::move(remedy));
    }
  };
  for (const std::string& name : filled.missing) {
    if (!must_have_arguments) continue;
    std::vector<std::string> given;
    for (const auto& member : scope.args->members()) given.push_back(member.name);
    const std::string nearest = nearest_name(name, given);
    report_once(name, fmt::format("template \"{}\" needs the argument \"{}\"", scope.template_id, name),
                nearest.empty()
                    ? fmt::format("Add {} to args; for literal braces the routine must write \\{{{}}}", name, name)
                    : fmt::format("Did you mean it with {}?", nearest));
  }
  for (const std::string& name : filled.unfit) {
    report_once(name, fmt::format("the argument \"{}\" is {}", name, kind_name((*scope.args)[name].kind())),
                "Pass a string, a number, true or false");
  }
  if (filled.too_long) {
    report_once("", "the arguments make a text of the routine too long", "Shorten them");
  }
}

void Expander::add_routine_assessments(const ExpansionScope& scope, const Definition& routine,
                                       const PointerPath& path) {
  const Value* declared = routine.source.find("assessments");
  if (!declared || !declared->is_array()) return;
  const ExpansionScope* outermost = &scope;
  while (outermost->caller) outermost = outermost->caller;
  const Value& own = outermost->definition->source["assessments"];
  for (const Value& assessment : declared->items()) {
    const auto same_id = [&](const Value& other) { return other["id"] == assessment["id"]; };
    const Value* known = nullptr;
    if (own.is_array()) {
      const auto found = std::ranges::find_if(own.items(), same_id);
      if (found != own.items().end()) known = &*found;
    }
    if (const auto found = std::ranges::find_if(assessments_, same_id); !known && found != assessments_.end()) {
      known = &*found;
    }
    if (!known) {
      assessments_.push_back(assessment);
    } else if (*known != assessment) {
      faults_->add(path, "duplicate_assessment",
                   fmt::format("the routine and this workflow declare the assessment \"{}\" differently",
                               assessment.string_at("id").value_or("")),
                   "Rename one of them");
    }
  }
}

}  // namespace sb::workflow
