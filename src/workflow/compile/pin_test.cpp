// What is pinned: the same bytes from the same files everywhere, and different bytes from different files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFlow = R"(
id: test-flow
name: Test
description: For tests.
version: 1.0.0
metaGuidance: [Be brief.]
extensionPoints: [{slotId: review_pass, purpose: Who reviews., default: wr.routine-review}]
features: [wr.features.memory_context]
metricsProfile: coding
steps:
  - {id: plan, title: Plan, promptBlocks: {goal: "Plan with {{wr.bindings.review_pass}}."}}
  - {id: look, title: Look, templateCall: {templateId: wr.templates.routine.look, args: {place: attic}}}
  - {id: sub, type: workflow, title: Sub, workflowId: leaf-flow}
  - id: done
    title: Done
    prompt: Finish.
    outputContract: {contractRef: team.contracts.estimate}
    verification: {command: make test}
)";

struct Texts {
  std::string flow{kFlow};
  std::string routine =
      "{id: wr.routine-look, name: L, description: L., version: 1.0.0, steps: [{id: walk, title: G, prompt: 'In the "
      "{place}.'}]}";
  std::string leaf =
      "{id: leaf-flow, name: L, description: L., version: 1.0.0, steps: [{id: one, title: O, prompt: One.}]}";
  std::string contract =
      "{contract: team.contracts.estimate, kind: team.estimate, version: 1, help: How long., schema: {type: object}, "
      "example: {kind: team.estimate}}";
  std::string binding;
};

Bundle compiled_from(const Texts& texts) {
  FakeResolver around;
  around.add_routine("wr.templates.routine.look", texts.routine);
  around.add_workflow(texts.leaf);
  around.add_contract(texts.contract);
  if (!texts.binding.empty()) around.bind("test-flow", "review_pass", texts.binding);
  return compiled(texts.flow, around);
}

std::string hash_from(const Texts& texts) {
  return compiled_from(texts).back()->hash;
}

// Reverses the members of every object.
Value reversed(const Value& value) {
  if (value.is_array()) {
    Value out = Value::array();
    for (const Value& item : value.items()) out.push_back(reversed(item));
    return out;
  }
  if (!value.is_object()) return value;
  Value out = Value::object();
  for (auto member = value.members().rbegin(); member != value.members().rend(); ++member) {
    out.set(member->name, reversed(member->value));
  }
  return out;
}

TEST(Pin, SameFilesSameHash) {
  const Texts texts;
  const Bundle bundle = compiled_from(texts);
  EXPECT_EQ(bundle.back()->hash, hash_from(texts));
  EXPECT_EQ(bundle.back()->hash, "sha256:" + sha256_hex(to_canonical_json(bundle.back()->pinned)));
}

TEST(Pin, NeitherKeyOrderNorSyntaxMatters) {
  Texts other;
  const Value tree = document_from(other.flow).root;
  const std::string hash = hash_from(other);
  other.flow = to_json(tree);
  EXPECT_EQ(hash_from(other), hash);
  other.flow = to_pretty_json(reversed(tree));
  EXPECT_EQ(hash_from(other), hash);
}

TEST(Pin, EveryChangeVisibleToASessionChangesTheHash) {
  const Texts texts;
  std::vector<std::string> hashes = {hash_from(texts)};
  const auto changed = [&](std::string Texts::* text, std::string_view from, std::string_view to) {
    Texts other = texts;
    std::string& all = other.*text;
    const std::size_t at = all.find(from);
    ASSERT_NE(at, all.npos) << from;
    all.replace(at, from.size(), to);
    hashes.push_back(hash_from(other));
  };
  changed(&Texts::flow, "Plan with", "Plan it with");
  changed(&Texts::flow, "prompt: Finish.", "prompt: Finish it.");
  changed(&Texts::flow, "make test", "make check");
  changed(&Texts::flow, "place: attic", "place: cellar");
  changed(&Texts::flow, "metricsProfile: coding", "metricsProfile: review");
  changed(&Texts::flow, "Be brief.", "Be long.");
  changed(&Texts::flow, "features: [wr.features.memory_context]", "features: []");
  changed(&Texts::routine, "In the", "Under the");
  changed(&Texts::leaf, "prompt: One.", "prompt: Two.");
  changed(&Texts::contract, "How long.", "How long?");
  Texts bound = texts;
  bound.binding = "team.review";
  hashes.push_back(hash_from(bound));
  std::ranges::sort(hashes);
  EXPECT_TRUE(std::ranges::adjacent_find(hashes) == hashes.end());
}

