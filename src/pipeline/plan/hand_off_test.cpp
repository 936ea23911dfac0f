#include "pipeline/plan/hand_off.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/document.hpp"

namespace sb::pipeline {
namespace {

using testing::HasSubstr;
using testing::Not;

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Value());
}

PhaseResult full(Phase phase, std::string_view artifact) {
  return classify_phase(phase, json(artifact), "", {});
}

const PhaseResult& discovered() {
  static const PhaseResult result = full(Phase::kDiscovery, R"({"kind": "wr.discovery_handoff", "version": 1,
    "selectedDirection": "DIRECTION", "designDocPath": "d.md", "confidenceBand": "high",
    "keyInvariants": ["INVARIANT"], "implementationConstraints": ["CONSTRAINT"],
    "rejectedDirections": [{"direction": "REJECTED", "reason": "too slow"}],
    "keyCodebaseLocations": [{"path": "LOCATION", "relevance": "here"}]})");
  return result;
}

const PhaseResult& shaped() {
  static const PhaseResult result = full(Phase::kShaping, R"({"kind": "wr.shaping_handoff", "version": 1,
    "pitchPath": "p.md", "selectedShape": "SHAPE", "appetite": "APPETITE", "keyConstraints": ["KEEP"],
    "rabbitHoles": ["HOLE"], "outOfScope": ["OUTSIDE"], "validationChecklist": ["CHECKLIST"]})");
  return result;
}

const PhaseResult& coded() {
  static const PhaseResult result = full(Phase::kCoding, R"({"kind": "wr.coding_handoff", "version": 1,
    "keyDecisions": ["DECIDED"], "knownLimitations": ["LIMITATION"], "testsAdded": ["TESTS"],
    "filesChanged": ["FILES"], "correctedAssumptions": [{"assumed": "OLD", "actual": "NEW"}],
    "confidenceBand": "SURE", "retrospective": ["HINDSIGHT"]})");
  return result;
}

PhaseResults all() {
  return {.newest = {{Phase::kDiscovery, discovered()}, {Phase::kShaping, shaped()}, {Phase::kCoding, coded()}},
          .interpretation = json(R"({"interpretation": "READING", "unresolvedAssumptions": ["ASSUMED"]})"),
          .findings = {json(R"({"severity": "minor", "summary": "FINDING"})")},
          .collateral = {"COLLATERAL"}};
}

// Each source as `priority key`, sorted.
std::vector<std::string> given(Phase target) {
  std::vector<std::string> keys;
  for (const agent::ContextSource& source : context_for(target, all())) {
    const bool is_task = source.key == "review.findings";
    EXPECT_EQ(source.kind, is_task ? agent::SourceKind::kDocument : agent::SourceKind::kPrior);
    keys.push_back(std::to_string(source.priority) + " " + source.key);
  }
  std::ranges::sort(keys);
  return keys;
}

// Settings that name them must not be rejected before a run has any.
TEST(HandOff, EveryKeyIsKnownToIsolation) {
  PhaseResults partial = all();
  partial.newest[Phase::kShaping] = {.kind = ResultKind::kPartial, .notes = std::string(60, 'n')};
  partial.newest[Phase::kDesign] = full(Phase::kDesign, R"({"kind": "x", "screens": ["one"]})");
  partial.newest[Phase::kAudit] = full(Phase::kAudit, R"({"kind": "x", "findings": ["one"]})");
  for (const PhaseResults& results : {all(), partial}) {
    for (const Phase target : {Phase::kShaping, Phase::kDesign, Phase::kCoding, Phase::kReview, Phase::kFix}) {
      for (const agent::ContextSource& source : context_for(target, results)) {
        const auto known =
            agent::check_context_spec({.role = "", .mode = agent::IsolationMode::kCustom, .include = {source.key}});
        EXPECT_TRUE(known) << source.key;
      }
    }
  }
}

