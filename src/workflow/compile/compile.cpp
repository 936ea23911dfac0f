#include "workflow/compile/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.hpp"
#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

// The place of the step with this id, or of the step it was made from, in the author's file.
bool find_authored(const Value& steps, std::string_view id, std::string& pointer) {
  if (!steps.is_array()) return false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Value& step = steps.items()[i];
    std::string here = fmt::format("{}/{}", pointer, i);
    if (step.string_at("id") == id) {
      pointer = std::move(here);
      return true;
    }
    here += "/body";
    if (find_authored(step["body"], id, here)) {
      pointer = std::move(here);
      return true;
    }
  }
  return false;
}

// The step of the expanded workflow that a pointer refers into; null if it refers elsewhere.
const Value* step_at(const Value& workflow, std::string_view pointer) {
  const Value* at = &workflow;
  const Value* step = nullptr;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string_view part = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(part.size());
    if (at->is_array()) {
      std::size_t index = 0;
      std::from_chars(part.data(), part.data() + part.size(), index);
      if (index >= at->size()) break;
      step = at = &at->items()[index];
    } else if (part == "steps" || part == "body") {
      at = &(*at)[part];
    } else {
      break;
    }
  }
  return step;
}

// Faults of the expanded workflow, reported where the author can fix them.
void report_expanded(const Faults& found, const Value& workflow, const Definition& definition, FaultLog& faults) {
  for (const Error& fault : found) {
    const Value* step = step_at(workflow, fault.location.pointer);
    const std::string id = step ? step->string_at("id").value_or("") : "";
    const std::string_view authored = std::string_view(id).substr(0, std::min(id.find('.'), id.find("__")));
    std::string pointer = "/steps";
    if (!step || !find_authored(definition.source["steps"], authored, pointer)) pointer = fault.location.pointer;
    const std::string where = id.empty() || id == authored ? "" : fmt::format("step \"{}\": ", id);
    faults.add(std::move(pointer), fault.rule, where + fault.message, fault.remedy, fault.code);
  }
}

std::size_t count_steps(const std::vector<Step>& steps) {
  std::size_t count = 0;
  for_each_step(steps, [&](const Step&) { ++count; });
  return count;
}

}  // namespace

// What one definition is combined with.
struct Compiler::Linking {
  std::map<std::string, std::string> hashes;  // of the workflows it starts, by id
  SlotBindings bindings;
  Bundle bundle;

  void add(const std::shared_ptr<const CompiledWorkflow>& compiled) {
    const auto is_same = [&](const auto& other) { return other->hash == compiled->hash; };
    if (std::ranges::none_of(bundle, is_same)) bundle.push_back(compiled);
  }
};

Checked<Bundle> compile(const Document& document, const Definition& definition, const ReferenceResolver& resolver) {
  return Compiler(resolver).compile(document, definition);
}

Checked<Bundle> Compiler::compile(const Document& document, const Definition& definition) {
  stack_.clear();
  broken_.clear();
  FaultLog faults(&document, document.name);
  Bundle bundle = compile_one(definition, faults);
  if (!faults.is_empty()) return std::unexpected(faults.take());
  return bundle;
}

Bundle Compiler::compile_one(const Definition& definition, FaultLog& faults) {
  stack_.push_back(definition.id);
  Linking linking;
  std::vector<CallSite> sites;
  check_references(definition, *resolver_, nullptr, faults, sites);
  Value workflow;
  std::optional<Definition> expanded;
  Expander expander(*resolver_, faults, sites);
  if (has_same_steps(definition)) {
    expanded = definition;
    expander.fill_in(*expanded);
    workflow = std::exchange(expanded->source, Value());
  } else {
    workflow = expander.expand(definition);
    if (faults.is_empty()) expanded = read_expanded(workflow, definition, faults);
  }
  linking.bindings = expander.bindings();
  for (const CallSite& site : sites) link(site, definition, linking, faults);
  stack_.pop_back();
  if (!faults.is_empty() || !expanded) return {};
  auto root = finish(std::move(workflow), std::move(*expanded), definition, linking, faults);
  if (!faults.is_empty()) return {};
  linking.bundle.push_back(std::move(root));
  return std::move(linking.bundle);
}

