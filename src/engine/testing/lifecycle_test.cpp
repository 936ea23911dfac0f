// The bundled workflows, walked from their files to their end.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/testing/fakes.hpp"
#include "engine/testing/lifecycles.hpp"
#include "engine/testing/walk_workflow.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {
namespace {

using workflow::Bundle;
using workflow::Catalog;
using workflow::CatalogEntry;

Catalog open_catalog(const Files& files, const Environment& environment = {}) {
  auto catalog = Catalog::open(files, environment, HomeDirectories{"/config", "/data", "/state"}, std::string());
  if (!catalog) {
    ADD_FAILURE() << catalog.error().to_string();
    std::abort();
  }
  return std::move(*catalog);
}

std::string to_lines(const Faults& faults) {
  std::string out;
  for (const Error& fault : faults) out += fault.to_string() + "\n";
  return out;
}

const Catalog& ours() {
  static const FakeFiles files;
  static const Catalog catalog = open_catalog(files);
  return catalog;
}

const CatalogEntry& entry_of(const Catalog& catalog, std::string_view id) {
  const auto entry = catalog.find(id);
  if (!entry) {
    ADD_FAILURE() << entry.error().to_string();
    std::abort();
  }
  return **entry;
}

Bundle bundle_of(const Catalog& catalog, std::string_view id) {
  auto bundle = catalog.compile(entry_of(catalog, id));
  if (!bundle) {
    ADD_FAILURE() << id << "\n" << to_lines(bundle.error());
    std::abort();
  }
  return std::move(*bundle);
}

const workflow::Step& step_of(const Bundle& bundle, const std::string& id) {
  const workflow::Step* found = nullptr;
  workflow::for_each_step(bundle.back()->definition.steps, [&](const workflow::Step& step) {
    if (step.id == id) found = &step;
  });
  return *found;
}

// What is wrong with its end; empty if it ends as it should.
std::string ending_faults(const Bundle& bundle, const std::string& kind, const Playing& way) {
  const Walk walk = walk_through(bundle, way);
  if (!walk.is_complete) return "it does not end: " + walk.stuck;
  const auto is_it = [&](const Value& artifact) { return artifact.string_at("kind") == kind; };
  if (std::ranges::none_of(walk.last_artifacts, is_it)) return "nothing asks for " + kind + " at the end";
  if (step_of(bundle, walk.last_step).prompt.find("`" + kind + "`") == std::string::npos) {
    return "the last prompt does not name " + kind;
  }
  if (walk.last_prompt.find(kind) == std::string::npos) return "what is shown at the end does not name " + kind;
  return {};
}

TEST(Lifecycle, EachWorkflowEndsInItsArtifactOnEveryPath) {
  for (const Lifecycle& lifecycle : lifecycles()) {
    const Bundle bundle = bundle_of(ours(), lifecycle.id);
    for (std::size_t way = 0; way < lifecycle.ways.size(); ++way) {
      EXPECT_EQ(ending_faults(bundle, lifecycle.kind, lifecycle.ways[way]), "") << lifecycle.id << " way " << way;
    }
  }
}

TEST(Lifecycle, ThePathsTogetherOpenEveryStep) {
  for (const Lifecycle& lifecycle : lifecycles()) {
    const Bundle bundle = bundle_of(ours(), lifecycle.id);
    std::set<std::string> opened;
    for (const Playing& way : lifecycle.ways) {
      for (const std::string& step : walk_through(bundle, way).steps) opened.insert(step);
    }
    workflow::for_each_step(bundle.back()->definition.steps, [&](const workflow::Step& step) {
      EXPECT_TRUE(step.loop() || opened.contains(step.id)) << lifecycle.id << ": " << step.id << " is never opened";
    });
  }
}

// The file of an entry with its last step changed, compiled again.
template <class Change>
Bundle changed(const CatalogEntry& entry, const Change& change) {
  Value root = entry.document->root;
  change(root.find("steps")->items().back());
  auto document = parse_document("changed.json", to_json(root));
  EXPECT_TRUE(document);
  auto bundle = ours().compile(*document);
  if (!bundle) {
    ADD_FAILURE() << to_lines(bundle.error());
    std::abort();
  }
  return std::move(*bundle);
}

TEST(Lifecycle, FailsWithoutTheContract) {
  for (const Lifecycle& lifecycle : lifecycles()) {
    const Bundle bundle = changed(entry_of(ours(), lifecycle.id), [](Value& last) { last.erase("outputContract"); });
    EXPECT_EQ(ending_faults(bundle, lifecycle.kind, lifecycle.ways.front()),
              "nothing asks for " + lifecycle.kind + " at the end")
        << lifecycle.id;
  }
}

TEST(Lifecycle, FailsWithoutTheSentence) {
  for (const Lifecycle& lifecycle : lifecycles()) {
    const Bundle bundle = changed(entry_of(ours(), lifecycle.id), [&](Value& last) {
      std::string prompt = last.string_at("prompt").value_or("");
      const std::string name = "`" + lifecycle.kind + "`";
      for (std::size_t at = prompt.find(name); at != std::string::npos; at = prompt.find(name)) {
        prompt.replace(at, name.size(), "the result");
      }
      last.set("prompt", prompt);
    });
    EXPECT_EQ(ending_faults(bundle, lifecycle.kind, lifecycle.ways.front()),
              "the last prompt does not name " + lifecycle.kind)
        << lifecycle.id;
  }
}

TEST(Bundled, EveryWorkflowAndRoutineLoadsAndReachesItsEnd) {
  int walked = 0;
  for (const CatalogEntry* entry : ours().list(true)) {
    const auto bundle = ours().compile(*entry);
    ASSERT_TRUE(bundle) << entry->id << "\n" << to_lines(bundle.error());
    const Walk walk = walk_through(*bundle);
    EXPECT_TRUE(walk.is_complete) << entry->id << ": " << walk.stuck;
    EXPECT_EQ(entry->definition->spec_version, workflow::kAuthoringSpecVersion) << entry->id;
    ++walked;
  }
  EXPECT_GE(walked, 20);
}

TEST(Bundled, TheFourteenRoutinesAreTemplates) {
  for (const std::string_view name :
       {"assumption-resolution", "context-gathering", "design-review", "execution-simulation", "feature-implementation",
        "final-verification", "hypothesis-challenge", "ideation", "parallel-work-partitioning", "philosophy-alignment",
        "plan-analysis", "plan-generation", "reviewer-family", "tension-driven-design"}) {
    EXPECT_EQ(entry_of(ours(), fmt::format("wr.routine-{}", name)).template_id,
              fmt::format("wr.templates.routine.{}", name));
  }
  EXPECT_EQ(entry_of(ours(), "wr.interpret").template_id, "wr.templates.routine.wr.interpret");
}

// Planning writes nothing: every step before the first slice declares that to the interlock.
TEST(Bundled, NothingMayBeWrittenBeforeTheFirstSlice) {
  const Bundle bundle = bundle_of(ours(), "wr.coding-task");
  for (const workflow::Step& step : bundle.back()->definition.steps) {
    if (step.id == "build-slices") break;
    if (step.loop() || step.id.starts_with("find-candidates.") || step.id.starts_with("review-design.")) continue;
    EXPECT_TRUE(step.interlock.writes_declared && step.interlock.writes.empty()) << step.id;
  }
}

// --- what the workflows enforce themselves ---------------------------------------------------------------------------

bool was_refused(const Walk& walk, std::string_view why) {
  return std::ranges::any_of(walk.refusals, [&](const std::string& line) { return line.contains(why); });
}

Playing review_with(Value answers, Value verdict) {
  answers.set("reviewTargetFound", true);
  answers.set("maxParallelism", 0);
  return {.answers = std::move(answers), .merge = {{"give-verdict", std::move(verdict)}}};
}

TEST(MrReview, AFailedChecklistItemMakesTheVerdictBlocking) {
  const Bundle bundle = bundle_of(ours(), "wr.mr-review");
  const Value clean = keys({{"verdict", "clean"}, {"findings", Value::array()}});
  const auto item = [](const char* status) {
    return keys({{"validationChecklist", Value::array({"The login page looks as before"})},
                 {"checklistResult", keys({{"status", status}, {"evidence", "login.css, line 3"}})}});
  };
  const Walk failed = walk_through(bundle, review_with(item("failed"), clean));
  EXPECT_TRUE(failed.is_complete) << failed.stuck;
  EXPECT_TRUE(was_refused(failed, "A checklist item failed, so the verdict is blocking."));
  EXPECT_EQ(failed.last_artifacts.front().string_at("verdict"), "blocking");
  EXPECT_EQ(walk_through(bundle, review_with(item("passed"), clean)).refusals, std::vector<std::string>{});
  EXPECT_EQ(walk_through(bundle, review_with(item("unverified"), clean)).refusals, std::vector<std::string>{});
}

TEST(MrReview, EveryChecklistItemIsChecked) {
  const Value answers = keys({{"validationChecklist", Value::array({"one thing", "another thing", "a third"})}});
  const Walk walk = walk_through(bundle_of(ours(), "wr.mr-review"), review_with(answers, Value::object()));
  EXPECT_EQ(std::ranges::count(walk.steps, "check-item"), 3);
}

TEST(MrReview, CountsAreComputedFromTheCriteria) {
  const auto criterion = [](const char* status) {
    return keys({{"criterion", "It works offline"}, {"source", "explicit"}, {"status", status}});
  };
  const Value answers =
      keys({{"acceptanceCriteria",
             Value(Value::Array{criterion("met"), criterion("partial"), criterion("missing"), criterion("unclear")})},
            {"scopeCreepFlags", Value::array({"renames the logger"})}});
  Playing playing = review_with(answers, Value::object());
  playing.context.set("missingCriteriaCount", 0);
  const Walk walk = walk_through(bundle_of(ours(), "wr.mr-review"), playing);
  EXPECT_EQ(walk.context["missingCriteriaCount"], Value(2));
  EXPECT_EQ(walk.context["scopeCreepCount"], Value(1));
}

TEST(MrReview, NoCriteriaLowersConfidenceAndBlocksNothing) {
  const Value answers = keys({{"acceptanceCriteriaSource", "none"}, {"acceptanceCriteria", Value::array()}});
  const Value verdict = keys({{"verdict", "clean"}, {"confidence", "high"}, {"findings", Value::array()}});
  const Bundle bundle = bundle_of(ours(), "wr.mr-review");
  EXPECT_TRUE(was_refused(walk_through(bundle, review_with(answers, verdict)), "confidence is medium at most"));
  Value lower = verdict;
  lower.set("confidence", "medium");
  EXPECT_EQ(walk_through(bundle, review_with(answers, lower)).refusals, std::vector<std::string>{});
}

TEST(MrReview, AMissingTargetEndsImmediately) {
  const Walk walk = walk_through(bundle_of(ours(), "wr.mr-review"), {.answers = keys({{"reviewTargetFound", false}})});
  EXPECT_EQ(walk.steps, (std::vector<std::string>{"locate", "give-verdict"}));
}

TEST(CodingTask, OnlyAFixOrRetryCorrectsAssumptions) {
  const Bundle bundle = bundle_of(ours(), "wr.coding-task");
  const Value corrected =
      keys({{"correctedAssumptions", one_of({{"assumed", "the cache is shared"}, {"actual", "it is one a process"}})}});
  for (const bool is_fix : {false, true}) {
    const Walk walk = walk_through(bundle, {.answers = keys({{"taskComplexity", "Small"}, {"isFixOrRetry", is_fix}}),
                                            .merge = {{"hand-off", corrected}}});
    EXPECT_EQ(was_refused(walk, "This is not a fix or retry"), !is_fix);
  }
}

TEST(CodingTask, ASmallTaskSkipsTheDesign) {
  const Walk walk = walk_through(bundle_of(ours(), "wr.coding-task"), {.answers = keys({{"taskComplexity", "Small"}})});
  for (const std::string& step : walk.steps) {
    EXPECT_FALSE(step.starts_with("find-candidates") || step == "choose-approach" || step == "plan") << step;
  }
}

// The minimum cost of a run on a small ticket: one turn per step.
TEST(Bundled, ASmallTaskTakesFewSteps) {
  const auto steps = [](const char* id, Value answers) {
    return walk_through(bundle_of(ours(), id), {.answers = std::move(answers)}).steps;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(
      steps("wr.discovery",
            keys({{"ambiguityLevel", "clear"}, {"codebaseBeliefs", Value::array()}, {"directionIsObvious", true}})),
      (Names{"interpret.take-in", "interpret.commit", "survey", "hand-off"}));
  EXPECT_EQ(steps("wr.shaping", keys({{"isTrivial", true}})), (Names{"take-in", "write-pitch", "hand-off"}));
  EXPECT_EQ(steps("wr.coding-task", keys({{"taskComplexity", "Small"},
                                          {"riskLevel", "Low"},
                                          {"openQuestions", Value::array()},
                                          {"verificationFindings", Value::array()}})),
            (Names{"understand", "plan-small", "build-slice", "verify-slice", "verify-whole", "hand-off"}));
  EXPECT_EQ(
      steps("wr.mr-review", keys({{"reviewTargetFound", true},
                                  {"reviewMode", "QUICK"},
                                  {"maxParallelism", 0},
                                  {"needsReviewerBundle", false},
                                  {"needsSimulation", false},
                                  {"needsBoundaryFollowup", false},
                                  {"needsContextFollowup", false},
                                  {"validationChecklist", Value::array({"It says so"})},
                                  {"checklistResult", keys({{"status", "passed"}, {"evidence", "line 3 of it"}})}})),
      (Names{"locate", "enrich", "classify", "check-item", "scope-gate", "review-alone", "settle-findings",
             "give-verdict"}));
  EXPECT_EQ(steps("wr.fix", keys({{"findingPlans", one_of({{"finding", "the name is not checked"},
                                                           {"decision", "fix"},
                                                           {"why", "an empty one gets through"},
                                                           {"shownBy", "name_test"}})}})),
            (Names{"understand-findings", "fix", "verify", "hand-off"}));
}

// An obvious direction requires a clear reading.
TEST(Discovery, AnUnclearTaskIsNotObvious) {
  const Walk walk = walk_through(bundle_of(ours(), "wr.discovery"),
                                 {.answers = keys({{"ambiguityLevel", "uncertain"}, {"directionIsObvious", true}})});
  EXPECT_NE(std::ranges::find(walk.steps, "find-directions"), walk.steps.end());
}

TEST(Fix, ItsHandOffMayCorrectAssumptions) {
  const Value corrected =
      keys({{"correctedAssumptions", one_of({{"assumed", "a"}, {"actual", "b"}})},
            {"degraded", one_of({{"phase", "shaping"}, {"kind", "partial"}, {"why", "no pitch"}})}});
  const Walk walk = walk_through(bundle_of(ours(), "wr.fix"), {.merge = {{"hand-off", corrected}}});
  EXPECT_EQ(walk.refusals, std::vector<std::string>{});
  EXPECT_EQ(walk.last_artifacts.front()["degraded"].size(), 1u);
}

TEST(Audit, ACriticalFindingIsNeverReady) {
  const Value ready = keys(
      {{"verdict", "ready"}, {"findings", one_of({{"severity", "critical"}, {"summary", "s"}, {"evidence", "e"}})}});
  for (const char* id : {"wr.production-readiness-audit", "wr.architecture-scalability-audit"}) {
    EXPECT_TRUE(was_refused(walk_through(bundle_of(ours(), id), {.merge = {{"report", ready}}}), "it is not ready"));
  }
}

TEST(CodingTask, EachSliceIsVerifiedBeforeTheNext) {
  const auto slice = [](const char* title) {
    return keys(
        {{"title", title}, {"files", Value::array()}, {"tests", Value::array()}, {"doneWhen", "it can be seen"}});
  };
  const Walk walk = walk_through(
      bundle_of(ours(), "wr.coding-task"),
      {.answers = keys({{"taskComplexity", "Small"}, {"slices", Value(Value::Array{slice("first"), slice("second")})}}),
       .rounds = {{"verify-slice", 1}}});
  std::vector<std::string> building;
  for (const std::string& step : walk.steps) {
    if (step.ends_with("-slice")) building.push_back(step);
  }
  EXPECT_EQ(building, (std::vector<std::string>{"build-slice", "verify-slice", "build-slice", "verify-slice",
                                                "build-slice", "verify-slice"}));
}

TEST(GateEval, TheRatingIsEnforcedAlongWithTheVerdict) {
  const Bundle bundle = bundle_of(ours(), "wr.gate-eval-generic");
  const Program program(bundle.back());
  Node node;
  node.position.step = "give-verdict";
  const workflow::Contract* contract = bundle.back()->contracts.find(workflow::kGateVerdict);
  ASSERT_NE(contract, nullptr);
  const auto outcome = advance(program, node, Value::object(), {.artifacts = {contract->example}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, AdvanceResult::Kind::kBlocked);
}

// --- the guide -------------------------------------------------------------------------------------------------------

TEST(Guide, ItsExamplesLoadAndReachTheirEnd) {
  const SystemFiles files;
  const std::string folder = std::string(SB_SOURCE_DIR) + "/examples/workflows";
  const auto names = files.list(folder);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), 3u);
  for (const std::string& name : *names) {
    const auto document = parse_document(name, *files.read(folder + "/" + name, 1u << 20));
    ASSERT_TRUE(document) << document.error().to_string();
    const auto bundle = ours().compile(*document);
    ASSERT_TRUE(bundle) << to_lines(bundle.error());
    const Walk walk = walk_through(*bundle, {.rounds = {{"judge", 2}}});
    EXPECT_TRUE(walk.is_complete) << name << ": " << walk.stuck;
  }
}

TEST(Guide, ShowsTheFirstExampleVerbatim) {
  const SystemFiles files;
  const std::string root = SB_SOURCE_DIR;
  const std::string guide = *files.read(root + "/docs/authoring.md", 1u << 20);
  const std::string file = *files.read(root + "/examples/workflows/tidy.yaml", 1u << 20);
  EXPECT_TRUE(guide.contains("```yaml\n" + file + "```\n"));
}

// --- workflow files of the format written elsewhere ------------------------------------------------------------------

std::string compat_folder() {
  if (const char* named = std::getenv("SIGNALBOX_COMPAT")) return named;
  return std::string(SB_SOURCE_DIR) + "/../shared/compat";
}

// Loads every workflow file of the folder and walks through it; returns how many there were.
int walk_files_of(const std::string& folder) {
  const SystemFiles files;
  const Catalog catalog = open_catalog(
      files, Environment(std::map<std::string, std::string, std::less<>>{{"SIGNALBOX_WORKFLOWS", folder}}));
  int walked = 0;
  for (const CatalogEntry* entry : catalog.list(true)) {
    if (entry->origin.kind != workflow::SourceKind::kNamed) continue;
    const auto bundle = catalog.compile(*entry);
    if (!bundle) {
      ADD_FAILURE() << entry->origin.file << "\n" << to_lines(bundle.error());
      continue;
    }
    const Walk walk = walk_through(*bundle);
    EXPECT_TRUE(walk.is_complete) << entry->origin.file << ": " << walk.stuck;
    ++walked;
  }
  return walked;
}

TEST(Compat, EveryFileLoadsWithoutAMessageAndIsWalkedToItsEnd) {
  EXPECT_GE(walk_files_of(SB_SOURCE_DIR "/tests/data/workflows"), 15);
}

TEST(Compat, EverySharedFileLoadsWithoutAMessageAndIsWalkedToItsEnd) {
  const std::string folder = compat_folder() + "/workflows";
  if (SystemFiles().kind(folder) != FileKind::kDirectory) GTEST_SKIP() << "no " << folder;
  EXPECT_GE(walk_files_of(folder), 10);
}

}  // namespace
}  // namespace sb::engine
