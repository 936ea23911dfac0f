#include "workflow/schema/example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text/pattern.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::workflow {
namespace {

constexpr int kDeepest = 16;
constexpr std::size_t kLongest = 4096;  // of generated texts and lists; a schema that requires more gets no example

std::size_t whole(const Value& value, std::size_t otherwise) {
  if (!value.is_number() || value.as_number() < 0) return otherwise;
  return static_cast<std::size_t>(std::min(value.as_number(), double{kLongest}));
}

class Example {
 public:
  explicit Example(const Value& root) : root_(root) {}

  // The value, with the parts that do not fit generated again. Members that the schema does not name are dropped from
  // those parts.
  Value near(const Value& schema, const Value& value, int number, int depth) const {
    if (depth > kDeepest || fits(schema, value)) return value;
    if (const auto ref = schema.string_at("$ref")) return near(resolved(*ref), value, number, depth + 1);
    if (value.is_object() && type_of(schema) == "object") {
      Value made = Value::object();
      const Value& properties = schema["properties"];
      for (const auto& member : value.members()) {
        const Value* own = properties.find(member.name);
        if (own) made.set(member.name, near(*own, member.value, number, depth + 1));
        if (!own && !properties.is_object()) made.set(member.name, member.value);
      }
      const Value required = object_of(schema, number, depth);
      for (const auto& member : required.members()) {
        if (!made.find(member.name)) made.set(member.name, member.value);
      }
      return made;
    }
    if (value.is_array() && type_of(schema) == "array") {
      Value made = Value::array();
      for (const Value& item : value.items()) {
        made.push_back(near(schema["items"], item, static_cast<int>(made.size()) + 1, depth + 1));
      }
      const Value more = array_of(schema, depth);
      for (std::size_t i = made.size(); i < more.size(); ++i) made.push_back(more.items()[i]);
      return made;
    }
    return of(schema, number, depth);
  }

  // `number` distinguishes items of a list, so that ids in it differ.
  Value of(const Value& schema, int number, int depth) const {
    if (!schema.is_object() || depth > kDeepest) return Value("example");
    if (const Value* value = schema.find("const")) return *value;
    if (const Value* choices = schema.find("enum"); choices && choices->is_array() && choices->size() > 0) {
      return choices->items().front();
    }
    if (const auto ref = schema.string_at("$ref")) return of(resolved(*ref), number, depth + 1);
    for (const std::string_view name : {"oneOf", "anyOf"}) {
      const Value* parts = schema.find(name);
      if (parts && parts->is_array() && parts->size() > 0) {
        return of(joined(schema, name, parts->items().front()), number, depth + 1);
      }
    }
    if (const Value* parts = schema.find("allOf"); parts && parts->is_array() && parts->size() > 0) {
      Value all = schema;
      all.erase("allOf");
      for (const Value& part : parts->items()) all = joined(all, "", part);
      return of(all, number, depth + 1);
    }
    return of_type(type_of(schema), schema, number, depth);
  }

 private:
  static std::string type_of(const Value& schema) {
    const Value& type = schema["type"];
    if (type.is_string()) return type.as_string();
    if (type.is_array() && type.size() > 0 && type.items().front().is_string()) return type.items().front().as_string();
    if (schema.find("properties") || schema.find("required")) return "object";
    if (schema.find("items") || schema.find("minItems") || schema.find("contains")) return "array";
    if (schema.find("minimum") || schema.find("maximum") || schema.find("multipleOf")) return "number";
    return "string";
  }

  bool fits(const Value& schema, const Value& value) const {
    if (!schema.is_object()) return true;
    Value whole = schema;
    for (const std::string_view name : {"definitions", "$defs"}) {
      if (const Value* shared = root_.find(name)) whole.set(name, *shared);
    }
    const auto compiled = JsonSchema::compile(whole);
    return compiled && compiled->check(value).empty();
  }

  static Value shared(const Value& choices, const Value& others) {
    Value both = Value::array();
    for (const Value& choice : choices.items()) {
      if (std::ranges::find(others.items(), choice) != others.items().end()) both.push_back(choice);
    }
    return both;
  }

 public:
  // The schema without this part, merged with one branch of the part.
  static Value joined(const Value& schema, std::string_view without, const Value& branch) {
    Value all = schema;
    if (!without.empty()) all.erase(without);
    if (!branch.is_object()) return all;
    for (const auto& [name, value] : branch.members()) {
      Value* known = all.find(name);
      if (name == "properties" && known && known->is_object() && value.is_object()) {
        for (const auto& member : value.members()) {
          const Value* own = known->find(member.name);
          known->set(member.name, own && own->is_object() ? joined(*own, "", member.value) : member.value);
        }
      } else if (name == "items" && known && known->is_object()) {
        *known = joined(Value(*known), "", value);
      } else if (name == "enum" && known && known->is_array() && value.is_array()) {
        if (Value both = shared(*known, value); both.size() > 0) *known = std::move(both);
      } else if (name == "required" && known && known->is_array() && value.is_array()) {
        for (const Value& item : value.items()) known->push_back(item);
      } else {
        all.set(name, value);
      }
    }
    return all;
  }

