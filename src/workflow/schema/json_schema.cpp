#include "workflow/schema/json_schema.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <mutex>
#include <set>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/adapters/std_string_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/validation_visitor.hpp>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "workflow/schema/mismatches.hpp"
#include "workflow/schema/tree.hpp"

namespace vj = valijson;
namespace vc = valijson::constraints;

namespace sb::workflow {
namespace {

using Json = vj::adapters::BoostJsonAdapter;
using Name = vj::adapters::StdStringAdapter;  // what `propertyNames` is applied to

// Thrown through valijson, which has no other way out, and caught in check().
struct GaveUp {
  std::string message;
};

// One check. It travels in the argument that valijson hands from visitor to visitor for its cache of compiled patterns;
// the patterns are ours, so the cache stays empty.
struct Run : std::unordered_map<std::string, std::regex> {
  // A schema may apply itself twice to each part of a value, and so 2^depth times to the innermost. A step counts for
  // more the deeper it is, because valijson copies the way there.
  int steps_left = 8'000'000;
  int depth = 0;
};

class Step {
 public:
  explicit Step(Run& run) : run_(run) {
    run_.steps_left -= 1 + run_.depth;
    if (run_.steps_left < 0) throw GaveUp{"is too large for its schema to be checked"};
    if (run_.depth >= 500) throw GaveUp{"is nested too deeply for its schema to be checked"};
    ++run_.depth;
  }
  ~Step() { --run_.depth; }
  Step(const Step&) = delete;

 private:
  Run& run_;
};

using Subschemas = std::vector<const vj::Subschema*>;  // by SchemaNode::index

// The keywords that valijson would check with std::regex, in quadratic time or wrongly: patterns, lengths, multiples
// (it cuts off fractions), unique items, and with patternProperties all of properties.
class OwnRules : public vc::PolyConstraint {
 public:
  OwnRules(const SchemaNode& node, const Subschemas& subschemas) : node_(&node), subschemas_(&subschemas) {}

  static bool has_any(const SchemaNode& node) {
    return node.pattern || node.format || node.min_length || node.max_length || node.multiple_of || node.unique_items ||
           !node.properties.empty() || !node.pattern_properties.empty() || node.additional_properties;
  }

  bool holds_of(const Json& target, Run& run) const {
    if (target.isString()) return text_holds(target.asString());
    if (target.isNumber()) return !node_->multiple_of || is_multiple(target.asDouble(), *node_->multiple_of);
    if (target.isArray()) return !node_->unique_items || has_unique_items(target);
    return !target.isObject() || members_hold(target, run);
  }
  bool holds_of(const Name& target, Run&) const { return text_holds(target.asString()); }

  bool validate(const vj::adapters::Adapter&, const std::vector<std::string>&, vj::ValidationResults*) const override {
    SB_ASSERT(!"valijson asks by visit(PolyConstraint), which is ours");
    return false;
  }

 private:
  Constraint* cloneInto(void* place) const override { return new (place) OwnRules(*this); }
  std::size_t sizeOf() const override { return sizeof(OwnRules); }

  static bool matches(const SchemaNode::Text& text, std::string_view value) {
    const auto found = text.pattern.matches(value);
    if (!found) throw GaveUp{fmt::format("takes too long to match `{}`", text.expression)};
    return *found;
  }
  bool text_holds(const std::string& text) const {
    if (node_->min_length || node_->max_length) {
      const std::size_t length = count_code_points(text);
      if (node_->min_length && length < *node_->min_length) return false;
      if (node_->max_length && length > *node_->max_length) return false;
    }
    return (!node_->pattern || matches(*node_->pattern, text)) && (!node_->format || matches(*node_->format, text));
  }
  static bool has_unique_items(const Json& target);
  bool members_hold(const Json& target, Run& run) const;
  bool member_holds(const SchemaNode& node, const Json& value, Run& run) const;

  const SchemaNode* node_;
  const Subschemas* subschemas_;
};

}  // namespace
}  // namespace sb::workflow

