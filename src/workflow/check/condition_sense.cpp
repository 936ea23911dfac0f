#include "workflow/check/condition_sense.hpp"

#include <algorithm>
#include <span>

namespace sb::workflow {
namespace {

using Operator = Condition::Operator;

// A text that may be read as a number equals other spellings of it, which are not checked here.
bool may_be_number(const Value& value) {
  return value.is_string() && (value.as_string().empty() ||
                               value.as_string().find_first_not_of(" \t\r\n+-.0123456789eE") == std::string::npos);
}

bool may_both_equal(const Value& a, const Value& b) {
  if (may_be_number(a) || may_be_number(b)) return true;
  const Value candidates[] = {a, b, Value(true), Value(false)};
  return std::ranges::any_of(
      candidates, [&](const Value& value) { return leniently_equal(&value, a) && leniently_equal(&value, b); });
}

// The values that the condition allows for its key, if they are a list.
std::span<const Value> allowed_values(const Condition& condition) {
  if (condition.op == Operator::kEquals) return {&condition.operand, 1};
  if (condition.op == Operator::kIn) return condition.operand.items();
  return {};
}

bool is_bound(Operator op) {
  return bound_holds(op, 0, 0).has_value();
}

bool may_be_within(const Value& value, const Condition& bound) {
  if (value.is_number()) return bound_holds(bound.op, value.as_number(), bound.operand.as_number()) == true;
  return value.is_bool() || may_be_number(value);
}

// A lower bound: values above its limit are allowed.
bool is_lower(Operator op) {
  return bound_holds(op, 1, 0) == true;
}

bool allows_its_limit(Operator op) {
  return bound_holds(op, 0, 0) == true;
}

bool bounds_clash(const Condition& a, const Condition& b) {
  if (is_lower(a.op) == is_lower(b.op)) return false;
  const Condition& low = is_lower(a.op) ? a : b;
  const Condition& high = is_lower(a.op) ? b : a;
  const double from = low.operand.as_number(), to = high.operand.as_number();
  const bool are_closed = allows_its_limit(low.op) && allows_its_limit(high.op);
  return from > to || (from == to && !are_closed);
}

// Whether no value satisfies both; both compare the same key.
bool clash(const Condition& a, const Condition& b) {
  if (is_bound(a.op) && is_bound(b.op)) return bounds_clash(a, b);
  const auto values = allowed_values(a), others = allowed_values(b);
  if (values.empty()) return false;
  if (is_bound(b.op)) return std::ranges::none_of(values, [&](const Value& value) { return may_be_within(value, b); });
  if (b.op == Operator::kNotEquals) return values.size() == 1 && values[0] == b.operand;
  if (b.op == Operator::kVar) return std::ranges::all_of(values, &Value::is_null);
  if (others.empty()) return false;
  return std::ranges::none_of(values, [&](const Value& value) {
    return std::ranges::any_of(others, [&](const Value& other) { return may_both_equal(value, other); });
  });
}

void flatten(const Condition& condition, std::vector<const Condition*>& into) {
  if (condition.op != Operator::kAnd) {
    into.push_back(&condition);
    return;
  }
  for (const Condition& part : condition.parts) flatten(part, into);
}

bool contradicts_itself(const Condition& condition) {
  std::vector<const Condition*> parts;
  flatten(condition, parts);
  constexpr std::size_t kMost = 64;  // comparing more pairs would take too long
  if (parts.size() > kMost) return false;
  for (const Condition* a : parts) {
    for (const Condition* b : parts) {
      if (a != b && !a->var.empty() && a->var == b->var && clash(*a, *b)) return true;
    }
  }
  return false;
}

}  // namespace

bool never_holds(const Condition& condition) {
  switch (condition.op) {
    case Operator::kIn:
      return condition.operand.items().empty();
    case Operator::kAnd:
      return std::ranges::any_of(condition.parts, never_holds) || contradicts_itself(condition);
    case Operator::kOr:
      return std::ranges::all_of(condition.parts, never_holds);
    case Operator::kNot:
      return always_holds(condition.parts.front());
    case Operator::kTrue:
    case Operator::kVar:
    case Operator::kEquals:
    case Operator::kNotEquals:
    case Operator::kGt:
    case Operator::kGte:
    case Operator::kLt:
    case Operator::kLte:
    case Operator::kContains:
    case Operator::kStartsWith:
    case Operator::kEndsWith:
    case Operator::kMatches:
      return false;
  }
  return false;
}

bool always_holds(const Condition& condition) {
  switch (condition.op) {
    case Operator::kTrue:
      return true;
    case Operator::kAnd:
      return std::ranges::all_of(condition.parts, always_holds);
    case Operator::kOr:
      return std::ranges::any_of(condition.parts, always_holds);
    case Operator::kNot:
      return never_holds(condition.parts.front());
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
      return false;
  }
  return false;
}

}  // namespace sb::workflow
