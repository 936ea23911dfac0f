// Fills in everything in steps: bindings, features, refs, blocks; loops with their bodies.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kToken = "{{wr.";

void scan(const Value& text, const PointerPath& path, FaultLog& faults) {
  if (!text.is_string()) return;
  const std::string& words = text.as_string();
  const std::size_t at = words.find(kToken);
  if (at == words.npos) return;
  const std::size_t end = std::min(words.find("}}", at), at + 64);
  faults.add(path, "unresolved_token", fmt::format("{}}}}} cannot be resolved", words.substr(at, end - at)),
             "Only {{wr.bindings.SLOT}} of a declared extension point is allowed here");
}

void point_jump(Value& value, const std::map<std::string, std::string>& first_of_call) {
  Value* jump = value.find("jumpIf");
  const Value* to = jump ? jump->find("to") : nullptr;
  if (!to || !to->is_string()) return;
  std::string target = to->as_string();
  for (auto found = first_of_call.find(target); found != first_of_call.end(); found = first_of_call.find(target)) {
    target = found->second;
  }
  jump->set("to", std::move(target));
}

// A jump to a step that called a routine goes to the first of the steps that replaced it.
void point_jumps(Value::Array& steps, const std::map<std::string, std::string>& first_of_call) {
  for (Value& step : steps) {
    point_jump(step, first_of_call);
    if (Value* body = step.find("body"); body && body->is_array()) point_jumps(body->items(), first_of_call);
  }
}

}  // namespace

Value Expander::expand(const Definition& definition) {
  ExpansionScope scope;
  scope.definition = &definition;
  const PointerPath root;
  add_features(definition, scope);
  Steps steps;
  expand_list(scope, definition.steps, definition.source["steps"], root.at("steps"), steps);
  if (!first_of_call_.empty()) point_jumps(steps, first_of_call_);

  Value workflow = Value::object();
  for (const auto& [name, value] : definition.source.members()) {
    if (name == "steps") {
      workflow.set(name, Value(std::move(steps)));
    } else {
      workflow.set(name, value);
    }
  }
  if (assessments_.empty()) return workflow;
  if (!workflow.find("assessments")) workflow.set("assessments", Value::array());
  for (Value& assessment : assessments_) workflow.find("assessments")->push_back(std::move(assessment));
  return workflow;
}

void Expander::fill_in(Definition& definition) {
  ExpansionScope scope;
  scope.definition = &definition;
  const PointerPath root;
  add_features(definition, scope);
  fill_list(scope, definition.steps, *definition.source.find("steps"), root.at("steps"));
}

void Expander::fill_list(const ExpansionScope& scope, std::vector<Step>& steps, Value& sources,
                         const PointerPath& path) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    Value& source = sources.items()[i];
    const PointerPath at_step = path.at(i);
    if (!step.prompt_blocks.is_null()) {
      write_blocks(scope, at_step, source);
      step.prompt_blocks = Value();
      step.prompt = source["prompt"].as_string();
    }
    if (auto* loop = std::get_if<LoopStep>(&step.what); loop && !loop->body.empty()) {
      fill_list(scope, loop->body, *source.find("body"), at_step.at("body"));
    }
  }
}

void Expander::add_features(const Definition& definition, ExpansionScope& scope) {
  for (const std::string& id : definition.features) {
    if (std::ranges::find(scope.feature_ids, id) != scope.feature_ids.end()) continue;
    if (const Value* feature = resolver_->feature(id)) {
      scope.features.push_back(feature);
      scope.feature_ids.push_back(id);
    }
  }
}

bool Expander::has_room(const PointerPath& path) {
  if (is_full_) return false;
  if (++steps_ <= limits::kWorkflowSteps) return true;
  is_full_ = true;
  faults_->add(
      path, "too_many",
      fmt::format("the workflow has more than {} steps after its routines are expanded", limits::kWorkflowSteps),
      "Split it into workflows that call each other", ErrorCode::kLimit);
  return false;
}

void Expander::expand_list(const ExpansionScope& scope, const std::vector<Step>& steps, const Value& sources,
                           const PointerPath& path, Steps& out) {
  std::map<std::string_view, std::size_t> bodies;  // taken by loops of this list
  for (const Step& step : steps) {
    const LoopStep* loop = step.loop();
    if (!loop || loop->body_ref.empty()) continue;
    const auto body = std::ranges::find(steps, loop->body_ref, &Step::id);
    if (body != steps.end()) bodies.emplace(body->id, static_cast<std::size_t>(body - steps.begin()));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (bodies.contains(steps[i].id)) continue;
    expand_step(scope, steps[i], sources.items()[i], path.at(i), out);
    const LoopStep* loop = steps[i].loop();
    if (!loop || is_full_) continue;
    Steps body;
    const PointerPath at_step = path.at(i);
    if (loop->body_ref.empty()) {
      expand_list(scope, loop->body, sources.items()[i]["body"], at_step.at("body"), body);
    } else if (const auto named = bodies.find(loop->body_ref); named != bodies.end()) {
      expand_step(scope, steps[named->second], sources.items()[named->second], path.at(named->second), body);
    }
    out.back().set("body", Value(std::move(body)));
  }
}

