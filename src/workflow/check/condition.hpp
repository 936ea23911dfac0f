// A condition over the context of a session: `runCondition`, `when`, loop and jump conditions.
//
// Pure. StepReadContext is strict (known operators, right types; a fault says what is wrong); evaluating is lenient as
// the format demands:
//   equals, not_equals, in   strings trimmed and without regard to case; "5" equals 5; true equals "true", "yes", "1",
//   1
//                            and false equals "false", "no", "0", 0; null equals a key that is not set
//   gt, gte, lt, lte         true only of JSON numbers; a string never is
//   contains                 the value as text (a list: its items joined by commas) holds the text, case ignored
//   startsWith, endsWith, matches   of the value as text, case ignored; `matches` is a pattern with limits, and one
//                            that gives up does not match
//   var alone                truthiness: not null, false, 0, "" or unset
//   and, or, not             of conditions; `and: []` is true, `or: []` is false
//   {}                       true
// Where several stand in one object, the first of this list counts, as in the original; beside a `var`, `and`, `or` and
// `not` never do. `var` names a key; only when there is no such key are dots followed into objects.
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
  // Every switch over these names all of them, so that the compiler finds what a new one still lacks.
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

// Nothing, and a fault, when it is no condition.
std::optional<Condition> read_condition(const Reader& reader);

// What a context key or dotted path holds; null when nothing.
const Value* look_up(const Value& context, std::string_view path);

bool holds(const Condition& condition, const Value& context);

// Of gt, gte, lt, lte: whether they hold of the number. Nothing for operators that are not a bound.
std::optional<bool> bound_holds(Condition::Operator op, double number, double limit);

// For records of skipped steps: the keys the condition looked at, with the values it saw.
Value observed_values(const Condition& condition, const Value& context);
// Every key the condition looks at, each once, in order.
std::vector<std::string> keys_of(const Condition& condition);
// For people: `isTrivial is not true and size > 3`.
std::string to_text(const Condition& condition);

bool is_truthy(const Value* value);
bool leniently_equal(const Value* value, const Value& expected);

}  // namespace sb::workflow
