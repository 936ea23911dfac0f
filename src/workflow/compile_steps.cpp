// Steps with everything of theirs filled in: bindings, features, refs, blocks; loops with their bodies.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "workflow/compile_parts.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kToken = "{{wr.";

// The ids of steps that loops of this list, however deep, name as their body.
void collect_bodies(const std::vector<Step>& steps, std::set<std::string_view>& bodies) {
  for_each_step(steps, [&](const Step& step) {
    if (const LoopStep* loop = step.loop(); loop && !loop->body_ref.empty()) bodies.insert(loop->body_ref);
  });
}

void scan(const Value& text, const Trail& trail, FaultLog& faults) {
  if (!text.is_string()) return;
  const std::string& words = text.as_string();
  const std::size_t at = words.find(kToken);
  if (at == words.npos) return;
  const std::size_t end = std::min(words.find("}}", at), at + 64);
  faults.tell(trail, fmt::format("nothing fills in {}}}}}", words.substr(at, end - at)),
              "Only {{wr.bindings.SLOT}} of a declared extension point can be written here");
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

// A jump to a step that called a routine goes to the first of the steps that took its place.
void point_jumps(Value::Array& steps, const std::map<std::string, std::string>& first_of_call) {
  for (Value& step : steps) {
    point_jump(step, first_of_call);
    if (Value* body = step.find("body"); body && body->is_array()) point_jumps(body->items(), first_of_call);
  }
}

}  // namespace