std::string bundle_text(Phase target, const PhaseResults& results) {
  std::string text;
  for (const agent::ContextSource& source : context_for(target, results))
    text += source.title + "\n" + source.text + "\n";
  return text;
}

TEST(HandOff, TableOfShaping) {
  EXPECT_THAT(given(Phase::kShaping),
              testing::ElementsAre("1 discovery.implementationConstraints", "1 discovery.selectedDirection",
                                   "1 interpretation", "2 discovery.keyInvariants", "2 discovery.rejectedDirections",
                                   "3 discovery.confidence", "3 discovery.keyCodebaseLocations"));
}

TEST(HandOff, TableOfCoding) {
  EXPECT_THAT(given(Phase::kCoding),
              testing::ElementsAre("1 discovery.implementationConstraints", "1 interpretation", "1 shaping.appetite",
                                   "1 shaping.keyConstraints", "1 shaping.outOfScope", "1 shaping.selectedShape",
                                   "2 discovery.keyInvariants", "2 shaping.rabbitHoles", "3 discovery.confidence",
                                   "3 discovery.keyCodebaseLocations"));
}

TEST(HandOff, TableOfReview) {
  EXPECT_THAT(given(Phase::kReview),
              testing::ElementsAre("1 coding.correctedAssumptions", "1 coding.keyDecisions", "1 delivery.collateral",
                                   "1 discovery.implementationConstraints", "1 interpretation",
                                   "1 shaping.keyConstraints", "1 shaping.outOfScope", "1 shaping.validationChecklist",
                                   "2 coding.knownLimitations", "2 discovery.keyInvariants", "3 coding.confidence",
                                   "3 coding.filesChanged", "3 coding.retrospective", "3 discovery.confidence"));
}

TEST(HandOff, TableOfFix) {
  EXPECT_THAT(given(Phase::kFix),
              testing::ElementsAre("1 coding.correctedAssumptions", "1 coding.keyDecisions", "1 delivery.collateral",
                                   "1 interpretation", "1 review.findings", "1 shaping.keyConstraints",
                                   "1 shaping.outOfScope", "1 shaping.validationChecklist", "2 coding.knownLimitations",
                                   "3 coding.confidence", "3 coding.filesChanged", "3 coding.retrospective"));
}

