#include "workflow/schema/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

constexpr std::array<std::pair<std::string_view, SchemaType>, 7> kTypes = {{{"null", SchemaType::kNull},
                                                                            {"boolean", SchemaType::kBoolean},
                                                                            {"integer", SchemaType::kInteger},
                                                                            {"number", SchemaType::kNumber},
                                                                            {"string", SchemaType::kString},
                                                                            {"array", SchemaType::kArray},
                                                                            {"object", SchemaType::kObject}}};

constexpr std::string_view kDate = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
constexpr std::string_view kTime =
    "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
constexpr std::array<std::string_view, 6> kFormats = {"date-time", "date", "time", "email", "uri", "uuid"};

std::string format_pattern(std::string_view format) {
  if (format == "date-time") return fmt::format("^{}[Tt]{}$", kDate, kTime);
  if (format == "date") return fmt::format("^{}$", kDate);
  if (format == "time") return fmt::format("^{}$", kTime);
  if (format == "email") return "^[^@\\s]+@[^@\\s]+$";
  if (format == "uri") return "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s]*$";
  return "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";
}

std::unexpected<Error> refuse(std::string pointer, std::string message, std::string remedy,
                              ErrorCode code = ErrorCode::kInvalid) {
  SourceLocation place;
  place.pointer = std::move(pointer);
  return fail(code, std::move(message), std::move(remedy), std::move(place));
}

struct Size {
  std::size_t nodes = 0;
  int depth = 0;
};

// Counts values and levels; stops once a limit is exceeded.
void measure(const Value& value, int depth, Size& into) {
  into.depth = std::max(into.depth, depth);
  if (++into.nodes > limits::kSchemaNodes || depth > limits::kDocumentDepth) return;
  if (value.is_array()) {
    for (const Value& item : value.items()) measure(item, depth + 1, into);
  } else if (value.is_object()) {
    for (const auto& member : value.members()) measure(member.value, depth + 1, into);
  }
}

class SchemaReading {
 public:
  SchemaReading(const Value& root, SchemaTree& tree) : root_(root), tree_(tree) {}

  Status read_all() {
    tree_.root = SB_TRY(node(root_, ""));
    // The target of a `$ref` may be anywhere, even where no schema is expected.
    while (!pending_.empty()) {
      const auto [target, pointer] = pending_.back();
      pending_.pop_back();
      SB_TRY(node(*target, pointer));
    }
    return {};
  }

 private:
  using Handler = Status (SchemaReading::*)(SchemaNode&, const Value&, const std::string&);
  struct Keyword {
    std::string_view name;
    Handler read;
  };
  static const std::vector<Keyword>& keywords();

  SchemaNode& made(const std::string& pointer) {
    SchemaNode*& found = by_pointer_[pointer];
    if (!found) {
      tree_.nodes.push_back(std::make_unique<SchemaNode>());
      found = tree_.nodes.back().get();
      found->index = tree_.nodes.size() - 1;
      is_read_.push_back(false);
    }
    return *found;
  }

