#include "workflow/schema/mismatches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "workflow/schema/equality.hpp"

namespace sb::workflow {
namespace {

struct Finding {
  SchemaViolation violation;
  std::string expected;  // if the kind of the value is not allowed: the allowed kinds
};

// The findings of one walk. A walk that only tests whether a value fits ends at the first finding and builds no text.
struct Findings {
  explicit Findings(bool only_asks = false) : asks_only(only_asks) {}

  // One more than are reported, to know whether there are more.
  bool are_enough() const { return all.size() > kMaxSchemaViolations || (asks_only && is_any); }

  bool asks_only;
  bool is_any = false;
  std::vector<Finding> all;
};

// The position of the walk in the value. It becomes a pointer only for a finding.
struct Place {
  const Place* above = nullptr;
  const std::string* member = nullptr;  // or else an item
  std::size_t item = 0;

  std::string pointer() const {
    if (!above) return {};
    return above->pointer() + '/' + (member ? escape_pointer(*member) : std::to_string(item));
  }
};

// Thrown at a limit, caught in mismatches(): giving up is not a result, so `not` must not negate it.
struct GaveUp {
  std::string message;
};

constexpr std::size_t kShownBytes = 60;  // of a value

std::string shown_value(const Value& value) {
  if (value.is_array() || value.is_object()) return std::string(kind_name(value.kind()));
  return shortened(to_json(value), kShownBytes);
}

std::string listed(const Value::Array& values) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i) {
    text += fmt::format("{}{}", i ? ", " : "", shortened(to_json(values[i]), kShownBytes));
  }
  return values.size() > kMost ? text + ", …" : text;
}