// Taken out of valijson: the step count comes in, and nothing is left that compiles a std::regex.
namespace valijson {
using sb::workflow::OwnRules;
using sb::workflow::Run;

template <class Target>
bool apply_all(const Subschema& subschema, ValidationVisitor<Target>& visitor, Run& run) {
  const sb::workflow::Step step(run);
  if (subschema.getAlwaysInvalid()) return false;
  Subschema::ApplyFunction apply = [&](const constraints::Constraint& constraint) {
    return constraint.accept(visitor);
  };
  return subschema.applyStrict(apply);
}

template <>
bool ValidationVisitor<sb::workflow::Json>::validateSchema(const Subschema& subschema) {
  return apply_all(subschema, *this, static_cast<Run&>(m_regexesCache));
}
template <>
bool ValidationVisitor<sb::workflow::Name>::validateSchema(const Subschema& subschema) {
  return apply_all(subschema, *this, static_cast<Run&>(m_regexesCache));
}
template <>
bool ValidationVisitor<sb::workflow::Json>::visit(const PolyConstraint& constraint) {
  return static_cast<const OwnRules&>(constraint).holds_of(m_target, static_cast<Run&>(m_regexesCache));
}
template <>
bool ValidationVisitor<sb::workflow::Name>::visit(const PolyConstraint& constraint) {
  return static_cast<const OwnRules&>(constraint).holds_of(m_target, static_cast<Run&>(m_regexesCache));
}
template <>
bool ValidationVisitor<sb::workflow::Json>::visit(const PatternConstraint&) {
  return false;
}
template <>
bool ValidationVisitor<sb::workflow::Name>::visit(const PatternConstraint&) {
  return false;
}
template <>
bool ValidationVisitor<sb::workflow::Json>::visit(const FormatConstraint&) {
  return false;
}
template <>
bool ValidationVisitor<sb::workflow::Name>::visit(const FormatConstraint&) {
  return false;
}
template <>
bool ValidationVisitor<sb::workflow::Json>::visit(const PropertiesConstraint&) {
  return false;
}
template <>
bool ValidationVisitor<sb::workflow::Name>::visit(const PropertiesConstraint&) {
  return false;
}
}  // namespace valijson

namespace sb::workflow {
namespace {

// Equal values, equal bytes; for comparing many at once.
void append_normal(const Json& value, std::string& out) {
  if (value.isObject()) {
    std::map<std::string, Json> members;
    for (const auto& member : value.asObject()) members.emplace(member.first, member.second);
    out += '{';
    for (const auto& [name, member] : members) {
      out += quote_json(name) + ':';
      append_normal(member, out);
    }
    out += '}';
  } else if (value.isArray()) {
    out += '[';
    for (const Json item : value.asArray()) {
      append_normal(item, out);
      out += ',';
    }
    out += ']';
  } else if (value.isString()) {
    out += quote_json(value.asString());
  } else if (value.isNumber()) {
    out += value.isInteger() ? fmt::format("{}", value.asInteger()) : fmt::format("{}", value.asDouble());
  } else {
    out += value.isNull() ? "null" : value.asBool() ? "true" : "false";
  }
}

bool OwnRules::has_unique_items(const Json& target) {
  std::set<std::string> seen;
  for (const Json item : target.asArray()) {
    std::string text;
    append_normal(item, text);
    if (!seen.insert(std::move(text)).second) return false;
  }
  return true;
}

bool OwnRules::member_holds(const SchemaNode& node, const Json& value, Run& run) const {
  return vj::ValidationVisitor<Json>(value, {}, true, nullptr, run).validateSchema(*(*subschemas_)[node.index]);
}

bool OwnRules::members_hold(const Json& target, Run& run) const {
  for (const auto& member : target.asObject()) {
    bool is_known = false;
    if (const SchemaNode* node = node_->property(member.first)) {
      is_known = true;
      if (!member_holds(*node, member.second, run)) return false;
    }
    for (const auto& [names, node] : node_->pattern_properties) {
      if (!matches(names, member.first)) continue;
      is_known = true;
      if (!member_holds(*node, member.second, run)) return false;
    }
    if (is_known || !node_->additional_properties) continue;
    if (!member_holds(*node_->additional_properties, member.second, run)) return false;
  }
  return true;
}

// A whole number is an integer however it is written: draft-07 takes 1.0 for 1.
boost::json::value to_boost(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return nullptr;
    case Value::Kind::kBool:
      return value.as_bool();
    case Value::Kind::kInteger:
      return value.as_integer();
    case Value::Kind::kNumber:
      if (has_type(value, SchemaType::kInteger)) return static_cast<std::int64_t>(value.as_number());
      return value.as_number();
    case Value::Kind::kString:
      return boost::json::value(std::string_view(value.as_string()));
    case Value::Kind::kArray: {
      boost::json::array array;
      array.reserve(value.size());
      for (const Value& item : value.items()) array.push_back(to_boost(item));
      return array;
    }
    default: {
      boost::json::object object;
      object.reserve(value.size());
      for (const auto& member : value.members()) object.insert_or_assign(member.name, to_boost(member.value));
      return object;
    }
  }
}

// Turns nodes into valijson's constraints.
class Building {
 public:
  Building(const SchemaTree& tree, vj::Schema& schema, Subschemas& subschemas)
      : schema_(schema), subschemas_(subschemas) {
    for (const auto& node : tree.nodes) {
      subschemas_.push_back(node.get() == tree.root ? schema.root() : schema.createSubschema());
    }
    for (const auto& node : tree.nodes) build(*node);
  }

