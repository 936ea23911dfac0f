#include "workflow/check/foresight.hpp"

namespace sb::workflow {
namespace {

using Operator = Condition::Operator;
using MayChange = std::function<bool(const std::string& key)>;

Foresight certain(bool is_true) {
  return is_true ? Foresight::kTrue : Foresight::kFalse;
}

bool is_fixed(const std::string& var, const Value& context, const MayChange& may_change) {
  if (look_up(context, var) == nullptr) return false;
  const bool is_key = context.find(var) != nullptr;
  return !may_change(is_key ? var : var.substr(0, var.find('.')));
}

Foresight none_of(const std::vector<Condition>& parts, const Value& context, const MayChange& may_change) {
  Foresight none = Foresight::kTrue;
  for (const Condition& part : parts) none = both_of(none, opposite(foresee(part, context, may_change)));
  return none;
}

}  // namespace

Foresight both_of(Foresight a, Foresight b) {
  if (a == Foresight::kFalse || b == Foresight::kFalse) return Foresight::kFalse;
  return a == Foresight::kTrue && b == Foresight::kTrue ? Foresight::kTrue : Foresight::kOpen;
}

Foresight opposite(Foresight one) {
  if (one == Foresight::kOpen) return one;
  return certain(one == Foresight::kFalse);
}

Foresight foresee(const Condition& condition, const Value& context, const MayChange& may_change) {
  switch (condition.op) {
    case Operator::kTrue:
      return Foresight::kTrue;
    case Operator::kAnd: {
      Foresight all = Foresight::kTrue;
      for (const Condition& part : condition.parts) all = both_of(all, foresee(part, context, may_change));
      return all;
    }
    case Operator::kOr:
      return opposite(none_of(condition.parts, context, may_change));
    case Operator::kNot:
      return none_of(condition.parts, context, may_change);
    case Operator::kVar:
    case Operator::kEquals:
    case Operator::kNotEquals:
    case Operator::kGt:
    case Operator::kGte:
    case Operator::kLt:
    case Operator::kLte:
    case Operator::kIn:
    case Operator::kContains:
    case Operator::kStartsWith:
    case Operator::kEndsWith:
    case Operator::kMatches:
      break;
  }
  return is_fixed(condition.var, context, may_change) ? certain(holds(condition, context)) : Foresight::kOpen;
}

}  // namespace sb::workflow
