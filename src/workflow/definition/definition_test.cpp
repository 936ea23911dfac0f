// The head of a workflow: every field at its limits, and one past them.
#include "workflow/definition/definition.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "workflow/data.hpp"
#include "workflow/definition/testing.hpp"

namespace sb::workflow {
namespace {

struct Row {
  std::string text;   // of the whole file
  std::string fault;  // as `rule@pointer`; empty: it loads
};

void expect_rows(const std::vector<Row>& rows) {
  for (const auto& [text, fault] : rows) EXPECT_EQ(reported(text), fault) << text.substr(0, 400);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, what.size(), with);
}

TEST(DefinitionHead, RequiredFields) {
  const std::string whole = with_head("");
  expect_rows({
      {whole, ""},
      {replaced(whole, "id: mine, ", ""), "missing_key@"},
      {replaced(whole, "name: Mine, ", ""), "missing_key@"},
      {replaced(whole, "description: Does it, ", ""), "missing_key@"},
      {replaced(whole, "version: 1.0.0, ", ""), "missing_key@"},
      {"{id: mine, name: Mine, description: Does it, version: 1.0.0}", "missing_key@"},
      {"[1]", "wrong_kind@"},
      {with_steps(""), "too_few@/steps"},
      {replaced(whole, "steps: [" + std::string(kPlainStep) + "]", "steps: {}"), "wrong_kind@/steps"},
  });
}

TEST(DefinitionHead, Ids) {
  const auto with_id = [](std::string_view id) {
    return replaced(with_head(""), "id: mine", fmt::format("id: \"{}\"", id));
  };
  for (const std::string id : {"abc", "a_c", "a-c", "123", "wr.shaping", "ab.cd", "a1.b2"})
    EXPECT_EQ(reported(with_id(id)), "") << id;
  for (const std::string id : {"Abc", "a b", "a.b.c", "a.bc", "ab.c", "1a.bc", "ab.1c", "ab.", ".ab", "ябв", "abc\\n"})
    EXPECT_EQ(reported(with_id(id)), "bad_id@/id") << id;
  EXPECT_EQ(reported(with_id(repeat("a", 64))), "");
  EXPECT_EQ(reported(with_id("ab")), "too_short@/id");
  EXPECT_EQ(reported(with_id("")), "too_short@/id");
  EXPECT_EQ(reported(with_id(repeat("a", 65))), "too_long@/id");
}

TEST(DefinitionHead, Versions) {
  const auto with_version = [](std::string_view version) {
    return replaced(with_head(""), "version: 1.0.0", fmt::format("version: \"{}\"", version));
  };
  for (const std::string version :
       {"0.0.1", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0+build.01",
        "1.0.0-beta+exp.sha.5114f85", "1.0.0--", "1.0.0+-"})
    EXPECT_EQ(reported(with_version(version)), "") << version;
  for (const std::string version : {"1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0-a..b",
                                    "v1.0.0", "1.0.0 ", "", "1.0.0-a_b", "1.-1.0"})
    EXPECT_EQ(reported(with_version(version)), "bad_version@/version") << version;
}

TEST(DefinitionHead, TextsAtTheirLimits) {
  const auto text = [](std::string_view key, int length, std::string_view of = "x") {
    return with_head(fmt::format("{}: \"{}\"", key, repeat(of, length)));
  };
  const auto item = [](std::string_view key, int length) {
    return with_head(fmt::format("{}: [\"{}\"]", key, repeat("x", length)));
  };
  const std::string base = with_head("");
  expect_rows({
      {replaced(base, "name: Mine", "name: " + repeat("я", 128)), ""},
      {replaced(base, "name: Mine", "name: " + repeat("я", 129)), "too_long@/name"},
      {replaced(base, "name: Mine", "name: \"\""), "too_short@/name"},
      {replaced(base, "Does it", repeat("x", 512)), ""},
      {replaced(base, "Does it", repeat("x", 513)), "too_long@/description"},
      {text("about", 4096, "𝄞"), ""},
      {text("about", 4097, "𝄞"), "too_long@/about"},
      {text("about", 0), "too_short@/about"},
      {item("preconditions", 256), ""},
      {item("preconditions", 257), "too_long@/preconditions/0"},
      {item("preconditions", 0), "too_short@/preconditions/0"},
      {item("clarificationPrompts", 256), ""},
      {item("clarificationPrompts", 257), "too_long@/clarificationPrompts/0"},
      {item("metaGuidance", 256), ""},
      {item("metaGuidance", 257), "too_long@/metaGuidance/0"},
      {item("features", 128), ""},
      {item("features", 129), "too_long@/features/0"},
      {item("examples", 10), ""},
      {item("examples", 120), ""},
      {item("examples", 9), "too_short@/examples/0"},
      {item("examples", 121), "too_long@/examples/0"},
  });
}

TEST(DefinitionHead, Lists) {
  expect_rows({
      {with_head("preconditions: [a, a]"), "repeated@/preconditions/1"},
      {with_head("metaGuidance: [a, b, a]"), "repeated@/metaGuidance/2"},
      {with_head("metaGuidance: [1]"), "wrong_kind@/metaGuidance/0"},
      {with_head("metaGuidance: text"), "wrong_kind@/metaGuidance"},
      {with_head("metaGuidance: []"), ""},
      {with_head("examples: []"), "too_few@/examples"},
      {with_head(
           "examples: [0123456789, 1123456789x, 2123456789x, 3123456789x, 4123456789x, 5123456789x, 6123456789x]"),
       "too_many@/examples"},
      {with_head("features: [a, a]"), "repeated@/features/1"},
      {with_head("functionDefinitions: [{name: f, definition: d}, {definition: d, name: f}]"),
       "repeated@/functionDefinitions/1"},
  });
}

TEST(DefinitionHead, Choices) {
  expect_rows({
      {with_head("modelTier: lightweight"), ""},
      {with_head("modelTier: mid"), ""},
      {with_head("modelTier: heavy"), ""},
      {with_head("modelTier: huge"), "unknown_choice@/modelTier"},
      {with_head("metricsProfile: none"), ""},
      {with_head("metricsProfile: coding"), ""},
      {with_head("metricsProfile: review"), ""},
      {with_head("metricsProfile: research"), ""},
      {with_head("metricsProfile: design"), ""},
      {with_head("metricsProfile: ticket"), ""},
      {with_head("metricsProfile: code"), "unknown_choice@/metricsProfile"},
      {with_head("role: challenger"), ""},
      {with_head("role: adversarial"), ""},
      {with_head("role: evaluator"), ""},
      {with_head("role: reviewer"), ""},
      {with_head("role: worker"), ""},
      {with_head("role: boss"), "unknown_choice@/role"},
      {with_head("isolation: {mode: blind, inputs: [ticket]}"), ""},
      {with_head("isolation: {mode: custom, include: [a], exclude: [b]}"), ""},
      {with_head("isolation: {mode: deaf}"), "unknown_choice@/isolation/mode"},
      {with_head("isolation: {inputs: [a]}"), "missing_key@/isolation"},
      {with_head("isolation: {mode: blind, input: [a]}"), "unknown_key@/isolation/input"},
      {with_head("validatedAgainstSpecVersion: 1"), ""},
      {with_head("validatedAgainstSpecVersion: 0"), "out_of_range@/validatedAgainstSpecVersion"},
      {with_head("validatedAgainstSpecVersion: 1.5"), "wrong_kind@/validatedAgainstSpecVersion"},
      {with_head("validatedAgainstSpecVersion: three"), "wrong_kind@/validatedAgainstSpecVersion"},
      {with_head("recommendedPreferences: {}"), ""},
      {with_head("recommendedPreferences: {recommendedAutonomy: guided, recommendedRiskPolicy: balanced}"), ""},
      {with_head("recommendedPreferences: {recommendedAutonomy: free}"),
       "unknown_choice@/recommendedPreferences/recommendedAutonomy"},
      {with_head("recommendedPreferences: {recommendedRiskPolicy: wild}"),
       "unknown_choice@/recommendedPreferences/recommendedRiskPolicy"},
      {with_head("recommendedPreferences: {autonomy: guided}"), "unknown_key@/recommendedPreferences/autonomy"},
      {with_head("\"$schema\": \"https://example.com/workflow.schema.json\""), ""},
  });
}

TEST(DefinitionHead, ExtensionPoints) {
  const auto points = [](std::string_view list) { return with_head(fmt::format("extensionPoints: [{}]", list)); };
  const auto slot = [&](std::string_view id) {
    return points(fmt::format("{{slotId: \"{}\", purpose: p, default: d}}", id));
  };
  expect_rows({
      {slot("ab"), ""},
      {slot("a_1"), ""},
      {slot("a"), "too_short@/extensionPoints/0/slotId"},
      {slot(repeat("a", 65)), "too_long@/extensionPoints/0/slotId"},
      {slot("a-b"), "bad_id@/extensionPoints/0/slotId"},
      {slot("1ab"), "bad_id@/extensionPoints/0/slotId"},
      {points("{slotId: ab, purpose: p, default: d, acceptedKinds: [routine, workflow]}"), ""},
      {points("{slotId: ab, purpose: p, default: d, acceptedKinds: [person]}"),
       "unknown_choice@/extensionPoints/0/acceptedKinds/0"},
      {points("{slotId: ab, purpose: p, default: d, acceptedKinds: [routine, routine]}"),
       "repeated@/extensionPoints/0/acceptedKinds/1"},
      {points("{slotId: ab, purpose: p}"), "missing_key@/extensionPoints/0"},
      {points(fmt::format("{{slotId: ab, purpose: {}, default: d}}", repeat("x", 257))),
       "too_long@/extensionPoints/0/purpose"},
      {points(fmt::format("{{slotId: ab, purpose: p, default: {}}}", repeat("x", 129))),
       "too_long@/extensionPoints/0/default"},
      {points("{slotId: ab, purpose: p, default: d}, {slotId: ab, purpose: q, default: d}"),
       "duplicate_slot@/extensionPoints/1/slotId"},
      {workflow_text("extensionPoints: [{slotId: scan, purpose: p, default: d}]",
                     "{id: one, title: One, prompt: \"Use {{wr.bindings.scan}}.\"}"),
       ""},
      {workflow_text("extensionPoints: [{slotId: scan, purpose: p, default: d}]",
                     "{id: one, title: One, prompt: \"Use {{wr.bindings.scam}}.\"}"),
       "unknown_slot@/steps/0/prompt"},
      {with_steps("{id: one, title: One, promptBlocks: {procedure: [a, \"{{wr.bindings.scan}}\"]}}"),
       "unknown_slot@/steps/0/promptBlocks/procedure/1"},
  });
}

TEST(DefinitionHead, References) {
  const auto reference = [](std::string_view fields) { return with_head(fmt::format("references: [{{{}}}]", fields)); };
  expect_rows({
      {reference("id: spec, title: T, source: docs/a.md, purpose: p, authoritative: true"), ""},
      {reference("id: spec, title: T, source: docs/a.md, purpose: p, authoritative: false, resolveFrom: package"), ""},
      {reference("id: spec, title: T, source: docs/a.md, purpose: p"), "missing_key@/references/0"},
      {reference("id: spec, title: T, source: s, purpose: p, authoritative: \"yes\""),
       "wrong_kind@/references/0/authoritative"},
      {reference("id: spec, title: T, source: s, purpose: p, authoritative: true, resolveFrom: web"),
       "unknown_choice@/references/0/resolveFrom"},
      {reference("id: Spec, title: T, source: s, purpose: p, authoritative: true"), "bad_id@/references/0/id"},
      {reference("id: s, title: T, source: s, purpose: p, authoritative: true"), "too_short@/references/0/id"},
      {with_head("references: [{id: spec, title: T, source: s, purpose: p, authoritative: true},"
                 " {id: spec, title: U, source: s, purpose: p, authoritative: true}]"),
       "duplicate_reference@/references/1/id"},
  });
}

TEST(DefinitionHead, WhatIsReadIsStored) {
  const Definition definition = defined(workflow_text(
      "about: A, modelTier: heavy, preconditions: [p], clarificationPrompts: [c], metaGuidance: [m], features: [f], "
      "examples: [an example], recommendedPreferences: {recommendedAutonomy: guided, recommendedRiskPolicy: balanced}, "
      "extensionPoints: [{slotId: scan, purpose: p, default: d}], references: [{id: spec, title: T, source: s, "
      "purpose: p, authoritative: true, resolveFrom: package}], validatedAgainstSpecVersion: 3, metricsProfile: "
      "coding, "
      "role: reviewer, isolation: {mode: blind, inputs: [ticket]}, functionDefinitions: [{name: f, definition: d, "
      "scope: "
      "workflow}], assessments: [{id: a, purpose: p, dimensions: [{id: d, purpose: p, levels: [low, high], required: "
      "false}]}]",
      kPlainStep));
  EXPECT_EQ(definition.id, "mine");
  EXPECT_EQ(definition.about, "A");
  EXPECT_EQ(definition.model_tier, ModelTier::kHeavy);
  EXPECT_THAT(definition.preconditions, testing::ElementsAre("p"));
  EXPECT_THAT(definition.clarification_prompts, testing::ElementsAre("c"));
  EXPECT_THAT(definition.meta_guidance, testing::ElementsAre("m"));
  EXPECT_THAT(definition.features, testing::ElementsAre("f"));
  EXPECT_THAT(definition.examples, testing::ElementsAre("an example"));
  EXPECT_EQ(definition.recommended_autonomy, "guided");
  EXPECT_EQ(definition.recommended_risk_policy, "balanced");
  EXPECT_EQ(definition.extension_points.at(0).default_id, "d");
  EXPECT_TRUE(definition.references.at(0).from_package);
  EXPECT_TRUE(definition.references.at(0).is_authoritative);
  EXPECT_EQ(definition.spec_version, 3);
  EXPECT_EQ(definition.metrics, MetricsProfile::kCoding);
  EXPECT_EQ(definition.role, Role::kReviewer);
  EXPECT_EQ(definition.isolation->mode, "blind");
  EXPECT_THAT(definition.isolation->inputs, testing::ElementsAre("ticket"));
  EXPECT_EQ(definition.functions.at(0).scope, "workflow");
  ASSERT_NE(definition.assessment("a"), nullptr);
  EXPECT_FALSE(definition.assessment("a")->dimensions.at(0).is_required);
  EXPECT_EQ(definition.assessment("b"), nullptr);
  EXPECT_EQ(definition.source["id"], Value("mine"));
}

TEST(DefinitionFaults, NameTheFileTheLineAndTheNearestName) {
  const auto read =
      read_definition(document_from("id: mine\nname: Mine\ndescription: d\nversion: 1.0.0\nsteps:\n"
                                    "  - id: one\n    title: One\n    promt: Do it.\n",
                                    "a.yaml"));
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().size(), 1u);
  EXPECT_EQ(read.error()[0].to_string(), "a.yaml:8:5: /steps/0/promt: unknown key \"promt\". Did you mean prompt?");
}