 private:
  const vj::Subschema* of(const SchemaNode* node) const { return node ? subschemas_[node->index] : nullptr; }
  void add(const SchemaNode& node, const vc::Constraint& constraint) {
    schema_.addConstraintToSubschema(constraint, subschemas_[node.index]);
  }

  void build(const SchemaNode& node) {
    if (node.always == false) schema_.setAlwaysInvalid(subschemas_[node.index], true);
    add_values(node);
    add_numbers(node);
    if (OwnRules::has_any(node)) add(node, OwnRules(node, subschemas_));
    add_members(node);
    add_items(node);
    add_compositions(node);
  }

  void add_values(const SchemaNode& node) {
    using Type = vc::TypeConstraint;
    constexpr Type::JsonType kNames[] = {Type::kNull,   Type::kBoolean, Type::kInteger, Type::kNumber,
                                         Type::kString, Type::kArray,   Type::kObject};
    if (!node.types.empty()) {
      Type types;
      for (const SchemaType type : node.types) types.addNamedType(kNames[static_cast<std::size_t>(type)]);
      add(node, types);
    }
    if (node.constant) {
      const boost::json::value value = to_boost(*node.constant);
      vc::ConstConstraint constant;
      constant.setValue(Json(value));
      add(node, constant);
    }
    if (node.choices) {
      vc::EnumConstraint choices;
      for (const Value& choice : *node.choices) {
        const boost::json::value value = to_boost(choice);
        choices.addValue(Json(value));
      }
      add(node, choices);
    }
  }

  void add_numbers(const SchemaNode& node) {
    for (const bool is_exclusive : {false, true}) {
      if (const auto& bound = is_exclusive ? node.exclusive_minimum : node.minimum) {
        vc::MinimumConstraint minimum;
        minimum.setMinimum(*bound);
        minimum.setExclusiveMinimum(is_exclusive);
        add(node, minimum);
      }
      if (const auto& bound = is_exclusive ? node.exclusive_maximum : node.maximum) {
        vc::MaximumConstraint maximum;
        maximum.setMaximum(*bound);
        maximum.setExclusiveMaximum(is_exclusive);
        add(node, maximum);
      }
    }
  }

  void add_members(const SchemaNode& node) {
    if (node.min_properties) {
      vc::MinPropertiesConstraint least;
      least.setMinProperties(*node.min_properties);
      add(node, least);
    }
    if (node.max_properties) {
      vc::MaxPropertiesConstraint most;
      most.setMaxProperties(*node.max_properties);
      add(node, most);
    }
    if (!node.required.empty()) {
      vc::RequiredConstraint required;
      for (const std::string& name : node.required) required.addRequiredProperty(name);
      add(node, required);
    }
    if (node.property_names) {
      vc::PropertyNamesConstraint names;
      names.setSubschema(of(node.property_names));
      add(node, names);
    }
    vc::DependenciesConstraint dependencies;
    for (const auto& dependency : node.dependencies) {
      if (dependency.node) dependencies.addSchemaDependency(dependency.name, of(dependency.node));
      for (const std::string& name : dependency.required) dependencies.addPropertyDependency(dependency.name, name);
    }
    if (!node.dependencies.empty()) add(node, dependencies);
  }