Value Expander::expand(const Definition& definition) {
  Scope scope;
  scope.definition = &definition;
  const Trail root;
  add_features(definition, scope);
  Steps steps;
  expand_steps(scope, root, steps);
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

void Expander::add_features(const Definition& definition, Scope& scope) {
  for (const std::string& id : definition.features) {
    if (std::ranges::find(scope.feature_ids, id) != scope.feature_ids.end()) continue;
    if (const Value* feature = surroundings_->feature(id)) {
      scope.features.push_back(feature);
      scope.feature_ids.push_back(id);
    }
  }
}

bool Expander::has_room(const Trail& trail) {
  if (is_full_) return false;
  if (++steps_ <= limits::kWorkflowSteps) return true;
  is_full_ = true;
  faults_->tell(trail,
                fmt::format("the workflow has more than {} steps once its routines are in", limits::kWorkflowSteps),
                "Split it into workflows that call each other", ErrorCode::kLimit);
  return false;
}

void Expander::expand_steps(const Scope& scope, const Trail& trail, Steps& out) {
  const Definition& definition = *scope.definition;
  std::set<std::string_view> bodies;
  collect_bodies(definition.steps, bodies);
  const Value::Array& sources = definition.source["steps"].items();
  const Trail at_steps = trail.at("steps");
  for (std::size_t i = 0; i < definition.steps.size(); ++i) {
    if (bodies.contains(definition.steps[i].id)) continue;
    expand_step(scope, definition.steps[i], sources[i], at_steps.at(i), out);
  }
  for (std::size_t i = 0; i < definition.steps.size(); ++i) {
    const std::string& id = definition.steps[i].id;
    if (!bodies.contains(id) || used_bodies_.contains(scope.prefix + id)) continue;
    faults_->tell(scope.told_at ? *scope.told_at : at_steps.at(i),
                  fmt::format("step \"{}\" is the body of a loop that is never reached", id),
                  "Loops name each other as their bodies; write one body inside its loop");
  }
}

void Expander::expand_step(const Scope& scope, const Step& step, const Value& source, const Trail& own_trail,
                           Steps& out) {
  const Trail& trail = scope.told_at ? *scope.told_at : own_trail;
  if (step.template_call) return expand_call(scope, step, source, trail, out);
  if (!has_room(trail)) return;
  Value value = Value::object();
  value.members().reserve(source.size() + 1);
  for (const auto& [name, member] : source.members()) {
    if (name != "body") value.members().push_back({name, member});
  }
  if (scope.caller) value.set("id", scope.prefix + step.id);
  fill_texts(scope, step, trail, value);
  if (step.loop()) expand_body(scope, step, source, own_trail, value);
  out.push_back(std::move(value));
}

void Expander::expand_body(const Scope& scope, const Step& step, const Value& source, const Trail& trail, Value& loop) {
  Steps body;
  const LoopStep& what = *step.loop();
  const Trail at_body = trail.at("body");
  if (what.body_ref.empty()) {
    const Value::Array& sources = source["body"].items();
    for (std::size_t i = 0; i < what.body.size(); ++i) {
      expand_step(scope, what.body[i], sources[i], at_body.at(i), body);
    }
  } else if (!used_bodies_.insert(scope.prefix + what.body_ref).second) {
    faults_->tell(scope.told_at ? *scope.told_at : at_body,
                  fmt::format("step \"{}\" is already the body of another loop", what.body_ref),
                  "Give each loop a body of its own");
  } else {
    const std::vector<Step>& steps = scope.definition->steps;
    const auto found = std::ranges::find(steps, what.body_ref, &Step::id);
    if (found == steps.end()) {
      std::vector<std::string> ids;
      for (const Step& candidate : steps) ids.push_back(candidate.id);
      faults_->tell_unknown(scope.told_at ? *scope.told_at : at_body, "step", what.body_ref, ids);
      return;
    }
    const auto index = static_cast<std::size_t>(found - steps.begin());
    const Trail root;
    const Trail at_steps = root.at("steps");
    expand_step(scope, *found, scope.definition->source["steps"].items()[index], at_steps.at(index), body);
  }
  loop.set("body", Value(std::move(body)));
}

void Expander::fill_text(const Scope& scope, const Trail& trail, bool must_have_arguments, Value& text) {
  if (!text.is_string()) return;
  const std::string& words = text.as_string();
  const bool has_token = words.find(kToken) != words.npos;
  if (!has_token && !scope.args) return;
  std::string out = words;
  if (scope.args && words.find('{') != words.npos) {
    FilledText filled = fill_arguments(words, *scope.args);
    tell_arguments(scope, filled, must_have_arguments);
    out = std::move(filled.text);
  }
  if (has_token) fill_bindings(out, scope, *surroundings_, trail, *faults_, bindings_);
  text = Value(std::move(out));
}

// A block is a text or a list of parts; refs in it are filled in when it is written out.
void Expander::fill_block(const Scope& scope, const Trail& trail, Value& block) {
  if (block.is_string()) return fill_text(scope, trail, true, block);
  if (!block.is_array()) return;
  for (Value& part : block.items()) {
    if (Value* text = part.find("text")) fill_text(scope, trail, true, *text);
  }
}

void Expander::fill_texts(const Scope& scope, const Step& step, const Trail& trail, Value& value) {
  for (const std::string_view name : {"title", "prompt"}) {
    Value* text = value.find(name);
    if (!text) continue;
    fill_text(scope, trail.at(name), true, *text);
    scan(*text, trail.at(name), *faults_);
  }
  if (scope.args) {
    for (const std::string_view name : {"agentRole", "guidance"}) {
      Value* text = value.find(name);
      if (text && text->is_array()) {
        for (Value& item : text->items()) fill_text(scope, trail.at(name), false, item);
      } else if (text) {
        fill_text(scope, trail.at(name), false, *text);
      }
    }
  }
  for (const std::string_view name : {"audit", "verification", "synthesis"}) {
    Value* part = value.find(name);
    Value* prompt = part ? part->find("prompt") : nullptr;
    if (!prompt) continue;
    const Trail at_part = trail.at(name);
    fill_text(scope, at_part.at("prompt"), false, *prompt);
    scan(*prompt, at_part.at("prompt"), *faults_);
  }
  if (Value* fragments = value.find("promptFragments"); fragments && fragments->is_array()) {
    const Trail at_fragments = trail.at("promptFragments");
    for (std::size_t i = 0; i < fragments->size(); ++i) {
      Value* text = fragments->items()[i].find("text");
      if (!text) continue;
      const Trail at_fragment = at_fragments.at(i);
      fill_text(scope, at_fragment.at("text"), false, *text);
      scan(*text, at_fragment.at("text"), *faults_);
    }
  }
  if (Value* jump = value.find("jumpIf"); jump && scope.caller) {
    if (const auto to = jump->string_at("to")) jump->set("to", scope.prefix + *to);
  }
  if (!step.prompt_blocks.is_null()) write_blocks(scope, trail, value);
}

void Expander::write_blocks(const Scope& scope, const Trail& trail, Value& value) {
  const auto member = std::ranges::find(value.members(), "promptBlocks", &Value::Member::name);
  const Trail at_blocks = trail.at("promptBlocks");
  for (auto& [name, block] : member->value.members()) {
    const Trail at_block = at_blocks.at(name);
    if (name == "goal") {
      fill_block(scope, at_block, block);
    } else if (block.is_array()) {
      for (std::size_t i = 0; i < block.size(); ++i) fill_block(scope, at_block.at(i), block.items()[i]);
    } else if (block.is_object()) {
      for (auto& [key, item] : block.members()) fill_block(scope, at_block.at(key), item);
    }
  }
  std::string prompt = render_blocks(member->value, scope.features, *surroundings_, at_blocks, *faults_);
  if (prompt.empty()) {
    faults_->tell(at_blocks, "promptBlocks says nothing", "Give it at least a goal");
  }
  *member = {"prompt", Value(std::move(prompt))};
  scan(member->value, at_blocks, *faults_);
}

}  // namespace sb::workflow