TEST(DefinitionFaults, AreReportedInFileOrder) {
  EXPECT_EQ(reported("{version: one, steps: [{id: one, title: One, prompt: 5}], id: A, name: N, description: d}"),
            "bad_version@/version wrong_kind@/steps/0/prompt too_short@/id");
}

TEST(DefinitionFaults, OfAHugeFileAreReportedAsOne) {
  Document document = document_from(with_head(""));
  document.text.resize(limits::kWorkflowBytes + 1, ' ');
  const auto read = read_definition(document);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().size(), 1u);
  EXPECT_EQ(read.error()[0].code, ErrorCode::kLimit);
}

TEST(DefinitionFiles, AllBundledWorkflowsLoad) {
  int count = 0;
  for (const std::string_view name : bundled::data_names()) {
    if (name.starts_with("contracts/")) continue;
    ++count;
    EXPECT_EQ(reported(std::string(bundled::data_file(name))), "") << name;
  }
  EXPECT_GT(count, 0);
}

// Reads every definition of the folder; returns how many there were.
int read_files_of(const std::filesystem::path& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(reported(text.str()), "") << entry.path();
    ++count;
  }
  return count;
}

TEST(DefinitionFiles, AllSamplesLoad) {
  EXPECT_GE(read_files_of(SB_SOURCE_DIR "/tests/data/workflows"), 15);
}

TEST(DefinitionFiles, AllSharedSamplesLoad) {
  const char* given = std::getenv("SIGNALBOX_COMPAT");
  const auto folder = std::filesystem::path(given ? given : SB_SOURCE_DIR "/../shared/compat") / "workflows";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  EXPECT_GE(read_files_of(folder), 10);
}

}  // namespace
}  // namespace sb::workflow