// A short text for what the schema expects here; empty if it restricts neither values nor types.
std::string wanted(const SchemaNode& node) {
  if (node.constant) return shown_value(*node.constant);
  if (node.choices) return node.choices->size() == 1 ? listed(*node.choices) : "one of " + listed(*node.choices);
  std::string text;
  for (const SchemaType type : node.types) text += fmt::format("{}{}", text.empty() ? "" : " or ", with_article(type));
  if (text.empty() && node.all_of.size() == 1) return wanted(*node.all_of.front());
  return text;
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

bool matches(const SchemaNode::Text& text, std::string_view value) {
  const auto found = text.pattern.matches(value);
  if (!found) throw GaveUp{fmt::format("takes too long to match `{}`", text.expression)};
  return *found;
}

class SchemaWalk {
 public:
  void node(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    if (into.are_enough()) return;
    spend(1);
    if (depth_ >= kMostDepth) throw GaveUp{"is nested too deeply for its schema to be checked"};
    ++depth_;
    if (schema.always == false) add(into, at, "is not allowed here");
    if (kind(schema, value, at, into)) {
      if (value.is_number()) number(schema, value, at, into);
      if (value.is_string()) text(schema, value.as_string(), at, into);
      if (value.is_array()) list(schema, value, at, into);
      if (value.is_object()) object(schema, value, at, into);
      compositions(schema, value, at, into);
    }
    --depth_;
  }

 private:
  // A schema may apply itself twice to each part of a value, so 2^depth times to the innermost.
  static constexpr std::size_t kMostSteps = 4'000'000;
  static constexpr int kMostDepth = 500;

  // A step is one schema applied to one value, or work that takes about as long.
  void spend(std::size_t steps) {
    if (steps > steps_left_) throw GaveUp{"is too large for its schema to be checked"};
    steps_left_ -= steps;
  }

  static void add(Findings& into, const Place& at, std::string message, std::string expected = {}) {
    if (into.are_enough()) return;
    into.is_any = true;
    if (!into.asks_only) into.all.push_back({{at.pointer(), std::move(message)}, std::move(expected)});
  }

  bool fits(const SchemaNode& schema, const Value& value) {
    Findings found(true);
    node(schema, value, Place(), found);
    return !found.is_any;
  }

  // Whether it is the constant and one of the choices; true if the schema has neither.
  std::pair<bool, bool> is_allowed_value(const SchemaNode& schema, const Value& value) {
    if (!schema.constant && !schema.choices) return {true, true};
    const ValueComparison compared(value);
    spend((compared.bytes() + (schema.choices ? schema.choices->size() : 0)) / 256);
    const auto equals = [&](const Value& other) { return compared.equals(other); };
    return {!schema.constant || equals(*schema.constant),
            !schema.choices || std::ranges::any_of(*schema.choices, equals)};
  }

  // False if the kind or value is not allowed; further findings would only be noise.
  bool kind(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    const bool is_of_type = schema.types.empty() ||
                            std::ranges::any_of(schema.types, [&](SchemaType type) { return has_type(value, type); });
    const auto [is_constant, is_choice] = is_allowed_value(schema, value);
    if (is_of_type && is_constant && is_choice) return true;
    if (into.asks_only) {
      add(into, at, {});
      return false;
    }
    const std::string expected = wanted(schema);
    std::string message = fmt::format("must be {}, not {}", expected, shown_value(value));
    if (!is_choice && value.is_string()) {
      std::vector<std::string> names;
      for (const Value& choice : *schema.choices) {
        if (choice.is_string()) names.push_back(choice.as_string());
      }
      const std::string nearest = nearest_name(value.as_string(), names);
      if (!nearest.empty()) message += fmt::format("; did you mean {}?", quote_json(nearest));
    }
    add(into, at, std::move(message), expected);
    return false;
  }

  static void number(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    const double number = value.as_number();
    const auto says = [&](std::string_view words, double bound) {
      add(into, at, fmt::format("must be {} {}, not {}", words, to_canonical_json(Value(bound)), to_json(value)));
    };
    if (schema.minimum && number < *schema.minimum) says("at least", *schema.minimum);
    if (schema.maximum && number > *schema.maximum) says("at most", *schema.maximum);
    if (schema.exclusive_minimum && number <= *schema.exclusive_minimum) says("more than", *schema.exclusive_minimum);
    if (schema.exclusive_maximum && number >= *schema.exclusive_maximum) says("less than", *schema.exclusive_maximum);
    if (schema.multiple_of && !is_multiple(number, *schema.multiple_of)) says("a multiple of", *schema.multiple_of);
  }

  void text(const SchemaNode& schema, const std::string& value, const Place& at, Findings& into) {
    const bool is_measured = schema.min_length || schema.max_length;
    if (is_measured) spend(value.size() / 1024);
    const std::uint64_t length = is_measured ? count_code_points(value) : 0;
    if (schema.min_length && length < *schema.min_length) {
      add(into, at,
          length == 0 && *schema.min_length == 1
              ? "must not be empty"
              : fmt::format("must have at least {}, not {}", plural(*schema.min_length, "character", "characters"),
                            length));
    }
    if (schema.max_length && length > *schema.max_length) {
      add(into, at,
          fmt::format("must have at most {}, not {}", plural(*schema.max_length, "character", "characters"), length));
    }
    if (schema.pattern && !matches(*schema.pattern, value)) {
      add(into, at,
          fmt::format("must match `{}`, which {} does not", shortened(schema.pattern->expression, 200),
                      shortened(quote_json(value), kShownBytes)));
    }
    if (schema.format && !matches(*schema.format, value)) {
      add(into, at,
          fmt::format("must be of the format {}, not {}", schema.format->expression,
                      shortened(quote_json(value), kShownBytes)));
    }
  }

  void list(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    const std::uint64_t size = value.size();
    if (schema.min_items && size < *schema.min_items) {
      add(into, at, fmt::format("must have at least {}, not {}", plural(*schema.min_items, "item", "items"), size));
    }
    if (schema.max_items && size > *schema.max_items) {
      add(into, at, fmt::format("must have at most {}, not {}", plural(*schema.max_items, "item", "items"), size));
    }
    if (schema.unique_items) unique(value, at, into);
    for (std::size_t i = 0; i < size; ++i) {
      const Place item_at{&at, nullptr, i};
      if (schema.items) node(*schema.items, value.items()[i], item_at, into);
      if (!schema.tuple) continue;
      const SchemaNode* one = i < schema.tuple->size() ? (*schema.tuple)[i] : schema.additional_items;
      if (one) node(*one, value.items()[i], item_at, into);
      if (into.are_enough()) return;
    }
    const auto is_wanted = [&](const Value& item) { return fits(*schema.contains, item); };
    if (schema.contains && std::ranges::none_of(value.items(), is_wanted)) {
      const std::string what = wanted(*schema.contains);
      add(into, at, what.empty() ? "has no item of the required kind" : "must contain " + what);
    }
  }

  void unique(const Value& value, const Place& at, Findings& into) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string text = exact_text(value.items()[i]);
      spend(text.size() / 256);
      const auto [first, is_new] = seen.emplace(std::move(text), i);
      if (is_new) continue;
      return add(into, at, fmt::format("contains the same item twice, at {} and {}", first->second, i));
    }
  }

  void object(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    const std::uint64_t size = value.size();
    spend(size * (schema.properties.size() + schema.required.size() + schema.dependencies.size()) / 64);
    const std::set<std::string> misspelt = members(schema, value, at, into);
    missing(schema, value, at, misspelt, into);
    if (schema.min_properties && size < *schema.min_properties) {
      add(into, at,
          fmt::format("must have at least {}, not {}", plural(*schema.min_properties, "member", "members"), size));
    }
    if (schema.max_properties && size > *schema.max_properties) {
      add(into, at,
          fmt::format("must have at most {}, not {}", plural(*schema.max_properties, "member", "members"), size));
    }
    for (const auto& member : value.members()) {
      if (!schema.property_names) break;
      Findings of_name;
      node(*schema.property_names, Value(member.name), at, of_name);
      if (of_name.all.empty()) continue;
      add(into, at,
          fmt::format("the name of the member {} {}", shortened(quote_json(member.name), kShownBytes),
                      of_name.all.front().violation.message));
    }
    for (const auto& dependency : schema.dependencies) {
      if (!value.find(dependency.name)) continue;
      if (dependency.node) node(*dependency.node, value, at, into);
      for (const std::string& name : dependency.required) {
        if (value.find(name)) continue;
        add(into, Place{&at, &name}, fmt::format("is required with {}", quote_json(dependency.name)));
      }
    }
  }

  // Returns the known names that unknown members probably mean.
  std::set<std::string> members(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    std::set<std::string> meant;
    for (const auto& member : value.members()) {
      if (into.are_enough()) break;
      const Place member_at{&at, &member.name};
      bool is_known = false;
      if (const SchemaNode* known = schema.property(member.name)) {
        is_known = true;
        node(*known, member.value, member_at, into);
      }
      for (const auto& [names, matching] : schema.pattern_properties) {
        if (!matches(names, member.name)) continue;
        is_known = true;
        node(*matching, member.value, member_at, into);
      }
      if (is_known || !schema.additional_properties) continue;
      if (schema.additional_properties->always == false) {
        meant.insert(unknown(schema, member.name, value, at, into));
      } else {
        node(*schema.additional_properties, member.value, member_at, into);
      }
    }
    return meant;
  }

  static std::string unknown(const SchemaNode& schema, const std::string& name, const Value& value, const Place& at,
                             Findings& into) {
    if (into.asks_only) {
      add(into, at, {});
      return {};
    }
    std::vector<std::string> free;
    for (const auto& [known, unused] : schema.properties) {
      if (!value.find(known)) free.push_back(known);
    }
    const std::string nearest = nearest_name(name, free);
    std::string message = fmt::format("has an unknown member {}", shortened(quote_json(name), kShownBytes));
    if (!nearest.empty()) {
      message += fmt::format("; did you mean {}?", quote_json(nearest));
    } else if (!free.empty()) {
      message += fmt::format("; it may have {}", shortened(fmt::format("{}", fmt::join(free, ", ")), 300));
    }
    add(into, at, std::move(message));
    return nearest;
  }

  static void missing(const SchemaNode& schema, const Value& value, const Place& at,
                      const std::set<std::string>& misspelt, Findings& into) {
    for (const std::string& name : schema.required) {
      if (value.find(name) || misspelt.contains(name)) continue;
      const SchemaNode* known = schema.property(name);
      const std::string what = known ? wanted(*known) : "";
      add(into, Place{&at, &name}, what.empty() ? "is missing" : fmt::format("is missing; it is {}", what));
    }
  }

  void compositions(const SchemaNode& schema, const Value& value, const Place& at, Findings& into) {
    for (const SchemaNode* part : schema.all_of) node(*part, value, at, into);
    const auto part_fits = [&](const SchemaNode* part) { return fits(*part, value); };
    if (!schema.any_of.empty() && std::ranges::none_of(schema.any_of, part_fits)) {
      no_alternative(schema.any_of, value, at, into);
    }
    if (!schema.one_of.empty()) {
      const auto fitting = std::ranges::count_if(schema.one_of, part_fits);
      if (fitting == 0) no_alternative(schema.one_of, value, at, into);
      if (fitting > 1) add(into, at, "matches more than one of the allowed forms; it must match exactly one");
    }
    if (schema.none_of && fits(*schema.none_of, value)) {
      const std::string what = wanted(*schema.none_of);
      add(into, at, what.empty() ? "has a form that is not allowed here" : "must not be " + what);
    }
    if (schema.condition) {
      const SchemaNode* then = fits(*schema.condition, value) ? schema.consequent : schema.alternative;
      if (then) node(*then, value, at, into);
    }
  }

  // No part fits: reports the findings of the one that was probably meant.
  void no_alternative(const std::vector<const SchemaNode*>& parts, const Value& value, const Place& at,
                      Findings& into) {
    if (into.asks_only) return add(into, at, {});
    std::vector<std::vector<Finding>> all;
    for (const SchemaNode* part : parts) {
      Findings of_part;
      node(*part, value, at, of_part);
      all.push_back(std::move(of_part.all));
    }
    const std::string pointer = at.pointer();
    const auto is_of_kind = [&](const std::vector<Finding>& findings) {
      return findings.front().expected.empty() || findings.front().violation.pointer != pointer;
    };
    if (std::ranges::none_of(all, is_of_kind)) {
      std::string expected;
      for (const auto& findings : all) {
        const std::string& one = findings.front().expected;
        if (expected.find(one) == std::string::npos) expected += (expected.empty() ? "" : " or ") + one;
      }
      return add(into, at, fmt::format("must be {}, not {}", shortened(expected, 300), shown_value(value)), expected);
    }
    const auto cost = [&](std::size_t i) {
      return std::tuple(!is_of_kind(all[i]), contradictions(*parts[i], value), all[i].size());
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (cost(i) < cost(best)) best = i;
    }
    for (Finding& finding : all[best]) {
      if (into.are_enough()) return;
      into.is_any = true;
      into.all.push_back(std::move(finding));
    }
  }

  // How many members clearly belong to another form, as `kind: b` does for `kind: {const: a}`.
  int contradictions(const SchemaNode& part, const Value& value) {
    spend(1 + part.properties.size() * value.size() / 64);
    int count = 0;
    for (const auto& [name, node] : part.properties) {
      const Value* member = value.find(name);
      count += member && node->constant && !ValueComparison(*member).equals(*node->constant);
    }
    for (const SchemaNode* inner : part.all_of) count += contradictions(*inner, value);
    return count;
  }

  std::size_t steps_left_ = kMostSteps;
  int depth_ = 0;
};

}  // namespace

std::vector<SchemaViolation> mismatches(const SchemaNode& schema, const Value& value) {
  Findings findings;
  std::string gave_up;
  try {
    SchemaWalk().node(schema, value, Place(), findings);
  } catch (const GaveUp& reason) {
    gave_up = reason.message;
  }
  std::vector<SchemaViolation> violations;
  for (Finding& finding : findings.all) violations.push_back(std::move(finding.violation));
  if (violations.size() > kMaxSchemaViolations) {
    violations.back() = {"", fmt::format("has more faults; these are the first {}", kMaxSchemaViolations)};
  }
  if (!gave_up.empty()) violations.push_back({"", std::move(gave_up)});
  return violations;
}

}  // namespace sb::workflow