// However many there are: they are the task, not earlier results.
TEST(HandOff, FindingsReachFixerAndAuditor) {
  PhaseResults results = all();
  results.findings.clear();
  for (int i = 0; i < 60; ++i) {
    results.findings.push_back(Value::object({{"severity", "minor"}, {"summary", std::string(2'000, 'x') + "LAST"}}));
  }
  for (const Phase phase : {Phase::kFix, Phase::kAudit}) {
    const auto bundle = agent::make_bundle({}, "identity", context_for(phase, results));
    ASSERT_TRUE(bundle);
    EXPECT_EQ(std::ranges::count(bundle->entries, std::string("review.findings"), &agent::BundleEntry::key), 60);
    EXPECT_TRUE(std::ranges::none_of(bundle->entries, &agent::BundleEntry::is_omitted));
    EXPECT_THAT(bundle->slots.back().text, HasSubstr("Finding 60 of 60"));
    // A challenger gets no results of others, whatever their purpose.
    const auto alone = agent::make_bundle({.role = "adversarial"}, "identity", context_for(phase, results));
    ASSERT_TRUE(alone);
    EXPECT_THAT(alone->slots.back().text, Not(HasSubstr("LAST")));
  }
}

TEST(HandOff, TheAuthorsViewIsMarked) {
  for (const agent::ContextSource& source : context_for(Phase::kReview, all())) {
    const bool is_view = source.key.ends_with(".confidence") || source.key.ends_with(".retrospective");
    EXPECT_EQ(source.author_view, is_view) << source.key;
  }
}

TEST(HandOff, InterpretationGoesToEveryPhase) {
  for (const Phase phase :
       {Phase::kShaping, Phase::kDesign, Phase::kCoding, Phase::kReview, Phase::kFix, Phase::kAudit}) {
    EXPECT_THAT(bundle_text(phase, all()), HasSubstr("READING\nUnproven assumptions:\n- ASSUMED"));
  }
}

TEST(HandOff, JudgesByArtifactThenNotes) {
  const Value artifact = json(R"({"kind": "wr.discovery_handoff"})");
  EXPECT_EQ(classify_phase(Phase::kDiscovery, artifact, "", {}).kind, ResultKind::kFull);
  EXPECT_EQ(classify_phase(Phase::kShaping, artifact, std::string(51, 'x'), {}).kind, ResultKind::kPartial);
  EXPECT_EQ(classify_phase(Phase::kShaping, {}, std::string(51, 'x'), {}).kind, ResultKind::kPartial);
  EXPECT_EQ(classify_phase(Phase::kShaping, {}, std::string(50, 'x') + "  \n", {}).kind, ResultKind::kFallback);
  EXPECT_EQ(classify_phase(Phase::kShaping, Value("text"), "", {}).kind, ResultKind::kFallback);
}

TEST(HandOff, D06_NotesOfAPartialPhaseArePassedOn) {
  PhaseResults results = all();
  const std::string notes = "MARKER: the queue is polled with a lease; the broker was rejected for its cost.";
  results.newest[Phase::kDiscovery] = classify_phase(Phase::kDiscovery, {}, notes, {});
  for (const Phase phase : {Phase::kShaping, Phase::kCoding, Phase::kReview}) {
    const auto sources = context_for(phase, results);
    const auto found = std::ranges::find(sources, "discovery.notes", &agent::ContextSource::key);
    ASSERT_NE(found, sources.end());
    EXPECT_EQ(found->priority, 1);
    EXPECT_EQ(found->text, notes);
  }
  EXPECT_THAT(bundle_text(Phase::kFix, results), Not(HasSubstr("MARKER")));
}

TEST(HandOff, LongNotesReportTheCut) {
  PhaseResults results;
  results.newest[Phase::kDiscovery] = classify_phase(Phase::kDiscovery, {}, std::string(9'000, 'x'), {});
  EXPECT_THAT(bundle_text(Phase::kShaping, results), HasSubstr("[the newest 4000 of 9000 bytes of its notes]"));
}

TEST(HandOff, DegradationsAreRepeatedOnce) {
  PhaseResults results = all();
  const Value mark = json(R"({"phase": "discovery", "round": 0, "kind": "partial", "why": "no artifact"})");
  results.newest[Phase::kShaping].degraded = {mark};
  results.newest[Phase::kCoding].degraded = {mark};
  const std::string text = bundle_text(Phase::kReview, results);
  EXPECT_THAT(text, HasSubstr("- discovery ended partial: no artifact"));
  EXPECT_EQ(text.find("discovery ended partial"), text.rfind("discovery ended partial"));
}

TEST(HandOff, AResultConvertsToAValueAndBack) {
  PhaseResult result = classify_phase(Phase::kCoding, {}, std::string(60, 'n'), {Value("mark")});
  const auto back = PhaseResult::from(result.to_value());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, ResultKind::kPartial);
  EXPECT_EQ(back->notes, result.notes);
  EXPECT_EQ(back->degraded, result.degraded);
  EXPECT_FALSE(PhaseResult::from(json(R"({"kind": "splendid"})")));
}

TEST(HandOff, UnusualArtifactsAreHarmless) {
  PhaseResults results;
  results.newest[Phase::kDiscovery] =
      classify_phase(Phase::kDiscovery, json(R"({"kind": "wr.discovery_handoff", "keyInvariants": {"a": [1, {"b": 2}]},
        "implementationConstraints": 7, "selectedDirection": null})"),
                     "", {});
  EXPECT_THAT(bundle_text(Phase::kShaping, results), HasSubstr("7"));
}

}  // namespace
}  // namespace sb::pipeline
