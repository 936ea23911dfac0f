// A condition over the context of a session: `runCondition`, `when`, loop and jump conditions.
//
// Pure. Parsing is strict (known operators, correct types; a fault says what is wrong); evaluation is lenient, as the
// format requires:
//   equals, not_equals, in   strings are trimmed, case is ignored; "5" equals 5; true equals "true", "yes", "1", 1
//                            and false equals "false", "no", "0", 0; null equals a key that is not set
//   gt, gte, lt, lte         true only for JSON numbers, never for a string
//   contains                 the value as text (a list: its items joined by commas) contains the text, case ignored
//   startsWith, endsWith, matches   on the value as text, case ignored; `matches` is a pattern with limits, and one
//                            that gives up does not match
//   var alone                truthiness: not null, false, 0, "" or unset
//   and, or, not             combine conditions; `and: []` is true, `or: []` is false
//   {}                       true
// If one object has several, the first of this list counts, as in WorkRail; next to a `var`, `and`, `or` and `not`
// never count. `var` names a key; only if there is no such key are dots followed into objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/reader.hpp"
#include "base/document/value.hpp"
#include "base/text/pattern.hpp"

namespace sb::workflow {

struct Condition {
  // Every switch lists all of them, so that the compiler finds each place where a new one is missing.
  enum class Operator {
    kTrue,
    kVar,
    kEquals,
    kNotEquals,
    kGt,
    kGte,
    kLt,
    kLte,
    kIn,
    kContains,
    kStartsWith,
    kEndsWith,
    kMatches,
    kAnd,
    kOr,
    kNot
  };
  Operator op = Operator::kTrue;
  std::string var;
  Value operand;                   // of the comparing operators
  std::optional<Pattern> pattern;  // of kMatches
  std::vector<Condition> parts;    // of kAnd, kOr, kNot
};

// Nothing, and a fault, if it is not a condition.
std::optional<Condition> read_condition(const Reader& reader);

// The value of a context key or dotted path; null if there is none.
const Value* look_up(const Value& context, std::string_view path);

bool holds(const Condition& condition, const Value& context);

// For gt, gte, lt, lte: whether they hold for the number. Nothing for other operators.
std::optional<bool> bound_holds(Condition::Operator op, double number, double limit);

// For records of skipped steps: the keys that the condition used, with their values.
Value observed_values(const Condition& condition, const Value& context);
// Every key that the condition uses, once, in order.
std::vector<std::string> keys_of(const Condition& condition);
// For people: `isTrivial is not true and size > 3`.
std::string to_text(const Condition& condition);

bool is_truthy(const Value* value);
bool leniently_equal(const Value* value, const Value& expected);

}  // namespace sb::workflow
