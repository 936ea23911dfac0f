// Our JSON Schema and an independent implementation give the same verdict over random schemas and values.
//
// Left out is where valijson itself departs from draft-07: multiples (it cuts off fractions) and formats (it aborts on
// values that are not strings).
#include "workflow/schema/json_schema.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/testing/fakes.hpp"

namespace sb::workflow {
namespace {

class RandomPairs {
 public:
  explicit RandomPairs(std::uint64_t seed) : random_(seed) {}

  Value value(int depth) {
    switch (pick(depth > 0 ? 8 : 6)) {
      case 0:
        return Value();
      case 1:
        return pick(2) == 0;
      case 2:
        return static_cast<int>(pick(5)) - 1;
      case 3:
        return static_cast<double>(pick(10)) / 4;
      case 4:
      case 5:
        return word();
      case 6: {
        Value list = Value::array();
        for (std::size_t i = pick(4); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default: {
        Value object = Value::object();
        for (std::size_t i = pick(4); i > 0; --i) object.set(word(), value(depth - 1));
        return object;
      }
    }
  }

  Value schema(int depth) {
    if (pick(12) == 0) return pick(4) != 0;
    Value out = Value::object();
    for (std::size_t i = 1 + pick(3); i > 0; --i) add_keyword(out, depth);
    if (out.find("then") && !out.find("if")) out.erase("then");
    if (out.find("additionalItems") && (!out.find("items") || !out["items"].is_array())) out.erase("additionalItems");
    return out;
  }

 private:
  std::size_t pick(std::size_t below) { return random_.next() % below; }
  std::string word() {
    const char* const words[] = {"a", "b", "ab", "x1", "", "long word"};
    return words[pick(std::size(words))];
  }
  Value schemas(int depth) {
    Value list = Value::array();
    for (std::size_t i = 1 + pick(2); i > 0; --i) list.push_back(schema(depth - 1));
    return list;
  }
  Value named(int depth) {
    Value object = Value::object();
    for (std::size_t i = 1 + pick(2); i > 0; --i) object.set(word(), schema(depth - 1));
    return object;
  }
  void add_keyword(Value& out, int depth) {
    const char* const types[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
    const auto count = [&] { return Value(static_cast<int>(pick(4))); };
    switch (pick(depth > 0 ? 32 : 16)) {
      case 0:
      case 1:
        return out.set("type", types[pick(7)]);
      case 2:
        return out.set("type", Value(Value::Array{types[pick(3)], types[3 + pick(4)]}));
      case 3:
        return out.set("const", value(1));
      case 4:
        return out.set("enum", Value(Value::Array{value(1), value(0)}));
      case 5:
        return out.set(pick(2) ? "minimum" : "exclusiveMinimum", count());
      case 6:
        return out.set(pick(2) ? "maximum" : "exclusiveMaximum", count());
      case 7:
        return out.set("maxItems", count());
      case 8:
        return out.set(pick(2) ? "minLength" : "maxLength", count());
      case 9:
        return out.set("pattern", pick(2) ? "^a" : "[0-9]$");
      case 10:
        return out.set(pick(2) ? "minItems" : "maxItems", count());
      case 11:
        return out.set(pick(2) ? "minProperties" : "maxProperties", count());
      case 12:
        return out.set("uniqueItems", pick(3) != 0);
      case 13:
        return out.set("required", Value::array(std::vector<std::string>{word()}));
      case 14:
        return out.set("minItems", count());
      case 15:
        return out.set("dependencies", Value::object({{word(), Value::array(std::vector<std::string>{word()})}}));
      case 16:
      case 17:
        return out.set("properties", named(depth));
      case 18:
        return out.set("patternProperties", Value::object({{pick(2) ? "^a" : "b", schema(depth - 1)}}));
      case 19:
      case 20:
        return out.set("additionalProperties", schema(depth - 1));
      case 21:
        return out.set("propertyNames", schema(0));
      case 22:
        return out.set("items", schema(depth - 1));
      case 23:
        return out.set("items", schemas(depth));
      case 24:
        return out.set("additionalItems", schema(depth - 1));
      case 25:
        return out.set("contains", schema(depth - 1));
      case 26:
        return out.set("allOf", schemas(depth));
      case 27:
        return out.set("anyOf", schemas(depth));
      case 28:
        return out.set("oneOf", schemas(depth));
      case 29:
        return out.set("not", schema(depth - 1));
      case 30:
        return out.set("if", schema(depth - 1));
      default:
        return out.set("then", schema(depth - 1));
    }
  }
  FakeRandom random_;
};

bool valijson_accepts(const valijson::Schema& schema, const Value& value) {
  const boost::json::value document = boost::json::parse(to_json(value));
  valijson::Validator validator;
  return validator.validate(schema, valijson::adapters::BoostJsonAdapter(document), nullptr);
}

TEST(JsonSchema, AgreesWithAnIndependentImplementation) {
  constexpr std::uint64_t kSeed = 20261115;
  RandomPairs random(kSeed);
  int fitting = 0, refused = 0;
  for (int round = 0; round < 6'000; ++round) {
    const Value schema = random.schema(3);
    const auto ours = JsonSchema::compile(schema);
    ASSERT_TRUE(ours) << to_json(schema) << ": " << ours.error().message;
    valijson::Schema theirs;
    const boost::json::value document = boost::json::parse(to_json(schema));
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::BoostJsonAdapter(document), theirs);
    for (int i = 0; i < 4; ++i) {
      const Value value = random.value(3);
      const auto violations = ours->check(value);
      ++(violations.empty() ? fitting : refused);
      ASSERT_EQ(violations.empty(), valijson_accepts(theirs, value))
          << "seed " << kSeed << " round " << round << ": " << to_json(schema) << " of " << to_json(value)
          << (violations.empty() ? "" : ": " + violations[0].message);
      for (const SchemaViolation& violation : violations) ASSERT_NE(violation.message, "");
    }
  }
  EXPECT_GT(fitting, 2'000);
  EXPECT_GT(refused, 2'000);
}

}  // namespace
}  // namespace sb::workflow
