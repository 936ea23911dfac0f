#include "workflow/check/assessment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/document/reader.hpp"
#include "base/text/unicode.hpp"
#include "workflow/check/contract.hpp"

namespace sb::workflow {
namespace {

// Trimmed and case-folded, for levels and ids as people and models write them.
std::string normal(std::string_view text) {
  if (!is_utf8(text)) return std::string(text);
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    if (is_space(next_code_point(text, at))) continue;
    begin = std::min(begin, before);
    end = at;
  }
  return begin < end ? case_fold(text.substr(begin, end - begin)) : std::string();
}

std::vector<const AssessmentDefinition*> asked_for(const Definition& definition, const Step& step) {
  std::vector<const AssessmentDefinition*> found;
  for (const std::string& ref : step.assessment_refs) {
    const auto known = std::ranges::find(definition.assessments, ref, &AssessmentDefinition::id);
    if (known != definition.assessments.end()) found.push_back(&*known);
  }
  return found;
}

std::string named(const AssessmentDefinition& assessment) {
  return fmt::format("assessment {}", quote_json(assessment.id));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + quote_json(word);
  return text;
}

class Matching {
 public:
  Matching(const std::vector<const AssessmentDefinition*>& asked, std::span<const Value> artifacts,
           AssessmentResult& into)
      : asked_(asked), into_(into) {
    const Contract* contract = Contracts::bundled().find(kAssessment);
    for (const Value& artifact : artifacts) {
      if (artifact.string_at("kind") == contract->kind) submitted_.push_back(&artifact);
    }
  }

  void read() {
    if (asked_.size() > 1) refuse_strays();
    for (const AssessmentDefinition* assessment : asked_) {
      const Value* artifact = asked_.size() == 1 ? only(*assessment) : by_id(*assessment);
      if (artifact) record(*assessment, *artifact);
    }
    if (!into_.issues.empty()) into_.recorded.clear();
  }

 private:
  void issue(const AssessmentDefinition& assessment, const std::string& message) {
    into_.issues.push_back(fmt::format("{}: {}", named(assessment), message));
  }

  const Value* only(const AssessmentDefinition& assessment) {
    if (submitted_.empty()) {
      issue(assessment, "no wr.assessment artifact was sent");
      return nullptr;
    }
    const auto id = submitted_.front()->string_at("assessmentId");
    if (!id || normal(*id) == normal(assessment.id)) return submitted_.front();
    issue(assessment, fmt::format("assessmentId {} belongs to another assessment; this step asks for {}",
                                  quote_json(id->substr(0, 64)), quote_json(assessment.id)));
    return nullptr;
  }

  const Value* by_id(const AssessmentDefinition& assessment) {
    for (const bool is_exact : {true, false}) {
      for (const Value* artifact : submitted_) {
        const std::string id = artifact->string_at("assessmentId").value_or("");
        if (is_exact ? id == assessment.id : normal(id) == normal(assessment.id)) return artifact;
      }
    }
    issue(assessment,
          fmt::format("no wr.assessment artifact with assessmentId {} was sent", quote_json(assessment.id)));
    return nullptr;
  }

  // Artifacts that name none of several assessments; probably one of them was meant.
  void refuse_strays() {
    std::vector<std::string> ids;
    for (const AssessmentDefinition* assessment : asked_) ids.push_back(assessment->id);
    for (const Value* artifact : submitted_) {
      const auto id = artifact->string_at("assessmentId");
      const auto is_meant = [&](const std::string& known) { return id && normal(known) == normal(*id); };
      if (std::ranges::any_of(ids, is_meant)) continue;
      into_.issues.push_back(
          id ? fmt::format("assessmentId {} is not requested by this step; the ids are {}",
                           quote_json(id->substr(0, 64)), listed(ids))
             : fmt::format("a wr.assessment artifact has no assessmentId; use one of {}", listed(ids)));
    }
  }

  void record(const AssessmentDefinition& assessment, const Value& artifact) {
    const auto wrong = violations(*Contracts::bundled().find(kAssessment), artifact);
    for (const std::string& line : wrong) issue(assessment, line);
    if (!wrong.empty()) return;
    RecordedAssessment recorded{assessment.id, artifact.string_at("summary").value_or(""), {}, {}};
    const Value& dimensions = artifact["dimensions"];
    for (const AssessmentDimension& dimension : assessment.dimensions) {
      if (const Value* given = dimensions.find(dimension.id)) {
        rate(assessment, dimension, *given, recorded);
      } else if (dimension.is_required) {
        issue(assessment,
              fmt::format("dimension {} is missing; rate it {}", quote_json(dimension.id), listed(dimension.levels)));
      }
    }
    refuse_unknown(assessment, dimensions);
    into_.recorded.push_back(std::move(recorded));
  }