TEST(Pin, ReadsBackTheSame) {
  for (const auto& compiled : compiled_from({})) {
    // Through bytes, as the store keeps it.
    const auto stored = parse_json(to_json(compiled->pinned));
    ASSERT_TRUE(stored);
    const auto back = read_pinned(*stored);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ((*back)->hash, compiled->hash);
    EXPECT_EQ((*back)->bindings, compiled->bindings);
    EXPECT_EQ((*back)->calls, compiled->calls);
    EXPECT_EQ((*back)->contracts.refs(), compiled->contracts.refs());
    ASSERT_EQ((*back)->definition.steps.size(), compiled->definition.steps.size());
    for (std::size_t i = 0; i < compiled->definition.steps.size(); ++i) {
      EXPECT_EQ((*back)->definition.steps[i].id, compiled->definition.steps[i].id);
      EXPECT_EQ((*back)->definition.steps[i].prompt, compiled->definition.steps[i].prompt);
      EXPECT_EQ((*back)->definition.steps[i].command, compiled->definition.steps[i].command);
    }
    EXPECT_EQ((*back)->definition.metrics, compiled->definition.metrics);
  }
}

TEST(Pin, OtherValuesAreRefused) {
  const Value good = compiled_from({}).back()->pinned;
  const auto code_of = [](const Value& value) {
    const auto back = read_pinned(value);
    return back ? "read" : std::string(to_string(back.error().code));
  };
  const std::string corrupt(to_string(ErrorCode::kCorrupt));
  EXPECT_EQ(code_of(Value()), corrupt);
  EXPECT_EQ(code_of(Value("text")), corrupt);
  EXPECT_EQ(code_of(Value::object()), corrupt);
  for (const char* name : {"v", "workflow", "contracts", "bindings", "calls"}) {
    Value without = good;
    without.erase(name);
    EXPECT_EQ(code_of(without), corrupt) << name;
    Value wrong = good;
    wrong.set(name, Value("text"));
    EXPECT_EQ(code_of(wrong), corrupt) << name;
  }
  Value more = good;
  more.set("extra", 1);
  EXPECT_EQ(code_of(more), corrupt);
  Value numbers = good;
  numbers.find("calls")->set("leaf-flow", 3);
  EXPECT_EQ(code_of(numbers), corrupt);
  Value swapped = good;
  swapped.find("contracts")->set("other.ref", good["contracts"]["team.contracts.estimate"]);
  EXPECT_EQ(code_of(swapped), corrupt);
  Value newer = good;
  newer.set("v", 2);
  EXPECT_EQ(code_of(newer), to_string(ErrorCode::kUnsupported));
}

// Computed once; must be the same on every machine and in every version, because sessions are found by it.
TEST(Pin, Vectors) {
  SystemFiles files;
  const auto document = load_document(files, std::string(SB_SOURCE_DIR) + "/tests/data/pin-vectors.yaml");
  ASSERT_TRUE(document) << document.error().to_string();
  ASSERT_GE(document->root["vectors"].size(), 2u);
  for (const Value& vector : document->root["vectors"].items()) {
    FakeResolver around;
    for (const auto& [id, routine] : vector["routines"].members()) around.add_routine(id, to_json(routine));
    for (const Value& other : vector["workflows"].items()) around.add_workflow(to_json(other));
    for (const Value& contract : vector["contracts"].items()) around.add_contract(to_json(contract));
    const Bundle bundle = compiled(to_json(vector["workflow"]), around);
    EXPECT_EQ(bundle.back()->hash, vector["hash"].as_string()) << to_canonical_json(bundle.back()->pinned);
  }
}

TEST(Pin, ContainsNothingOfTheMachine) {
  Document here = document_from(std::string(kFlow), "/here/flow.yaml"),
           there = document_from(std::string(kFlow), "/there/flow.yaml");
  FakeResolver around;
  around.add_routine("wr.templates.routine.look", Texts().routine);
  around.add_workflow(Texts().leaf);
  around.add_contract(Texts().contract);
  const auto one = compile(here, defined(here), around), two = compile(there, defined(there), around);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->back()->hash, two->back()->hash);
}

}  // namespace
}  // namespace sb::workflow
