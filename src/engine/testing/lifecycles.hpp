// The bundled workflows with what they end in, and with paths through each that together open all of its steps. For
// tests.
#pragma once

#include <string>
#include <vector>

#include "engine/testing/walk_workflow.hpp"

namespace sb::engine {

inline Value keys(std::initializer_list<Value::Member> members) {
  return Value::object(members);
}

inline Value one_of(std::initializer_list<Value::Member> members) {
  return Value(Value::Array{Value::object(members)});
}

// A workflow with paths through it that together open each of its steps.
struct Lifecycle {
  std::string id, kind;
  std::vector<Playing> ways;
};

inline const Value kOptions = Value(Value::Array{keys({{"id", "first"},
                                                       {"label", "First"},
                                                       {"elements", Value::array({"a", "b"})},
                                                       {"notDoing", "c"},
                                                       {"isObvious", true}}),
                                                 keys({{"id", "second"},
                                                       {"label", "Second"},
                                                       {"elements", Value::array({"a", "b"})},
                                                       {"notDoing", "c"},
                                                       {"isObvious", false}})});

inline std::vector<Lifecycle> lifecycles() {
  const Value finding = Value::array({"the second import overwrites the first"});
  return {
      {"wr.discovery",
       "wr.discovery_handoff",
       {{.answers = keys({{"ambiguityLevel", "clear"}, {"directionIsObvious", true}})},
        {.answers = keys({{"ambiguityLevel", "ambiguous"},
                          {"codebaseBeliefs", Value::array({"exports are written once"})},
                          {"readingFell", true},
                          {"directionIsObvious", true},
                          {"explorationDepth", "deep"},
                          {"selectionTier", "insufficient_signal"}})}}},
      {"wr.shaping",
       "wr.shaping_handoff",
       {{.answers = keys({{"isTrivial", true}})},
        {.answers = keys({{"isTrivial", false}, {"shapesAreClose", true}, {"candidateShapes", kOptions}}),
         .rounds = {{"judge-holes", 1}}}}},
      {"wr.coding-task",
       "wr.coding_handoff",
       {{.answers = keys({{"taskComplexity", "Small"}})},
        {.answers =
             keys({{"taskComplexity", "Large"},
                   {"openQuestions", Value::array({"Which region is meant?"})},
                   {"approachMustChange", true},
                   {"planFindings", one_of({{"finding", "no test for the second slice"}, {"severity", "must"}})},
                   {"verificationFindings", finding},
                   {"followUpTickets", one_of({{"id", "t1"}, {"title", "Clean up"}, {"why", "it is in the way"}})},
                   {"followUpChoices", Value(Value::Array{keys({{"id", "t1"}, {"label", "Clean up"}}),
                                                          keys({{"id", "none"}, {"label", "None"}})})}}),
         .rounds = {{"judge-plan", 1}, {"verify-slice", 1}, {"verify-fix", 1}}}}},
      {"wr.mr-review",
       "wr.review_verdict",
       {{.answers = keys({{"reviewTargetFound", false}})},
        {.answers = keys({{"reviewTargetFound", true}, {"maxParallelism", 0}, {"reviewMode", "QUICK"}})},
        {
            .answers = keys({{"reviewTargetFound", true},
                             {"reviewMode", "THOROUGH"},
                             {"maxParallelism", 5},
                             {"needsBoundaryFollowup", true},
                             {"needsContextFollowup", true},
                             {"needsReviewerBundle", true},
                             {"needsSimulation", true},
                             {"validationChecklist", Value::array({"The login page looks as before"})},
                             {"checklistResult", keys({{"status", "failed"}, {"evidence", "login.css is changed"}})}}),
        }}},
      {"wr.fix",
       "wr.coding_handoff",
       {{.answers = keys({{"findingPlans", one_of({{"finding", "the name is not checked"},
                                                   {"decision", "fix"},
                                                   {"why", "an empty one gets through"},
                                                   {"shownBy", "name_test"}})}}),
         .rounds = {{"verify", 1}}},
        {.answers = keys({{"findingPlans", one_of({{"finding", "the name is not checked"},
                                                   {"decision", "answer"},
                                                   {"why", "the caller checks it, line 12"},
                                                   {"shownBy", "name_test"}})}})}}},
      {"wr.ui-ux-design",
       "wr.design_handoff",
       {{.answers = keys({{"designIsTrivial", true}})},
        {.answers = keys({{"designIsTrivial", false}, {"mustNotMove", Value::array({"the first column"})}})}}},
      {"wr.production-readiness-audit", "wr.audit_report", {{}, {.answers = keys({{"rawFindings", finding}})}}},
      {"wr.architecture-scalability-audit", "wr.audit_report", {{}, {.answers = keys({{"rawFindings", finding}})}}},
      {"wr.bug-investigation",
       "wr.coordinator_signal",
       {{.answers = keys({{"bugIsSimple", true}})},
        {.answers = keys({{"bugIsSimple", false}, {"causeFell", true}}), .rounds = {{"judge-evidence", 1}}}}},
      {"wr.gate-eval-generic", "wr.gate_verdict", {{.context = keys({{"gatedStepTitle", "Plan"}})}}},
  };
}

}  // namespace sb::engine
