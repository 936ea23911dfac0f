// The results that a phase passes on, and which of them each later phase gets. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/context/isolation.hpp"
#include "base/document/value.hpp"

namespace sb::pipeline {

enum class Phase { kDiscovery, kShaping, kDesign, kCoding, kReview, kFix, kAudit };
std::string_view to_string(Phase phase);
std::optional<Phase> phase_named(std::string_view name);

// The artifact kind of its last step; empty: any.
std::string_view artifact_kind(Phase phase);

enum class ResultKind { kFull, kPartial, kFallback };
std::string_view to_string(ResultKind kind);

struct PhaseResult {
  ResultKind kind = ResultKind::kFallback;
  Value artifact = {};     // kFull: valid by its contract
  std::string notes = {};  // newest first, as the engine recalls them
  std::string why = {};    // why it is not kFull
  // Earlier phases that were not full: {phase, round, kind, why}; repeated by every later phase.
  Value::Array degraded = {};
  Value to_value() const;
  static Result<PhaseResult> from(const Value& value);
};

// full: an artifact of the contract. partial: none, but more than 50 characters of notes. fallback: neither.
PhaseResult classify_phase(Phase phase, const Value& artifact, std::string_view notes, Value::Array degraded);

enum class OnPartial { kProceed, kRetryOnce, kEscalate };

// What each target phase gets from the earlier ones, by the table, as sources of kind kPrior with their priorities; the
// committed interpretation with its assumptions and every degradation are priority 1 for all. Partial results pass on
// their notes. Confidence and retrospectives are marked author_view. The subject of fixer and auditor, findings and
// audit results, is kDocument, one source per finding: a task for them, and a prior result for a challenger.
struct PhaseResults {
  std::map<Phase, PhaseResult> newest;
  Value interpretation = {};                 // wr.interpretation, once committed
  Value::Array findings = {};                // of the newest review
  std::vector<std::string> collateral = {};  // changed files that were not declared
};
std::vector<agent::ContextSource> context_for(Phase target, const PhaseResults& results);

// Sources as stored with a phase, for the agents it starts.
Value to_value(const std::vector<agent::ContextSource>& sources);
std::vector<agent::ContextSource> sources_from(const Value& value);

}  // namespace sb::pipeline