  Result<const SchemaNode*> node(const Value& value, const std::string& pointer);
  Status annotate(SchemaNode&, const Value&, const std::string&) { return {}; }
  Status read_dialect(SchemaNode&, const Value& value, const std::string& pointer);
  Status read_id(SchemaNode&, const Value& value, const std::string& pointer);
  Status read_definitions(SchemaNode&, const Value& value, const std::string& pointer);
  Status read_reference(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_types(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_constant(SchemaNode& into, const Value& value, const std::string&) {
    into.constant = value;
    return {};
  }
  Status read_choices(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_pattern(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_format(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_unique(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_multiple(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_required(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_properties(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_pattern_properties(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_dependencies(SchemaNode& into, const Value& value, const std::string& pointer);
  Status read_items(SchemaNode& into, const Value& value, const std::string& pointer);

  template <std::optional<double> SchemaNode::* Member>
  Status read_number(SchemaNode& into, const Value& value, const std::string& pointer) {
    if (!value.is_number()) return wrong(pointer, "a number", value);
    into.*Member = value.as_number();
    return {};
  }
  template <std::optional<std::uint64_t> SchemaNode::* Member>
  Status read_count(SchemaNode& into, const Value& value, const std::string& pointer) {
    const bool is_count = value.is_number() && value.as_number() >= 0 && value.as_number() <= 1e15 &&
                          std::floor(value.as_number()) == value.as_number();
    if (!is_count) return wrong(pointer, "a whole number of at least 0", value);
    into.*Member = static_cast<std::uint64_t>(value.as_number());
    return {};
  }
  template <const SchemaNode* SchemaNode::* Member>
  Status read_one(SchemaNode& into, const Value& value, const std::string& pointer) {
    into.*Member = SB_TRY(node(value, pointer));
    return {};
  }
  template <std::vector<const SchemaNode*> SchemaNode::* Member>
  Status read_several(SchemaNode& into, const Value& value, const std::string& pointer) {
    if (!value.is_array() || value.size() == 0) return wrong(pointer, "a list of schemas, not empty", value);
    into.*Member = SB_TRY(nodes(value, pointer));
    return {};
  }

  // Values with such a name are rejected (json_schema.cpp), so nothing could ever fit the schema.
  static Status name_is_whole(const std::string& name, const std::string& pointer) {
    if (name.find('\0') == std::string::npos) return {};
    return refuse(pointer, "a name contains a NUL character", "Remove it");
  }
  Result<std::vector<const SchemaNode*>> nodes(const Value& list, const std::string& pointer);
  Result<std::vector<std::string>> names(const Value& list, const std::string& pointer);
  Result<SchemaNode::Text> text_pattern(const std::string& expression, const std::string& pointer);
  static std::unexpected<Error> wrong(const std::string& pointer, std::string_view expected, const Value& found) {
    const bool is_short = !found.is_array() && !found.is_object() && !found.is_string();
    return refuse(pointer,
                  fmt::format("expected {}, found {}", expected,
                              is_short && !found.is_null() ? to_json(found) : kind_name(found.kind())),
                  "Correct the schema");
  }

  const Value& root_;
  SchemaTree& tree_;
  std::map<std::string, SchemaNode*> by_pointer_;
  std::vector<bool> is_read_;
  std::vector<std::pair<const Value*, std::string>> pending_;
};

const std::vector<SchemaReading::Keyword>& SchemaReading::keywords() {
  using R = SchemaReading;
  using N = SchemaNode;
  static const std::vector<Keyword> known = {
      {"$schema", &R::read_dialect},
      {"$id", &R::read_id},
      {"$comment", &R::annotate},
      {"title", &R::annotate},
      {"description", &R::annotate},
      {"default", &R::annotate},
      {"examples", &R::annotate},
      {"readOnly", &R::annotate},
      {"writeOnly", &R::annotate},
      {"definitions", &R::read_definitions},
      {"$defs", &R::read_definitions},
      {"type", &R::read_types},
      {"const", &R::read_constant},
      {"enum", &R::read_choices},
      {"minimum", &R::read_number<&N::minimum>},
      {"maximum", &R::read_number<&N::maximum>},
      {"exclusiveMinimum", &R::read_number<&N::exclusive_minimum>},
      {"exclusiveMaximum", &R::read_number<&N::exclusive_maximum>},
      {"multipleOf", &R::read_multiple},
      {"minLength", &R::read_count<&N::min_length>},
      {"maxLength", &R::read_count<&N::max_length>},
      {"pattern", &R::read_pattern},
      {"format", &R::read_format},
      {"minItems", &R::read_count<&N::min_items>},
      {"maxItems", &R::read_count<&N::max_items>},
      {"uniqueItems", &R::read_unique},
      {"items", &R::read_items},
      {"additionalItems", &R::read_one<&N::additional_items>},
      {"contains", &R::read_one<&N::contains>},
      {"minProperties", &R::read_count<&N::min_properties>},
      {"maxProperties", &R::read_count<&N::max_properties>},
      {"required", &R::read_required},
      {"properties", &R::read_properties},
      {"patternProperties", &R::read_pattern_properties},
      {"additionalProperties", &R::read_one<&N::additional_properties>},
      {"propertyNames", &R::read_one<&N::property_names>},
      {"dependencies", &R::read_dependencies},
      {"allOf", &R::read_several<&N::all_of>},
      {"anyOf", &R::read_several<&N::any_of>},
      {"oneOf", &R::read_several<&N::one_of>},
      {"not", &R::read_one<&N::none_of>},
      {"if", &R::read_one<&N::condition>},
      {"then", &R::read_one<&N::consequent>},
      {"else", &R::read_one<&N::alternative>},
      {"$ref", &R::read_reference},
  };
  return known;
}

Result<const SchemaNode*> SchemaReading::node(const Value& value, const std::string& pointer) {
  SchemaNode& into = made(pointer);
  if (is_read_[into.index]) return &into;
  is_read_[into.index] = true;
  if (value.is_bool()) {
    into.always = value.as_bool();
    return &into;
  }
  if (!value.is_object()) return wrong(pointer, "a schema (an object, true or false)", value);
  const bool is_reference = value.find("$ref") != nullptr;
  for (const auto& member : value.members()) {
    const std::string at = pointer + '/' + escape_pointer(member.name);
    const auto keyword = std::ranges::find(keywords(), member.name, &Keyword::name);
    if (keyword == keywords().end()) {
      std::vector<std::string> known;
      for (const Keyword& k : keywords()) known.emplace_back(k.name);
      const std::string nearest = nearest_name(member.name, known);
      return refuse(at, fmt::format("\"{}\" is not a keyword of JSON Schema draft-07", member.name.substr(0, 64)),
                    nearest.empty() ? "Remove it; it could not be enforced" : fmt::format("Did you mean {}?", nearest));
    }
    // Draft-07 ignores keywords next to a reference; nothing in a file should be ignored silently.
    const bool may_stand_beside = keyword->read == &SchemaReading::annotate || member.name == "$ref" ||
                                  keyword->read == &SchemaReading::read_definitions ||
                                  keyword->read == &SchemaReading::read_dialect;
    if (is_reference && !may_stand_beside) {
      return refuse(at, fmt::format("draft-07 ignores \"{}\" next to $ref", member.name), "Put both into allOf");
    }
    SB_TRY((this->*keyword->read)(into, member.value, at));
  }
  if (!into.condition && (into.consequent || into.alternative)) {
    return refuse(pointer, "`then` or `else` without `if`", "Add if:");
  }
  if (into.additional_items && !into.tuple) {
    return refuse(pointer + "/additionalItems", "`additionalItems` without a list of `items` has no effect",
                  "Use items:, or give items as a list");
  }
  return &into;
}

Result<std::vector<const SchemaNode*>> SchemaReading::nodes(const Value& list, const std::string& pointer) {
  std::vector<const SchemaNode*> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    found.push_back(SB_TRY(node(list.items()[i], fmt::format("{}/{}", pointer, i))));
  }
  return found;
}

Result<std::vector<std::string>> SchemaReading::names(const Value& list, const std::string& pointer) {
  if (!list.is_array()) return wrong(pointer, "a list of names", list);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value& item = list.items()[i];
    if (!item.is_string()) return wrong(fmt::format("{}/{}", pointer, i), "a name", item);
    SB_TRY(name_is_whole(item.as_string(), fmt::format("{}/{}", pointer, i)));
    found.push_back(item.as_string());
  }
  return found;
}

Status SchemaReading::read_dialect(SchemaNode&, const Value& value, const std::string& pointer) {
  std::string_view name = value.is_string() ? std::string_view(value.as_string()) : std::string_view();
  if (name.ends_with('#')) name.remove_suffix(1);
  if (name.ends_with("//json-schema.org/draft-07/schema")) return {};
  return refuse(pointer, "only JSON Schema draft-07 is understood", "Write http://json-schema.org/draft-07/schema#");
}

Status SchemaReading::read_id(SchemaNode&, const Value& value, const std::string& pointer) {
  if (!value.is_string()) return wrong(pointer, "a text", value);
  if (pointer == "/$id") return {};
  return refuse(pointer, "an `$id` inside a schema would change what $ref means", "Remove it");
}

Status SchemaReading::read_definitions(SchemaNode&, const Value& value, const std::string& pointer) {
  if (!value.is_object()) return wrong(pointer, "an object of schemas", value);
  for (const auto& member : value.members()) SB_TRY(node(member.value, pointer + '/' + escape_pointer(member.name)));
  return {};
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view hex = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (hex.size() != 2 || error != std::errc() || end != hex.data() + 2) return std::nullopt;
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

std::string unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool is_escape = step[i] == '~' && i + 1 < step.size() && (step[i + 1] == '0' || step[i + 1] == '1');
    out += is_escape ? (step[++i] == '0' ? '~' : '/') : step[i];
  }
  return out;
}

const Value* step_into(const Value& value, const std::string& step) {
  if (!value.is_array()) return value.find(step);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= value.size()) return nullptr;
  return &value.items()[index];
}

Status SchemaReading::read_reference(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_string()) return wrong(pointer, "a text", value);
  const std::string& reference = value.as_string();
  const auto fragment = reference.starts_with('#') ? percent_decoded(reference.substr(1)) : std::nullopt;
  if (!fragment || (!fragment->empty() && !fragment->starts_with('/'))) {
    return refuse(pointer, fmt::format("$ref \"{}\" points outside the schema", reference.substr(0, 120)),
                  "Copy its target into definitions and write #/definitions/NAME");
  }
  const Value* at = &root_;
  std::string canonical;
  for (std::size_t begin = 1; at && begin <= fragment->size();) {
    const std::size_t end = std::min(fragment->find('/', begin), fragment->size());
    const std::string step = unescaped(std::string_view(*fragment).substr(begin, end - begin));
    at = step_into(*at, step);
    canonical += '/' + escape_pointer(step);
    begin = end + 1;
  }
  if (!at) {
    return refuse(pointer, fmt::format("$ref \"{}\" points to nothing", reference.substr(0, 120)),
                  "Use a pointer to a part of the schema");
  }
  into.all_of.push_back(&made(canonical));
  pending_.emplace_back(at, canonical);
  return {};
}

Status SchemaReading::read_types(SchemaNode& into, const Value& value, const std::string& pointer) {
  const Value::Array one = {value};
  for (const Value& item : value.is_array() ? value.items() : one) {
    const auto type = item.is_string()
                          ? std::ranges::find(kTypes, item.as_string(), &decltype(kTypes)::value_type::first)
                          : kTypes.end();
    if (type == kTypes.end()) {
      std::vector<std::string> known;
      for (const auto& [name, unused] : kTypes) known.emplace_back(name);
      const std::string nearest = item.is_string() ? nearest_name(item.as_string(), known) : "";
      return refuse(pointer, fmt::format("{} is not a type", to_json(item).substr(0, 64)),
                    nearest.empty() ? fmt::format("Use one of {}", fmt::join(known, ", "))
                                    : fmt::format("Did you mean {}?", nearest));
    }
    into.types.push_back(type->second);
  }
  if (into.types.empty()) return wrong(pointer, "at least one type", value);
  return {};
}

Status SchemaReading::read_choices(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_array() || value.size() == 0) return wrong(pointer, "a list of values, not empty", value);
  into.choices = value.items();
  return {};
}

Result<SchemaNode::Text> SchemaReading::text_pattern(const std::string& expression, const std::string& pointer) {
  auto pattern = Pattern::compile(expression, Pattern::kJavaScript);
  if (!pattern) return refuse(pointer, pattern.error().message, pattern.error().remedy, pattern.error().code);
  return SchemaNode::Text{expression, std::move(*pattern)};
}

Status SchemaReading::read_pattern(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_string()) return wrong(pointer, "a pattern", value);
  into.pattern = SB_TRY(text_pattern(value.as_string(), pointer));
  return {};
}

Status SchemaReading::read_format(SchemaNode& into, const Value& value, const std::string& pointer) {
  const bool is_known = value.is_string() && std::ranges::find(kFormats, value.as_string()) != kFormats.end();
  if (!is_known) {
    return refuse(pointer, fmt::format("unknown format {}", to_json(value).substr(0, 64)),
                  fmt::format("Use one of {}, or a pattern", fmt::join(kFormats, ", ")));
  }
  into.format = SB_TRY(text_pattern(format_pattern(value.as_string()), pointer));
  into.format->expression = value.as_string();
  return {};
}

Status SchemaReading::read_unique(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_bool()) return wrong(pointer, "true or false", value);
  into.unique_items = value.as_bool();
  return {};
}

Status SchemaReading::read_multiple(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_number() || value.as_number() <= 0) return wrong(pointer, "a number above 0", value);
  into.multiple_of = value.as_number();
  return {};
}

Status SchemaReading::read_required(SchemaNode& into, const Value& value, const std::string& pointer) {
  into.required = SB_TRY(names(value, pointer));
  return {};
}

Status SchemaReading::read_properties(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_object()) return wrong(pointer, "an object of schemas", value);
  for (const auto& member : value.members()) {
    SB_TRY(name_is_whole(member.name, pointer));
    into.properties.emplace_back(member.name, SB_TRY(node(member.value, pointer + '/' + escape_pointer(member.name))));
  }
  return {};
}

