// The pinned form of a workflow, and reading it back.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/crypto.hpp"
#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

constexpr int kVersion = 1;
constexpr std::string_view kTokenMark = "{{wr.";

bool has_token(std::string_view text) {
  return text.find(kTokenMark) != text.npos;
}

bool stays_one_step(const Step& step) {
  if (step.template_call || step.audit || step.verification) return false;
  if (const ParallelStep* parallel = step.parallel(); parallel && parallel->synthesis) return false;
  if (const LoopStep* loop = step.loop(); loop && !loop->body_ref.empty()) return false;
  return !has_token(step.prompt) && !has_token(step.title) &&
         std::ranges::none_of(step.fragments, [](const PromptFragment& each) { return has_token(each.text); });
}

// The steps that the session of this workflow opens itself: bodies of parallel loops are opened by children.
template <class Visit>
void for_each_own_step(const std::vector<Step>& steps, const Visit& visit) {
  for (const Step& step : steps) {
    visit(step);
    if (const LoopStep* loop = step.loop(); loop && loop->loop.parallel == 0) for_each_own_step(loop->body, visit);
  }
}

void add_parallel_bodies(const Value& workflow, const Value& steps, std::vector<Value>& bodies) {
  static constexpr std::string_view kShared[] = {
      "version",    "modelTier", "metaGuidance", "functionDefinitions",   "assessments",
      "references", "role",      "isolation",    "recommendedPreferences"};
  for (const Value& step : steps.items()) {
    const Value* body = step.find("body");
    if (!body || !body->is_array()) continue;
    const Value* parallel = step["loop"].find("parallel");
    if (!parallel || !parallel->is_integer() || parallel->as_integer() == 0) {
      add_parallel_bodies(workflow, *body, bodies);
      continue;
    }
    Value own = Value::object();
    own.set("id", step.string_at("id").value_or("") + "#body");
    own.set("name", step["title"]);
    own.set("description", workflow["description"]);
    for (const std::string_view name : kShared) {
      if (const Value* shared = workflow.find(name)) own.set(name, *shared);
    }
    // Functions of the loop belong to its body.
    if (const Value* functions = step.find("functionDefinitions")) {
      for (const Value& function : functions->items()) {
        if (!own.find("functionDefinitions")) own.set("functionDefinitions", Value::array());
        own.find("functionDefinitions")->push_back(function);
      }
    }
    own.set("steps", *body);
    bodies.push_back(std::move(own));
  }
}

Value to_value(const std::map<std::string, std::string>& map) {
  Value value = Value::object();
  for (const auto& [name, text] : map) value.members().push_back({name, Value(text)});
  return value;
}

Result<std::map<std::string, std::string>> texts_in(const Value& pinned, std::string_view name) {
  std::map<std::string, std::string> texts;
  const Value& object = pinned[name];
  if (!object.is_object()) return fail(ErrorCode::kCorrupt, fmt::format("a pinned workflow has no \"{}\"", name));
  for (const auto& [key, value] : object.members()) {
    if (!value.is_string())
      return fail(ErrorCode::kCorrupt,
                  fmt::format("\"{}\" of a pinned workflow has a value that is not a string", name));
    texts.emplace(key, value.as_string());
  }
  return texts;
}

std::string hash_of(const Value& pinned) {
  return "sha256:" + sha256_hex(to_canonical_json(pinned));
}

Error corrupt(std::string_view what, const Faults& faults) {
  return Error{ErrorCode::kCorrupt, fmt::format("{}: {}", what, faults.front().to_string()), {}, {}, false};
}

Result<Contracts> contracts_in(const Value& pinned) {
  Contracts contracts;
  if (!pinned["contracts"].is_object()) return fail(ErrorCode::kCorrupt, "a pinned workflow has no \"contracts\"");
  for (const auto& [ref, source] : pinned["contracts"].members()) {
    auto contract = read_contract(Document{ref, {}, source});
    if (!contract) return std::unexpected(corrupt("a pinned contract", contract.error()));
    if (contract->ref != ref)
      return fail(ErrorCode::kCorrupt, fmt::format("contract \"{}\" is pinned as \"{}\"", contract->ref, ref));
    contracts.add(std::make_shared<const Contract>(std::move(*contract)));
  }
  return contracts;
}

}  // namespace