  void add_items(const SchemaNode& node) {
    if (node.min_items) {
      vc::MinItemsConstraint least;
      least.setMinItems(*node.min_items);
      add(node, least);
    }
    if (node.max_items) {
      vc::MaxItemsConstraint most;
      most.setMaxItems(*node.max_items);
      add(node, most);
    }
    if (node.items) {
      vc::SingularItemsConstraint items;
      items.setItemsSubschema(of(node.items));
      add(node, items);
    }
    if (node.tuple) {
      vc::LinearItemsConstraint items;
      for (const SchemaNode* item : *node.tuple) items.addItemSubschema(of(item));
      items.setAdditionalItemsSubschema(node.additional_items ? of(node.additional_items) : schema_.emptySubschema());
      add(node, items);
    }
    if (node.contains) {
      vc::ContainsConstraint contains;
      contains.setSubschema(of(node.contains));
      add(node, contains);
    }
  }

  template <class Composition>
  void add_all(const SchemaNode& node, const std::vector<const SchemaNode*>& parts) {
    if (parts.empty()) return;
    Composition composition;
    for (const SchemaNode* part : parts) composition.addSubschema(of(part));
    add(node, composition);
  }

  void add_compositions(const SchemaNode& node) {
    add_all<vc::AllOfConstraint>(node, node.all_of);
    add_all<vc::AnyOfConstraint>(node, node.any_of);
    add_all<vc::OneOfConstraint>(node, node.one_of);
    if (node.none_of) {
      vc::NotConstraint none;
      none.setSubschema(of(node.none_of));
      add(node, none);
    }
    if (node.condition) {
      vc::ConditionalConstraint condition;
      condition.setIfSubschema(of(node.condition));
      condition.setThenSubschema(of(node.consequent));
      condition.setElseSubschema(of(node.alternative));
      add(node, condition);
    }
  }

  vj::Schema& schema_;
  Subschemas& subschemas_;
};

// valijson would see a text only up to a NUL.
bool is_whole(const std::string& text) {
  return text.find('\0') == std::string::npos && is_utf8(text);
}

// The first thing that keeps a value from being checked at all: its depth, its size, bytes that are no text.
std::optional<SchemaViolation> unfit_to_check(const Value& value, int depth, std::size_t& left) {
  if (depth > limits::kDocumentDepth) {
    return SchemaViolation{"", fmt::format("is nested deeper than {} levels", limits::kDocumentDepth)};
  }
  if (left-- == 0) return SchemaViolation{"", fmt::format("has more than {} values", limits::kDocumentNodes)};
  if (value.is_string() && !is_whole(value.as_string()))
    return SchemaViolation{"", "has a text that is not UTF-8 or holds a NUL"};
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto unfit = unfit_to_check(value.items()[i], depth + 1, left)) return unfit;
    }
  } else if (value.is_object()) {
    for (const auto& member : value.members()) {
      if (!is_whole(member.name)) return SchemaViolation{"", "has a name that is not UTF-8 or holds a NUL"};
      if (auto unfit = unfit_to_check(member.value, depth + 1, left)) return unfit;
    }
  }
  return std::nullopt;
}

}  // namespace

// Most schemas that are read are never used in the same run, so valijson's part is made when the first value comes.
struct JsonSchema::Rules {
  SchemaTree tree;
  mutable std::once_flag once;
  mutable Subschemas subschemas;
  mutable vj::Schema schema;

  const vj::Schema& built() const {
    std::call_once(once, [this] { Building(tree, schema, subschemas); });
    return schema;
  }
};

Result<JsonSchema> JsonSchema::compile(const Value& schema) {
  auto rules = std::make_shared<Rules>();
  rules->tree = SB_TRY(read_schema_tree(schema));
  return JsonSchema(std::move(rules));
}

std::vector<SchemaViolation> JsonSchema::check(const Value& value) const {
  std::size_t nodes = limits::kDocumentNodes;
  if (const auto unfit = unfit_to_check(value, 0, nodes)) return {*unfit};
  try {
    const boost::json::value copy = to_boost(value);
    Run run;
    if (vj::ValidationVisitor<Json>(Json(copy), {}, true, nullptr, run).validateSchema(rules_->built())) return {};
  } catch (const GaveUp& reason) {
    return {{"", reason.message}};
  }
  auto violations = explain(*rules_->tree.root, value);
  if (violations.empty()) violations.push_back({"", "does not fit its schema"});
  return violations;
}

}  // namespace sb::workflow
