// Self-ratings a step asks for: matched to their artifacts, normalized, and the consequences of a level.
//
// Pure. A step with one reference takes the first `wr.assessment` artifact (an `assessmentId` of another assessment is
// an issue); with several, they are matched by `assessmentId`. A level matches exactly, else trimmed and case-folded,
// which is noted. All references must be valid before any is recorded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::workflow {

struct Rating {
  std::string dimension, level, rationale;
};

struct RecordedAssessment {
  std::string id, summary;
  std::vector<Rating> ratings;     // in the order of the definition
  std::vector<std::string> notes;  // what was normalized
};

struct FiredConsequence {
  std::string assessment, dimension, level, guidance;
};

struct AssessmentResult {
  std::vector<RecordedAssessment> recorded;  // all of the step, or none
  std::vector<std::string> issues;           // `assessment "x": dimension "y" is missing; …`
  std::vector<FiredConsequence> fired;       // each consequence at most once per matching dimension
};

// `definition` declares every reference of the step (compile has checked it).
AssessmentResult read_assessments(const Definition& definition, const Step& step, std::span<const Value> artifacts);

// An artifact the step accepts for one of its assessments: for each dimension the first level without a consequence.
Value example_assessment(const AssessmentDefinition& assessment, const Step& step);
// The levels to choose from: "`reach` low|high; `depth` none|some".
std::string levels_text(const AssessmentDefinition& assessment);
// `requires.assessments`: [{id, dimensions: {id: [levels…]}}].
Value to_requirements(const Definition& definition, const Step& step);

}  // namespace sb::workflow
