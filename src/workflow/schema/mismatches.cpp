#include "workflow/schema/mismatches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

struct Finding {
  SchemaViolation violation;
  std::string expected;  // when the value is of another kind than allowed: which are
};
using Findings = std::vector<Finding>;

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

// What the schema wants here, shortly; empty when it says nothing of the kind.
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

bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
  if (a.is_array() && b.is_array()) return std::ranges::equal(a.items(), b.items(), same);
  if (!a.is_object() || !b.is_object()) return a == b;
  return a.size() == b.size() && std::ranges::all_of(a.members(), [&](const auto& member) {
           const Value* other = b.find(member.name);
           return other && same(member.value, *other);
         });
}

class SourceScan {
 public:
  void node(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    if (steps_left_ <= 0 || depth_ > 400 || into.size() >= kMaxSchemaViolations) return;
    --steps_left_;
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
  static void add(Findings& into, std::string at, std::string message, std::string expected = {}) {
    if (into.size() < kMaxSchemaViolations) into.push_back({{std::move(at), std::move(message)}, std::move(expected)});
  }

  bool fits(const SchemaNode& schema, const Value& value) {
    Findings ignored;
    node(schema, value, "", ignored);
    return ignored.empty();
  }

  // False when the value is of another kind, or another value, than allowed; the rest would only be noise then.
  static bool kind(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    const bool is_of_type = schema.types.empty() ||
                            std::ranges::any_of(schema.types, [&](SchemaType type) { return has_type(value, type); });
    const bool is_constant = !schema.constant || same(*schema.constant, value);
    const bool is_choice = !schema.choices || std::ranges::any_of(*schema.choices, [&](const Value& choice) {
      return same(choice, value);
    });
    if (is_of_type && is_constant && is_choice) return true;
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

  static void number(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
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

  static void text(const SchemaNode& schema, const std::string& value, const std::string& at, Findings& into) {
    const std::uint64_t length = count_code_points(value);
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
    if (schema.pattern && !schema.pattern->pattern.matches(value).value_or(false)) {
      add(into, at,
          fmt::format("must match `{}`, which {} does not", shortened(schema.pattern->expression, 200),
                      shortened(quote_json(value), kShownBytes)));
    }
    if (schema.format && !schema.format->pattern.matches(value).value_or(false)) {
      add(into, at,
          fmt::format("must be of the format {}, not {}", schema.format->expression,
                      shortened(quote_json(value), kShownBytes)));
    }
  }

  void list(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    const std::uint64_t size = value.size();
    if (schema.min_items && size < *schema.min_items) {
      add(into, at, fmt::format("must have at least {}, not {}", plural(*schema.min_items, "item", "items"), size));
    }
    if (schema.max_items && size > *schema.max_items) {
      add(into, at, fmt::format("must have at most {}, not {}", plural(*schema.max_items, "item", "items"), size));
    }
    if (schema.unique_items) unique(value, at, into);
    for (std::size_t i = 0; i < size; ++i) {
      const std::string item_at = fmt::format("{}/{}", at, i);
      if (schema.items) node(*schema.items, value.items()[i], item_at, into);
      if (!schema.tuple) continue;
      const SchemaNode* one = i < schema.tuple->size() ? (*schema.tuple)[i] : schema.additional_items;
      if (one) node(*one, value.items()[i], item_at, into);
      if (into.size() >= kMaxSchemaViolations) return;
    }
    const auto is_wanted = [&](const Value& item) { return fits(*schema.contains, item); };
    if (schema.contains && std::ranges::none_of(value.items(), is_wanted)) {
      const std::string what = wanted(*schema.contains);
      add(into, at, what.empty() ? "has no item of the kind it must contain" : "must contain " + what);
    }
  }

  static void unique(const Value& value, const std::string& at, Findings& into) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto [first, is_new] = seen.emplace(to_canonical_json(value.items()[i]), i);
      if (is_new) continue;
      add(into, at, fmt::format("has the same item twice, at {} and {}", first->second, i));
      return;
    }
  }

  void object(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    const std::uint64_t size = value.size();
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
      if (of_name.empty()) continue;
      add(into, at,
          fmt::format("the name of the member {} {}", shortened(quote_json(member.name), kShownBytes),
                      of_name.front().violation.message));
    }
    for (const auto& dependency : schema.dependencies) {
      if (!value.find(dependency.name)) continue;
      if (dependency.node) node(*dependency.node, value, at, into);
      for (const std::string& name : dependency.required) {
        if (value.find(name)) continue;
        add(into, at + '/' + escape_pointer(name), fmt::format("is missing beside {}", quote_json(dependency.name)));
      }
    }
  }