Status SchemaReading::read_pattern_properties(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_object()) return wrong(pointer, "an object of schemas", value);
  for (const auto& member : value.members()) {
    const std::string at = pointer + '/' + escape_pointer(member.name);
    into.pattern_properties.push_back({SB_TRY(text_pattern(member.name, at)), SB_TRY(node(member.value, at))});
  }
  return {};
}

Status SchemaReading::read_dependencies(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (!value.is_object()) return wrong(pointer, "an object", value);
  for (const auto& member : value.members()) {
    const std::string at = pointer + '/' + escape_pointer(member.name);
    SB_TRY(name_is_whole(member.name, pointer));
    SchemaNode::Dependency dependency{member.name, {}, nullptr};
    if (member.value.is_array()) {
      dependency.required = SB_TRY(names(member.value, at));
    } else {
      dependency.node = SB_TRY(node(member.value, at));
    }
    into.dependencies.push_back(std::move(dependency));
  }
  return {};
}

Status SchemaReading::read_items(SchemaNode& into, const Value& value, const std::string& pointer) {
  if (value.is_array()) {
    into.tuple = SB_TRY(nodes(value, pointer));
  } else {
    into.items = SB_TRY(node(value, pointer));
  }
  return {};
}

// The schemas that a schema applies to the same value as itself.
std::vector<const SchemaNode*> in_place(const SchemaNode& node) {
  std::vector<const SchemaNode*> found;
  for (const auto* list : {&node.all_of, &node.any_of, &node.one_of})
    found.insert(found.end(), list->begin(), list->end());
  for (const SchemaNode* one : {node.none_of, node.condition, node.consequent, node.alternative}) {
    if (one) found.push_back(one);
  }
  for (const auto& dependency : node.dependencies) {
    if (dependency.node) found.push_back(dependency.node);
  }
  return found;
}

