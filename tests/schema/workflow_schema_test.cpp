// docs/schema/workflow.schema.json and the program agree: the program rejects what the schema rejects, and the schema
// rejects structures that the program rejects. Only the program checks what depends on several parts of the file (ids,
// references, reachability).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/testing/fakes.hpp"
#include "workflow/data.hpp"
#include "workflow/definition/definition.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::workflow {
namespace {

// Faults of structure, which a schema can find too. The others need the whole file, or a pattern engine.
constexpr std::array<std::string_view, 19> kShapeRules = {"unknown_key",
                                                          "missing_key",
                                                          "wrong_kind",
                                                          "unknown_choice",
                                                          "out_of_range",
                                                          "too_long",
                                                          "too_short",
                                                          "too_few",
                                                          "too_many",
                                                          "repeated",
                                                          "bad_id",
                                                          "bad_name",
                                                          "bad_version",
                                                          "two_prompts",
                                                          "empty_audit",
                                                          "empty_blocks",
                                                          "two_options",
                                                          "parallel_without_items",
                                                          "capture_without_parallel"};

bool is_of_shape(const Error& fault) {
  return std::ranges::find(kShapeRules, fault.rule) != kShapeRules.end();
}

class WorkflowSchema : public testing::Test {
 protected:
  WorkflowSchema() : schema_(*JsonSchema::compile(read("/docs/schema/workflow.schema.json").root)) {}

  static Document read(const std::string& file) { return *load_document(SystemFiles(), SB_SOURCE_DIR + file); }

  bool schema_allows(const Value& value) const { return schema_.check(value).empty(); }

  static Faults faults(const Value& value) {
    const auto read = read_definition(*parse_document("w.json", to_json(value)));
    return read ? Faults{} : read.error();
  }

  // As to structure, neither may reject what the other accepts. `is_allowed` is the schema's verdict.
  void expect_same(const Value& value, bool is_allowed, const std::string& where) const {
    const Faults found = faults(value);
    if (!is_allowed) {
      EXPECT_FALSE(found.empty()) << where << ": only the schema rejects it: " << schema_.check(value)[0].pointer << " "
                                  << schema_.check(value)[0].message << "\n"
                                  << to_json(value);
      return;
    }
    for (const Error& fault : found)
      EXPECT_FALSE(is_of_shape(fault)) << where << ": the schema accepts it: " << fault.to_string();
  }

  JsonSchema schema_;
};

constexpr std::size_t kExamples = 3;  // that have every field; the first of the samples

std::vector<Value> samples() {
  std::vector<Value> all;
  const Document examples = *load_document(SystemFiles(), SB_SOURCE_DIR "/tests/data/workflow_fields.yaml");
  all = examples.root.items();
  for (const std::string_view name : bundled::data_names()) {
    if (!name.starts_with("contracts/"))
      all.push_back(parse_document(std::string(name), std::string(bundled::data_file(name)))->root);
  }
  const char* given = std::getenv("SIGNALBOX_COMPAT");
  const std::filesystem::path shared = given ? given : SB_SOURCE_DIR "/../shared/compat";
  for (const std::filesystem::path& folder : {std::filesystem::path(SB_SOURCE_DIR "/tests/data"), shared}) {
    if (folder == shared && !std::filesystem::exists(shared / "workflows")) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "workflows")) {
      if (entry.path().extension() == ".json") all.push_back(load_document(SystemFiles(), entry.path())->root);
    }
  }
  return all;
}

void collect(Value& value, std::vector<Value*>& into) {
  into.push_back(&value);
  if (value.is_array()) {
    for (Value& item : value.items()) collect(item, into);
  } else if (value.is_object()) {
    for (auto& member : value.members()) collect(member.value, into);
  }
}

// One small change: a member removed, added, misspelled or copied from elsewhere, or a value replaced.
void mutate(Value& root, FakeRandom& random) {
  std::vector<Value*> all;
  collect(root, all);
  Value& target = *all[random.next() % all.size()];
  const Value others[] = {Value(),    Value(true),    Value(7),        Value(-1),
                          Value(2.5), Value("text"),  Value(""),       Value("A b"),
                          Value("x"), Value::array(), Value::object(), Value(Value::Array{"a", "a"}),
                          Value(1001)};
  switch (random.next() % 6) {
    case 0:
      if (target.is_object() && target.size() > 0)
        target.members().erase(target.members().begin() + static_cast<long>(random.next() % target.size()));
      break;
    case 1:
      if (target.is_object()) target.set("unknown", 1);
      break;
    case 2:
      if (target.is_object() && target.size() > 0) target.members()[random.next() % target.size()].name += "x";
      break;
    case 3: {
      const Value moved = *all[random.next() % all.size()];
      target = moved;
      break;
    }
    case 4:
      if (target.is_array() && target.size() > 0) target.items().push_back(Value(target.items()[0]));
      break;
    default:
      target = others[random.next() % std::size(others)];
  }
}

TEST_F(WorkflowSchema, BothAcceptAllSamples) {
  for (const Value& sample : samples()) {
    const auto violations = schema_.check(sample);
    EXPECT_TRUE(violations.empty()) << to_json(sample["id"]) << violations[0].pointer << " " << violations[0].message;
    const Faults found = faults(sample);
    EXPECT_TRUE(found.empty()) << found[0].to_string();
  }
}

TEST_F(WorkflowSchema, BothAgreeOnThousandsOfSmallMutations) {
  constexpr std::uint64_t kSeed = 20261115;
  FakeRandom random(kSeed);
  const std::vector<Value> all = samples();
  int refused = 0;
  for (int round = 0; round < 3'000; ++round) {
    // Most of them from the examples, which have every field and are small.
    Value tree = all[random.next() % (round % 16 == 0 ? all.size() : kExamples)];
    mutate(tree, random);
    const bool is_allowed = schema_allows(tree);
    expect_same(tree, is_allowed, fmt::format("seed {} round {}", kSeed, round));
    refused += is_allowed ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 900);
}

}  // namespace
}  // namespace sb::workflow