bool has_same_steps(const Definition& definition) {
  bool is_same = true;
  for_each_step(definition.steps, [&](const Step& step) { is_same = is_same && stays_one_step(step); });
  return is_same;
}

std::set<std::string> workflows_started(const Definition& definition) {
  std::set<std::string> ids;
  for_each_own_step(definition.steps, [&](const Step& step) {
    if (const ParallelStep* parallel = step.parallel()) {
      for (const Delegation& delegation : parallel->delegations) ids.insert(delegation.workflow_id);
    }
    if (const CallStep* call = step.call()) ids.insert(call->call.workflow_id);
    if (step.confirmation.kind == Confirmation::Kind::kEvaluator) ids.emplace(kGateWorkflow);
  });
  return ids;
}

std::set<std::string> contracts_used(const Definition& definition) {
  std::set<std::string> refs;
  for_each_step(definition.steps, [&](const Step& step) {
    if (step.contract) refs.insert(step.contract->ref);
    if (!step.assessment_refs.empty()) refs.emplace(kAssessment);
    const LoopStep* loop = step.loop();
    const auto* artifact = loop ? std::get_if<Loop::FromArtifact>(&loop->loop.source) : nullptr;
    if (artifact) refs.insert(artifact->contract_ref);
  });
  return refs;
}

std::vector<Value> parallel_bodies(const Value& workflow) {
  std::vector<Value> bodies;
  add_parallel_bodies(workflow, workflow["steps"], bodies);
  return bodies;
}

std::shared_ptr<const CompiledWorkflow> pin(Value workflow, Definition definition,
                                            std::map<std::string, std::string> bindings,
                                            std::map<std::string, std::string> calls,
                                            const ReferenceResolver& resolver) {
  auto compiled = std::make_shared<CompiledWorkflow>();
  Value contracts = Value::object();
  for (const std::string& ref : contracts_used(definition)) {
    const Contract* contract = resolver.contract(ref);
    if (!contract) continue;  // already reported, or that of assessments, which a step needs only for its help
    contracts.members().push_back({ref, contract->source});
    compiled->contracts.add(std::make_shared<const Contract>(*contract));
  }
  Value::Object& members = (compiled->pinned = Value::object()).members();
  members.reserve(5);
  members.push_back({"v", Value(kVersion)});
  members.push_back({"workflow", std::move(workflow)});
  members.push_back({"contracts", std::move(contracts)});
  members.push_back({"bindings", to_value(bindings)});
  members.push_back({"calls", to_value(calls)});
  compiled->hash = hash_of(compiled->pinned);
  compiled->definition = std::move(definition);
  compiled->definition.source = Value();
  compiled->bindings = std::move(bindings);
  compiled->calls = std::move(calls);
  return compiled;
}

Result<std::shared_ptr<const CompiledWorkflow>> read_pinned(const Value& pinned) {
  const Value& version = pinned["v"];
  if (!version.is_integer()) return fail(ErrorCode::kCorrupt, "not a pinned workflow");
  if (version.as_integer() != kVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("unsupported version {} of a pinned workflow", version.as_integer()),
                "Use the newer signalbox that wrote it");
  }
  const Value& workflow = pinned["workflow"];
  if (pinned.size() != 5 || !workflow.is_object()) return fail(ErrorCode::kCorrupt, "not a pinned workflow");
  auto compiled = std::make_shared<CompiledWorkflow>();
  compiled->contracts = SB_TRY(contracts_in(pinned));
  compiled->bindings = SB_TRY(texts_in(pinned, "bindings"));
  compiled->calls = SB_TRY(texts_in(pinned, "calls"));
  auto read = read_definition(Document{workflow.string_at("id").value_or(""), {}, workflow}, DefinitionForm::kPinned);
  if (!read) return std::unexpected(corrupt("a pinned workflow", read.error()));
  compiled->definition = std::move(*read);
  compiled->definition.source = Value();
  compiled->pinned = pinned;
  compiled->hash = hash_of(pinned);
  return compiled;
}

}  // namespace sb::workflow