 private:
  const Value& resolved(std::string_view ref) const {
    static const Value kAnything = Value::object();
    if (!ref.starts_with('#')) return kAnything;
    const Value* at = &root_;
    for (std::size_t begin = 1; begin < ref.size() && at;) {
      const std::size_t end = std::min(ref.find('/', begin + 1), ref.size());
      at = at->find(ref.substr(begin + 1, end - begin - 1));
      begin = end;
    }
    return at ? *at : kAnything;
  }

  Value of_type(const std::string& type, const Value& schema, int number, int depth) const {
    if (type == "object") return object_of(schema, number, depth);
    if (type == "array") return array_of(schema, depth);
    if (type == "boolean") return Value(false);
    if (type == "null") return Value();
    if (type == "integer" || type == "number") return number_of(schema);
    return text_of(schema, number);
  }

  Value object_of(const Value& schema, int number, int depth) const {
    Value object = Value::object();
    const Value& required = schema["required"];
    if (!required.is_array()) return object;
    for (const Value& name : required.items()) {
      if (!name.is_string()) continue;
      object.set(name.as_string(), of(schema["properties"][name.as_string()], number, depth + 1));
    }
    return object;
  }

  Value array_of(const Value& schema, int depth) const {
    Value array = Value::array();
    const Value& items = schema["items"];
    const std::size_t wanted = whole(schema["minItems"], 0);
    const Value* contains = schema.find("contains");
    for (std::size_t i = 0; i < wanted; ++i) {
      const bool is_the_one = contains && i + 1 == wanted;
      const Value& of_item = items.is_array() && i < items.size() ? items.items()[i] : items;
      array.push_back(of(is_the_one ? joined(of_item, "", *contains) : of_item, static_cast<int>(i) + 1, depth + 1));
    }
    if (contains && wanted == 0) array.push_back(of(joined(items, "", *contains), 1, depth + 1));
    return array;
  }

  static Value number_of(const Value& schema) {
    const auto bound = [&](std::string_view name) {
      return schema[name].is_number() ? std::optional(schema[name].as_number()) : std::nullopt;
    };
    double value = 1;
    if (const auto step = bound("multipleOf")) value = *step;
    if (const auto most = bound("maximum")) value = std::min(value, *most);
    if (const auto below = bound("exclusiveMaximum")) value = std::min(value, *below - 1);
    if (const auto least = bound("minimum")) value = std::max(value, *least);
    if (const auto above = bound("exclusiveMinimum")) value = std::max(value, *above + 1);
    const bool is_whole = std::floor(value) == value && std::abs(value) < 1e15;
    return is_whole ? Value(static_cast<long>(value)) : Value(value);
  }

  static Value text_of(const Value& schema, int number) {
    const std::size_t least = whole(schema["minLength"], 0);
    const std::size_t most = whole(schema["maxLength"], kLongest);
    const auto expression = schema.string_at("pattern");
    const auto pattern = expression ? Pattern::compile(*expression) : Result<Pattern>(fail(ErrorCode::kInvalid, ""));
    for (std::string text : words(number)) {
      // It is all ASCII: bytes are characters.
      while (text.size() < least) {
        const std::size_t lacks = least - text.size();
        // Single letters match a pattern more often than words.
        text += lacks > 8 || (!expression && text.size() + 8 <= most) ? " example" : "e";
      }
      if (text.size() > most) continue;
      if (!expression || (pattern && pattern->matches(text).value_or(false))) return Value(std::move(text));
    }
    return Value("example");
  }

  static std::vector<std::string> words(int number) {
    return {number > 1 ? fmt::format("example-{}", number) : "example",
            fmt::format("Example {}", number),
            fmt::format("{}", number),
            fmt::format("e{}", number),
            fmt::format("EX-{}", number),
            fmt::format("EXAMPLE_{}", number),
            fmt::format("src/example_{}.txt", number),
            fmt::format("1.{}.0", number),
            fmt::format("2026-01-{:02}", number % 28 + 1),
            fmt::format("https://example.org/{}", number),
            fmt::format("{:040x}", number),
            fmt::format("{:064x}", number)};
  }

  const Value& root_;
};

}  // namespace

std::optional<Value> example_of(const Value& schema) {
  const auto compiled = JsonSchema::compile(schema);
  if (!compiled) return std::nullopt;
  Value value = Example(schema).of(schema, 1, 0);
  if (compiled->check(value).empty()) return value;
  return std::nullopt;
}

std::optional<Value> example_near(const Value& value, const Value& schema, std::span<const Value> narrowings) {
  Value all = schema;
  for (const Value& narrowing : narrowings) all = Example::joined(all, "", narrowing);
  Value made = Example(all).near(all, value, 1, 0);
  const auto does_fit = [&](const Value& part) {
    const auto compiled = JsonSchema::compile(part);
    return compiled && compiled->check(made).empty();
  };
  if (does_fit(schema) && std::ranges::all_of(narrowings, does_fit)) return made;
  return std::nullopt;
}

}  // namespace sb::workflow
