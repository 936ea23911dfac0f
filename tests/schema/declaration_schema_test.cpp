// docs/schema/declaration.schema.json and the program agree: the program rejects what the schema rejects, and rejects
// no structure that the schema allows. (Only the program checks words and relations.)
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/files.hpp"
#include "base/testing/fakes.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {
namespace {

class DeclarationSchema : public testing::Test {
 protected:
  DeclarationSchema() {
    SystemFiles files;
    const auto text = files.read(SB_SOURCE_DIR "/docs/schema/declaration.schema.json", 1 << 20);
    const boost::json::value document = boost::json::parse(*text);
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::BoostJsonAdapter(document), schema_);
  }

  bool schema_allows(const std::string& json) {
    const boost::json::value document = boost::json::parse(json);
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::BoostJsonAdapter(document), nullptr);
  }

  static Faults faults(const std::string& json) {
    const auto document = parse_document("d.json", json);
    if (!document) return {document.error()};
    const auto declaration = parse_declaration(*document, Profiles::built_in());
    return declaration ? Faults{} : declaration.error();
  }

  valijson::Schema schema_;
};

const char* const kExamples[] = {
    R"({"decision":"d","instruction":"Which one?","options":["alpha",{"id":"b","label":"beta","description":"x","recommended":true,
       "completeness":7,"pros":["good"],"cons":["bad"],"effort":{"human":"1 day"},"value":{"a":1}}],"select":"many","min":1,"max":2,
       "sections":{"context":"c","recommendation":{"choice":"b","reason":"r"}},"profile":"gstack","locale":"en","label":"D3",
       "kind":"choice","relation":"independent","door":"two-way","on_timeout":"deny","deadline":"8h"})",
    R"({"decision":"f","instruction":"Your name?","select":"form","fields":[{"key":"name","type":"string","required":true}]})",
    R"({"decision":"u","instruction":"Sign in?","select":"url","url":"https://example.com/x"})",
    R"({"flow":"f","confirm":"always","steps":[{"key":"a","instruction":"Which one?","options":["x1","y1"]},
       {"key":"b","title":"Bee","instruction":"Which two?","select":"many","options":["x1","y1"],"depends_on":["a"]}]})",
    R"({"chain":"c","skill":"s","number":3,"relation":"independent","options":[
       {"key":"A","label":"One","eli10":"one","recommend":{"choice":"include","reason":"r"},"requires":["B"]},
       {"key":"B","label":"Two","eli10":"two","recommend":{"choice":"cut","reason":"r"},"shipped":false}]})"};

// Every value of a tree, with its path of indices.
void collect(Value& value, std::vector<Value*>& into) {
  into.push_back(&value);
  if (value.is_array()) {
    for (Value& item : value.items()) collect(item, into);
  } else if (value.is_object()) {
    for (auto& member : value.members()) collect(member.value, into);
  }
}

// One random small change of structure: a member removed, added or misspelled, or a value of another kind.
void mutate(Value& root, FakeRandom& random) {
  std::vector<Value*> all;
  collect(root, all);
  Value& target = *all[random.next() % all.size()];
  const Value others[] = {Value(), Value(true), Value(7), Value(-1), Value("text"), Value::array(), Value::object()};
  switch (random.next() % 4) {
    case 0:
      if (target.is_object() && target.size() > 0) target.members().erase(target.members().begin());
      break;
    case 1:
      if (target.is_object()) target.set("unknown", 1);
      break;
    case 2:
      if (target.is_object() && target.size() > 0) target.members()[random.next() % target.size()].name += "x";
      break;
    default:
      target = others[random.next() % std::size(others)];
  }
}

TEST_F(DeclarationSchema, BothAcceptTheExamples) {
  for (const char* example : kExamples) {
    EXPECT_TRUE(schema_allows(example)) << example;
    const auto found = faults(example);
    EXPECT_TRUE(found.empty()) << found[0].to_string();
  }
}

TEST_F(DeclarationSchema, TheProgramRejectsWhatTheSchemaRejects) {
  constexpr std::uint64_t kSeed = 20261115;
  FakeRandom random(kSeed);
  int refused = 0;
  for (int round = 0; round < 4'000; ++round) {
    Value tree = parse_document("d.json", kExamples[random.next() % std::size(kExamples)])->root;
    mutate(tree, random);
    const std::string json = to_json(tree);
    if (schema_allows(json)) continue;
    ++refused;
    EXPECT_FALSE(faults(json).empty()) << "seed " << kSeed << " round " << round << ": " << json;
  }
  EXPECT_GT(refused, 1'000);
}

TEST_F(DeclarationSchema, TheSchemaRejectsStructuresThatTheProgramRejects) {
  constexpr std::uint64_t kSeed = 20261116;
  FakeRandom random(kSeed);
  for (int round = 0; round < 4'000; ++round) {
    Value tree = parse_document("d.json", kExamples[random.next() % std::size(kExamples)])->root;
    mutate(tree, random);
    const std::string json = to_json(tree);
    for (const Error& fault : faults(json)) {
      const bool is_structure = fault.message.starts_with("expected ") || fault.message.starts_with("unknown key");
      if (!is_structure) continue;
      EXPECT_FALSE(schema_allows(json)) << "seed " << kSeed << " round " << round << ": " << fault.to_string() << "\n"
                                        << json;
      break;
    }
  }
}

}  // namespace
}  // namespace sb::decision