  // Returns the known names that unknown members probably mean.
  std::set<std::string> members(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    std::set<std::string> meant;
    for (const auto& member : value.members()) {
      const std::string member_at = at + '/' + escape_pointer(member.name);
      bool is_known = false;
      if (const SchemaNode* known = schema.property(member.name)) {
        is_known = true;
        node(*known, member.value, member_at, into);
      }
      for (const auto& [names, matching] : schema.pattern_properties) {
        if (!names.pattern.matches(member.name).value_or(false)) continue;
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

  static std::string unknown(const SchemaNode& schema, const std::string& name, const Value& value,
                             const std::string& at, Findings& into) {
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

  static void missing(const SchemaNode& schema, const Value& value, const std::string& at,
                      const std::set<std::string>& misspelt, Findings& into) {
    for (const std::string& name : schema.required) {
      if (value.find(name) || misspelt.contains(name)) continue;
      const SchemaNode* known = schema.property(name);
      const std::string what = known ? wanted(*known) : "";
      add(into, at + '/' + escape_pointer(name),
          what.empty() ? "is missing" : fmt::format("is missing; it is {}", what));
    }
  }

  void compositions(const SchemaNode& schema, const Value& value, const std::string& at, Findings& into) {
    for (const SchemaNode* part : schema.all_of) node(*part, value, at, into);
    if (!schema.any_of.empty()) alternatives(schema.any_of, value, at, into);
    if (!schema.one_of.empty()) {
      const auto fitting = std::ranges::count_if(schema.one_of, [&](const auto* part) { return fits(*part, value); });
      if (fitting == 0) alternatives(schema.one_of, value, at, into);
      if (fitting > 1) add(into, at, "fits more than one of the forms of which it must have exactly one");
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

  // Nothing when one of the parts fits; else the findings of the part that was most probably meant.
  void alternatives(const std::vector<const SchemaNode*>& parts, const Value& value, const std::string& at,
                    Findings& into) {
    std::vector<Findings> all;
    for (const SchemaNode* part : parts) {
      node(*part, value, at, all.emplace_back());
      if (all.back().empty()) return;
    }
    const auto is_of_kind = [&](const Findings& findings) {
      return findings.front().expected.empty() || findings.front().violation.pointer != at;
    };
    if (std::ranges::none_of(all, is_of_kind)) {
      std::string expected;
      for (const Findings& findings : all) {
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
    for (Finding& finding : all[best])
      add(into, finding.violation.pointer, finding.violation.message, finding.expected);
  }

  // How many members say outright that the value means another form, as `kind: b` does against `kind: {const: a}`.
  static int contradictions(const SchemaNode& part, const Value& value) {
    int count = 0;
    for (const auto& [name, node] : part.properties) {
      const Value* member = value.find(name);
      count += member && node->constant && !same(*member, *node->constant);
    }
    for (const SchemaNode* inner : part.all_of) count += contradictions(*inner, value);
    return count;
  }

  int steps_left_ = 500'000;
  int depth_ = 0;
};

}  // namespace

std::vector<SchemaViolation> explain(const SchemaNode& schema, const Value& value) {
  Findings findings;
  SourceScan().node(schema, value, "", findings);
  std::vector<SchemaViolation> violations;
  for (Finding& finding : findings) violations.push_back(std::move(finding.violation));
  return violations;
}

bool is_multiple(double number, double of) {
  const double times = number / of;
  // Not an exact comparison: 0.3 is a multiple of 0.1.
  return std::isfinite(times) && std::abs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::abs(times));
}

bool has_type(const Value& value, SchemaType type) {
  switch (type) {
    case SchemaType::kNull:
      return value.is_null();
    case SchemaType::kBoolean:
      return value.is_bool();
    case SchemaType::kInteger:
      return value.is_integer() || (value.is_number() && std::abs(value.as_number()) <= 9007199254740992.0 &&
                                    std::floor(value.as_number()) == value.as_number());
    case SchemaType::kNumber:
      return value.is_number();
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kArray:
      return value.is_array();
    default:
      return value.is_object();
  }
}

}  // namespace sb::workflow