  void rate(const AssessmentDefinition& assessment, const AssessmentDimension& dimension, const Value& given,
            RecordedAssessment& recorded) {
    const std::string level = given.is_string() ? given.as_string() : given.string_at("level").value_or("");
    auto known = std::ranges::find(dimension.levels, level);
    if (known == dimension.levels.end()) {
      known = std::ranges::find(dimension.levels, normal(level), normal);
      if (known == dimension.levels.end()) {
        return issue(assessment, fmt::format("dimension {} has no level {}; rate it {}", quote_json(dimension.id),
                                             quote_json(level.substr(0, 64)), listed(dimension.levels)));
      }
      recorded.notes.push_back(fmt::format("dimension {}: {} was read as {}", quote_json(dimension.id),
                                           quote_json(level), quote_json(*known)));
    }
    recorded.ratings.push_back({dimension.id, *known, given.string_at("rationale").value_or("")});
  }

  void refuse_unknown(const AssessmentDefinition& assessment, const Value& dimensions) {
    std::vector<std::string> ids;
    for (const AssessmentDimension& dimension : assessment.dimensions) ids.push_back(dimension.id);
    for (const auto& member : dimensions.members()) {
      if (std::ranges::find(ids, member.name) != ids.end()) continue;
      const std::string nearest = nearest_name(member.name, ids);
      issue(assessment, fmt::format("dimension {} is not requested; {}", quote_json(member.name.substr(0, 64)),
                                    nearest.empty() ? "the dimensions are " + listed(ids)
                                                    : fmt::format("did you mean {}?", quote_json(nearest))));
    }
  }

  const std::vector<const AssessmentDefinition*>& asked_;
  std::vector<const Value*> submitted_;
  AssessmentResult& into_;
};

}  // namespace

AssessmentResult read_assessments(const Definition& definition, const Step& step, std::span<const Value> artifacts) {
  AssessmentResult reading;
  const auto asked = asked_for(definition, step);
  Matching(asked, artifacts, reading).read();
  for (const AssessmentConsequence& consequence : step.consequences) {
    for (const RecordedAssessment& recorded : reading.recorded) {
      if (!consequence.for_assessment.empty() && consequence.for_assessment != recorded.id) continue;
      for (const Rating& rating : recorded.ratings) {
        if (normal(rating.level) != normal(consequence.level)) continue;
        reading.fired.push_back({recorded.id, rating.dimension, rating.level, consequence.guidance});
      }
    }
  }
  return reading;
}

Value example_assessment(const AssessmentDefinition& assessment, const Step& step) {
  Value example = Value::object({{"kind", Contracts::bundled().find(kAssessment)->kind}});
  if (step.assessment_refs.size() > 1) example.set("assessmentId", assessment.id);
  const auto asks_for_more = [&](const std::string& level) {
    return std::ranges::any_of(step.consequences, [&](const AssessmentConsequence& consequence) {
      const bool is_own = consequence.for_assessment.empty() || consequence.for_assessment == assessment.id;
      return is_own && normal(consequence.level) == normal(level);
    });
  };
  Value dimensions = Value::object();
  for (const AssessmentDimension& dimension : assessment.dimensions) {
    if (dimension.levels.empty()) continue;
    const auto passing = std::ranges::find_if_not(dimension.levels, asks_for_more);
    dimensions.set(dimension.id, passing == dimension.levels.end() ? dimension.levels.front() : *passing);
  }
  example.set("dimensions", std::move(dimensions));
  return example;
}

std::string levels_text(const AssessmentDefinition& assessment) {
  std::string text;
  for (const AssessmentDimension& dimension : assessment.dimensions) {
    text += fmt::format("{}`{}` {}", text.empty() ? "" : "; ", dimension.id, fmt::join(dimension.levels, "|"));
  }
  return text;
}

Value to_requirements(const Definition& definition, const Step& step) {
  Value requirements = Value::array();
  for (const AssessmentDefinition* assessment : asked_for(definition, step)) {
    Value dimensions = Value::object();
    for (const AssessmentDimension& dimension : assessment->dimensions) {
      dimensions.set(dimension.id, Value::array(dimension.levels));
    }
    requirements.push_back(Value::object({{"id", assessment->id}, {"dimensions", std::move(dimensions)}}));
  }
  return requirements;
}

}  // namespace sb::workflow