// Repeatedly removes the nodes that apply no remaining schema in place; any node left is part of a cycle.
bool is_circular(const SchemaTree& tree) {
  std::vector<std::vector<std::size_t>> users(tree.nodes.size());
  std::vector<std::size_t> left(tree.nodes.size()), done;
  for (const auto& node : tree.nodes) {
    const auto used = in_place(*node);
    left[node->index] = used.size();
    for (const SchemaNode* one : used) users[one->index].push_back(node->index);
    if (used.empty()) done.push_back(node->index);
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    for (const std::size_t user : users[done[i]]) {
      if (--left[user] == 0) done.push_back(user);
    }
  }
  return done.size() != tree.nodes.size();
}

}  // namespace

std::string_view with_article(SchemaType type) {
  constexpr std::array<std::string_view, 7> kNames = {"null",     "true or false", "a whole number", "a number",
                                                      "a string", "a list",        "an object"};
  return kNames[static_cast<std::size_t>(type)];
}

const SchemaNode* SchemaNode::property(std::string_view name) const {
  for (const auto& [known, node] : properties) {
    if (known == name) return node;
  }
  return nullptr;
}

Result<SchemaTree> read_schema_tree(const Value& schema) {
  Size size;
  measure(schema, 0, size);
  if (size.nodes > limits::kSchemaNodes || size.depth > limits::kDocumentDepth) {
    return fail(ErrorCode::kLimit,
                fmt::format("the schema has more than {} values or more than {} levels", limits::kSchemaNodes,
                            limits::kDocumentDepth),
                "Make it smaller");
  }
  SchemaTree tree;
  SB_TRY(SchemaReading(schema, tree).read_all());
  if (is_circular(tree)) {
    return fail(ErrorCode::kInvalid, "a $ref refers to itself without going deeper into the value",
                "Put properties or items between them");
  }
  return tree;
}

}  // namespace sb::workflow
