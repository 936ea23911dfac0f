// The checks of a step, as data, before it is worked on.
#include <set>

#include "engine/advance/advance.hpp"
#include "engine/advance/keys_ahead.hpp"
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

Value captures_of(const Program& program, const Position& position, StepNo number, const Value& view) {
  Value captures = Value::array();
  std::set<std::string> listed;
  for (const workflow::Capture& capture : program.at(number).step->captures) {
    captures.push_back(Value::object({{"key", capture.key}, {"type", type_of(capture.schema)}}));
    listed.insert(capture.key);
  }
  for (const KeyAhead& ahead : keys_ahead(program, position, view)) {
    if (listed.contains(ahead.need.key)) continue;
    Value capture = Value::object({{"key", ahead.need.key}, {"type", type_name(ahead.need.kind)}});
    if (!ahead.is_certain) capture.set("ifNext", program.at(ahead.needed_by).step->id);
    captures.push_back(std::move(capture));
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
  const NodeKind kind = kind_at(program, position);
  if (kind == NodeKind::kEnd) return required;
  const StepNo number = program.find(position.step);
  const Step& step = *program.at(number).step;
  const Value view = context_at(program, position, context);
  if (kind != NodeKind::kStep) {
    // What comes next can need keys that only the agent that continues here can set.
    required.set("captures", captures_of(program, position, number, view));
    return required;
  }
  required.set("notes", !step.contract && !step.notes_optional);
  if (step.contract) required.set("contracts", Value::array({step.contract->ref}));
  if (!step.assessment_refs.empty()) required.set("assessments", workflow::to_requirements(program.definition(), step));
  required.set("captures", captures_of(program, position, number, view));
  if (step.criteria) required.set("criteria", workflow::to_requirements(*step.criteria, view));
  return required;
}

}  // namespace sb::engine