void Expander::expand_step(const ExpansionScope& scope, const Step& step, const Value& source,
                           const PointerPath& own_trail, Steps& out) {
  const PointerPath& path = scope.reported_at ? *scope.reported_at : own_trail;
  if (step.template_call) return expand_call(scope, step, source, path, out);
  if (!has_room(path)) return;
  Value value = Value::object();
  value.members().reserve(source.size() + 1);
  for (const auto& [name, member] : source.members()) {
    if (name != "body") value.members().push_back({name, member});
  }
  if (scope.caller) value.set("id", scope.prefix + step.id);
  fill_texts(scope, step, path, value);
  out.push_back(std::move(value));
}

void Expander::fill_text(const ExpansionScope& scope, bool must_have_arguments, Value& text) {
  if (!text.is_string()) return;
  const std::string& words = text.as_string();
  const bool has_token = words.find(kToken) != words.npos;
  const bool has_argument = scope.args && words.find('{') != words.npos;
  if (!has_token && !has_argument) return;
  std::string out = words;
  if (has_argument) {
    FilledText filled = fill_arguments(words, *scope.args);
    report_arguments(scope, filled, must_have_arguments);
    out = std::move(filled.text);
  }
  if (has_token) fill_bindings(out, scope, *resolver_, bindings_);
  text = Value(std::move(out));
}

// A block is a string or a list of parts; refs in it are filled in when it is rendered.
void Expander::fill_block(const ExpansionScope& scope, Value& block) {
  if (block.is_string()) return fill_text(scope, true, block);
  if (!block.is_array()) return;
  for (Value& part : block.items()) {
    if (Value* text = part.find("text")) fill_text(scope, true, *text);
  }
}

// In a routine's prompts, titles and blocks every `{name}` is an argument; elsewhere only those that are passed.
void Expander::fill_texts(const ExpansionScope& scope, const Step& step, const PointerPath& path, Value& value) {
  for (const std::string_view name : {"title", "prompt"}) {
    Value* text = value.find(name);
    if (!text) continue;
    fill_text(scope, true, *text);
    scan(*text, path.at(name), *faults_);
  }
  for (const std::string_view name : {"audit", "verification", "synthesis"}) {
    Value* part = value.find(name);
    Value* prompt = part ? part->find("prompt") : nullptr;
    if (!prompt) continue;
    const PointerPath at_part = path.at(name);
    fill_text(scope, false, *prompt);
    scan(*prompt, at_part.at("prompt"), *faults_);
  }
  if (scope.caller) fill_routine_texts(scope, value);
  if (!step.prompt_blocks.is_null()) write_blocks(scope, path, value);
}

// What changes only in a routine's steps, besides the prompt.
void Expander::fill_routine_texts(const ExpansionScope& scope, Value& value) {
  if (Value* role = value.find("agentRole")) fill_text(scope, false, *role);
  if (Value* guidance = value.find("guidance"); guidance && guidance->is_array()) {
    for (Value& item : guidance->items()) fill_text(scope, false, item);
  }
  if (Value* fragments = value.find("promptFragments"); fragments && fragments->is_array()) {
    for (Value& fragment : fragments->items()) {
      if (Value* text = fragment.find("text")) fill_text(scope, false, *text);
    }
  }
  if (Value* jump = value.find("jumpIf")) {
    if (const auto to = jump->string_at("to")) jump->set("to", scope.prefix + *to);
  }
}

void Expander::write_blocks(const ExpansionScope& scope, const PointerPath& path, Value& value) {
  const auto member = std::ranges::find(value.members(), "promptBlocks", &Value::Member::name);
  for (auto& [name, block] : member->value.members()) {
    if (name == "goal") {
      fill_block(scope, block);
    } else if (block.is_array()) {
      for (Value& item : block.items()) fill_block(scope, item);
    } else if (block.is_object()) {
      for (auto& [key, item] : block.members()) fill_block(scope, item);
    }
  }
  const PointerPath at_blocks = path.at("promptBlocks");
  std::string prompt = render_blocks(member->value, scope.features, *resolver_, at_blocks, *faults_);
  if (prompt.empty()) faults_->add(at_blocks, "empty_blocks", "the blocks are empty", "Add a goal or a procedure");
  *member = {"prompt", Value(std::move(prompt))};
  scan(member->value, at_blocks, *faults_);
}

}  // namespace sb::workflow