// Reads the expanded workflow back, with its virtual steps.
std::optional<Definition> Compiler::read_expanded(Value& workflow, const Definition& definition, FaultLog& faults) {
  add_virtual_steps(workflow.find("steps")->items());
  Document document{definition.id, {}, std::move(workflow)};
  auto read = read_definition(document, DefinitionForm::kPinned);
  workflow = std::move(document.root);
  if (!read) {
    report_expanded(read.error(), workflow, definition, faults);
    return std::nullopt;
  }
  if (const std::size_t count = count_steps(read->steps); count > limits::kWorkflowSteps) {
    faults.add("/steps", "too_many",
               fmt::format("the workflow has {} steps; at most {} are allowed", count, limits::kWorkflowSteps),
               "Split it into workflows that call each other", ErrorCode::kLimit);
  }
  return std::move(*read);
}

void Compiler::link(const CallSite& site, const Definition& definition, Linking& linking, FaultLog& faults) {
  const std::string& id = site.workflow_id;
  if (linking.hashes.contains(id)) return;
  if (id == definition.id) {
    // The workflow that judges gates cannot judge itself.
    if (site.is_implied) return;
    return faults.add(site.pointer, "self_call", fmt::format("workflow \"{}\" starts itself", id),
                      "Use a loop, or another workflow");
  }
  if (const auto found = std::ranges::find(stack_, id); found != stack_.end()) {
    return faults.add(
        site.pointer, "call_circle",
        fmt::format("workflows start each other in a cycle: {}, {}", fmt::join(found, stack_.end(), ", "), id),
        "Break the cycle");
  }
  const Definition* callee = resolver_->workflow(id);
  if (!callee) {
    if (!site.is_implied)
      faults.add_unknown(site.pointer, FaultLog::ReferenceKind::kWorkflow, id, resolver_->workflow_ids());
    return;
  }
  if (stack_.size() >= static_cast<std::size_t>(limits::kCallDepth)) {
    return faults.add(site.pointer, "too_deep",
                      fmt::format("workflows start each other more than {} deep", limits::kCallDepth), "Flatten them",
                      ErrorCode::kLimit);
  }
  const Bundle* bundle = compile_callee(*callee, site, faults);
  if (!bundle) return;
  linking.hashes[id] = bundle->back()->hash;
  for (const auto& each : *bundle) linking.add(each);
}

const Bundle* Compiler::compile_callee(const Definition& callee, const CallSite& site, FaultLog& faults) {
  if (const auto known = callees_.find(callee.id); known != callees_.end()) return &known->second;
  if (!broken_.contains(callee.id)) {
    FaultLog own(nullptr, callee.id);
    Bundle bundle = compile_one(callee, own);
    if (own.is_empty()) return &(callees_[callee.id] = std::move(bundle));
    const Error first = own.take().front();
    broken_.insert(callee.id);
    faults.add(site.pointer, "broken_workflow",
               fmt::format("workflow \"{}\" does not compile: {}", callee.id, first.message), first.remedy, first.code);
  } else {
    faults.add(site.pointer, "broken_workflow", fmt::format("workflow \"{}\" does not compile", callee.id),
               "Fix that one first");
  }
  return nullptr;
}

// Pins the workflow, and before it the bodies of its parallel loops as separate workflows.
std::shared_ptr<const CompiledWorkflow> Compiler::finish(Value workflow, Definition definition,
                                                         const Definition& authored, Linking& linking,
                                                         FaultLog& faults) {
  std::map<std::string, std::string> calls;
  for (const std::string& id : workflows_started(definition)) {
    if (const auto found = linking.hashes.find(id); found != linking.hashes.end()) calls.insert(*found);
  }
  for (Value& body : parallel_bodies(workflow)) {
    const std::string id = body.string_at("id").value_or("");
    Document document{id, {}, std::move(body)};
    auto read = read_definition(document, DefinitionForm::kPinned);
    if (!read) {
      report_expanded(read.error(), document.root, authored, faults);
      continue;
    }
    auto compiled = finish(std::move(document.root), std::move(*read), authored, linking, faults);
    calls[id] = compiled->hash;
    linking.add(compiled);
  }
  return pin(std::move(workflow), std::move(definition), linking.bindings, std::move(calls), *resolver_);
}

}  // namespace sb::workflow
