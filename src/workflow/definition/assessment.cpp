// Assessments: reads the declarations and checks that the steps using them fit.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

AssessmentDimension read_dimension(const Reader& reader) {
  AssessmentDimension dimension;
  Fields fields = reader.fields();
  dimension.id = text_of(fields, "id", 1, 64);
  dimension.purpose = text_of(fields, "purpose", 1, 256);
  dimension.levels =
      texts_of(fields, "levels", {.min_items = 2, .min_length = 1, .max_length = 64, .duplicates = Duplicates::kFault});
  dimension.is_required = flag_of(fields, "required", true);
  finish(fields, {"id", "purpose", "levels"});
  return dimension;
}

AssessmentDefinition read_assessment(const Reader& reader) {
  AssessmentDefinition assessment;
  Fields fields = reader.fields();
  assessment.id = text_of(fields, "id", 1, 64);
  assessment.purpose = text_of(fields, "purpose", 1, 256);
  std::set<std::string> ids;
  for (const Reader& item : items_of(fields, "dimensions", {.min_items = 1})) {
    AssessmentDimension dimension = read_dimension(item);
    if (!dimension.id.empty() && !ids.insert(dimension.id).second) {
      fault(item, "duplicate_dimension", fmt::format("two dimensions have the id \"{}\"", dimension.id),
            "Rename one of them");
    }
    assessment.dimensions.push_back(std::move(dimension));
  }
  finish(fields, {"id", "purpose", "dimensions"});
  return assessment;
}

bool has_level(const AssessmentDefinition& assessment, const std::string& level) {
  return std::ranges::any_of(assessment.dimensions, [&](const AssessmentDimension& dimension) {
    return std::ranges::find(dimension.levels, level) != dimension.levels.end();
  });
}

// The levels that can trigger a consequence; nothing if a reference is unknown, which is reported elsewhere.
std::optional<std::vector<std::string>> levels_for(const AssessmentConsequence& consequence, const Step& step,
                                                   const Definition& definition) {
  std::vector<std::string> levels;
  for (const std::string& ref : step.assessment_refs) {
    if (!consequence.for_assessment.empty() && ref != consequence.for_assessment) continue;
    const AssessmentDefinition* assessment = definition.assessment(ref);
    if (!assessment) return std::nullopt;
    for (const AssessmentDimension& dimension : assessment->dimensions)
      levels.insert(levels.end(), dimension.levels.begin(), dimension.levels.end());
    if (has_level(*assessment, consequence.level)) return levels;
  }
  return levels;
}

void check_consequence(const Reader& reader, const AssessmentConsequence& consequence, const Step& step,
                       const StepReadContext& reading) {
  const Value* when = reader.value().find("when");
  const std::string& named = consequence.for_assessment;
  if (!named.empty() && std::ranges::find(step.assessment_refs, named) == step.assessment_refs.end()) {
    fault(reader.at(*when->find("forAssessment")), "unknown_assessment",
          fmt::format("the step does not use the assessment \"{}\"", named),
          did_you_mean(named, step.assessment_refs, "Name one of its assessmentRefs"));
    return;
  }
  if (consequence.level.empty()) return;
  const auto levels = levels_for(consequence, step, *reading.definition);
  if (!levels || levels->empty() || std::ranges::find(*levels, consequence.level) != levels->end()) return;
  fault(reader.at(*when->find("anyEqualsLevel")), "unknown_level",
        fmt::format("no dimension has the level \"{}\"", consequence.level),
        did_you_mean(consequence.level, *levels, "Name a level of the assessment"));
}

AssessmentConsequence read_consequence(const Reader& reader) {
  static constexpr Table<int> kEffects[] = {{"require_followup", 0}};
  AssessmentConsequence consequence;
  Fields fields = reader.fields();
  if (const auto when = fields.get("when")) {
    Fields inner = when->fields();
    consequence.level = text_of(inner, "anyEqualsLevel", 1, 64);
    consequence.for_assessment = text_of(inner, "forAssessment", 1, 128);
    finish(inner, {"anyEqualsLevel"});
  }
  if (const auto effect = fields.get("effect")) {
    Fields inner = effect->fields();
    inner.choice<int>("kind", kEffects);
    consequence.guidance = text_of(inner, "guidance", 1, 512);
    finish(inner, {"kind", "guidance"});
  }
  finish(fields, {"when", "effect"});
  return consequence;
}

void check_refs(const Reader& list, const StepReadContext& reading) {
  if (!list.value().is_array()) return;
  for (const Value& item : list.value().items()) {
    if (!item.is_string() || item.as_string().empty()) continue;
    if (reading.definition->assessment(item.as_string())) continue;
    std::vector<std::string> known;
    for (const AssessmentDefinition& assessment : reading.definition->assessments) known.push_back(assessment.id);
    fault(list.at(item), "unknown_assessment", fmt::format("no assessment has the id \"{}\"", item.as_string()),
          did_you_mean(item.as_string(), known, "Declare it in assessments"));
  }
}

}  // namespace

std::vector<AssessmentDefinition> read_assessments(Fields& fields) {
  std::vector<AssessmentDefinition> assessments;
  for (const Reader& item : items_of(fields, "assessments", {.duplicates = Duplicates::kFault})) {
    AssessmentDefinition assessment = read_assessment(item);
    if (!assessment.id.empty() &&
        std::ranges::find(assessments, assessment.id, &AssessmentDefinition::id) != assessments.end()) {
      fault(item, "duplicate_assessment", fmt::format("two assessments have the id \"{}\"", assessment.id),
            "Rename one of them");
    }
    assessments.push_back(std::move(assessment));
  }
  return assessments;
}

void read_assessment_use(Fields& fields, const StepReadContext& reading, Step& step) {
  step.assessment_refs = texts_of(
      fields, "assessmentRefs", {.min_items = 1, .min_length = 1, .max_length = 64, .duplicates = Duplicates::kFault});
  if (const auto refs = fields.get("assessmentRefs")) check_refs(*refs, reading);
  const auto list = fields.get("assessmentConsequences");
  if (!list) return;
  if (!fields.has("assessmentRefs")) {
    fault(*list, "consequence_without_assessment", "consequences need an assessment", "Add assessmentRefs: [...]");
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (const Reader& item : items_of(fields, "assessmentConsequences", {.min_items = 1, .max_items = 10})) {
    AssessmentConsequence consequence = read_consequence(item);
    if (fields.has("assessmentRefs")) check_consequence(item, consequence, step, reading);
    if (!consequence.level.empty() && !seen.emplace(consequence.level, consequence.for_assessment).second) {
      fault(item, "duplicate_consequence", fmt::format("two consequences have the level \"{}\"", consequence.level),
            "Merge their guidance");
    }
    step.consequences.push_back(std::move(consequence));
  }
}

}  // namespace sb::workflow
