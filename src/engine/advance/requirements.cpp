// The checks of a step, as data, before it is worked on.
#include <algorithm>
#include <set>

#include "engine/advance/advance.hpp"
#include "engine/advance/blockers.hpp"
#include "workflow/check/assessment.hpp"

namespace sb::engine {
namespace {

using workflow::Step;

std::string_view type_name(KeyNeed::Kind kind) {
  switch (kind) {
    case KeyNeed::Kind::kList:
    case KeyNeed::Kind::kOptions:
      return "array";
    case KeyNeed::Kind::kCount:
      return "integer";
    case KeyNeed::Kind::kAnything:
      return "any";
  }
  return "any";
}

std::string type_of(const Value& schema) {
  const Value* type = schema.find("type");
  if (type == nullptr) return "any";
  if (type->is_string()) return type->as_string();
  std::string names;
  if (type->is_array()) {
    for (const Value& name : type->items()) {
      if (name.is_string()) names += (names.empty() ? "" : "|") + name.as_string();
    }
  }
  return names.empty() ? "any" : names;
}

// Finds the keys that must be set for whatever may come directly after a step.
class Ahead {
 public:
  Ahead(const Program& program, const Value& view) : program_(program), view_(view) {}

  std::vector<KeyNeed> behind(StepNo number) && {
    follow(number);
    return std::move(found_);
  }

 private:
  const ProgramStep& at(StepNo number) const { return program_.at(number); }

  void follow(StepNo number) {
    if (const StepNo next = at(number).next; next != kNoStep) return visit(next);
    const StepNo loop = at(number).loop;
    if (loop == kNoStep) return;
    visit(at(loop).body);
    follow(loop);
  }

  void visit(StepNo number) {
    if (number == kNoStep || !seen_.insert(number).second) return;
    const Step& step = *at(number).step;
    for (const KeyNeed& need : needs_of(step)) consider(need);
    if (const workflow::LoopStep* loop = step.loop()) {
      for (const auto& name : {loop->loop.item_var, loop->loop.index_var, loop->loop.iteration_var}) made_.insert(name);
      visit(at(number).body);
    }
    if (!step.run_condition) return;
    note_made(step);
    follow(number);
  }

  // What a skippable step sets when it runs: the steps after it may rely on it.
  void note_made(const Step& step) {
    if (const auto* decision = step.decision()) {
      made_.insert(decision->capture_as.empty() ? step.id : decision->capture_as);
    }
    if (const auto* call = step.call()) made_.insert(call->call.capture_as);
    if (const auto* parallel = step.parallel()) {
      for (const auto& delegation : parallel->delegations) made_.insert(delegation.capture_as);
    }
    if (const auto* loop = step.loop()) made_.insert(loop->loop.capture_as);
    for (const workflow::Capture& capture : step.captures) made_.insert(capture.key);
    for (const workflow::DerivedCount& count : step.counts) made_.insert(count.key);
  }

  void consider(const KeyNeed& need) {
    const std::string top = need.key.substr(0, need.key.find('.'));
    if (made_.contains(need.key) || made_.contains(top) || missing_needs(need, "", view_).empty()) return;
    const auto is_same = [&](const KeyNeed& other) { return other.key == need.key; };
    if (std::ranges::none_of(found_, is_same)) found_.push_back(need);
  }

  const Program& program_;
  const Value& view_;
  std::set<StepNo> seen_;
  std::set<std::string> made_;
  std::vector<KeyNeed> found_;
};

Value captures_of(const Program& program, StepNo number, const Value& view) {
  Value captures = Value::array();
  std::set<std::string> listed;
  for (const workflow::Capture& capture : program.at(number).step->captures) {
    captures.push_back(Value::object({{"key", capture.key}, {"type", type_of(capture.schema)}}));
    listed.insert(capture.key);
  }
  for (const KeyNeed& need : Ahead(program, view).behind(number)) {
    if (listed.contains(need.key)) continue;
    captures.push_back(Value::object({{"key", need.key}, {"type", type_name(need.kind)}}));
  }
  return captures;
}

}  // namespace

Value requirements(const Program& program, const Position& position, const Value& context) {
  Value required = Value::object({{"notes", false},
                                  {"contracts", Value::array()},
                                  {"assessments", Value::array()},
                                  {"captures", Value::array()},
                                  {"criteria", Value::array()}});
  if (kind_at(program, position) != NodeKind::kStep) return required;
  const StepNo number = program.find(position.step);
  const Step& step = *program.at(number).step;
  const Value view = context_at(program, position, context);
  required.set("notes", !step.contract && !step.notes_optional);
  if (step.contract) required.set("contracts", Value::array({step.contract->ref}));
  if (!step.assessment_refs.empty()) required.set("assessments", workflow::to_requirements(program.definition(), step));
  required.set("captures", captures_of(program, number, view));
  if (step.criteria) required.set("criteria", workflow::to_requirements(*step.criteria, view));
  return required;
}

}  // namespace sb::engine
