#include "pipeline/plan/hand_off.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

constexpr std::array<std::pair<Phase, std::string_view>, 7> kPhases = {{
    {Phase::kDiscovery, "discovery"},
    {Phase::kShaping, "shaping"},
    {Phase::kDesign, "design"},
    {Phase::kCoding, "coding"},
    {Phase::kReview, "review"},
    {Phase::kFix, "fix"},
    {Phase::kAudit, "audit"},
}};

constexpr std::array<std::pair<ResultKind, std::string_view>, 3> kKinds = {{
    {ResultKind::kFull, "full"},
    {ResultKind::kPartial, "partial"},
    {ResultKind::kFallback, "fallback"},
}};

// One member of an artifact as readable lines: texts unchanged, {a, b} as `a: b`.
std::string line_of(const Value& value) {
  if (value.is_string()) return value.as_string();
  if (!value.is_object()) return to_json(value);
  std::string line;
  for (const Value::Member& member : value.members()) {
    const std::string text = member.value.is_string() ? member.value.as_string() : to_json(member.value);
    line += fmt::format("{}{}: {}", line.empty() ? "" : "; ", member.name, text);
  }
  return line;
}

std::string lines_of(const Value& value) {
  if (!value.is_array()) return value.is_null() ? std::string() : line_of(value);
  std::string text;
  for (const Value& item : value.items()) text += fmt::format("{}- {}", text.empty() ? "" : "\n", line_of(item));
  return text;
}

struct Part {
  std::string_view member, title;
  int priority;
};
struct FromPhase {
  Phase phase;
  std::vector<Part> parts;
};

constexpr Part kConstraints{"implementationConstraints", "Constraints for the implementation", 1};
constexpr Part kInvariants{"keyInvariants", "What must stay true", 2};
constexpr Part kLocations{"keyCodebaseLocations", "Where to look", 3};
constexpr Part kDirection{"selectedDirection", "The chosen direction", 1};
constexpr Part kShape{"selectedShape", "The chosen shape", 1};
constexpr Part kAppetite{"appetite", "The appetite: how much work it may take", 1};
constexpr Part kShapeConstraints{"keyConstraints", "Constraints of the shape", 1};
constexpr Part kOutOfScope{"outOfScope", "Out of scope", 1};
constexpr Part kChecklist{"validationChecklist", "What will be checked", 1};

std::vector<FromPhase> coding_rows() {
  return {{Phase::kCoding,
           {{"keyDecisions", "Decisions made while coding", 1},
            {"correctedAssumptions", "Corrected assumptions", 1},
            {"knownLimitations", "Known limitations", 2},
            {"filesChanged", "Files changed", 3}}},
          {Phase::kFix,
           {{"keyDecisions", "Decisions made while fixing", 1},
            {"correctedAssumptions", "Assumptions corrected while fixing", 1},
            {"knownLimitations", "Known limitations after fixing", 2},
            {"filesChanged", "Files changed while fixing", 3}}}};
}

void append(std::vector<FromPhase>& rows, std::vector<FromPhase> more) {
  for (FromPhase& row : more) rows.push_back(std::move(row));
}

// The table: what each phase gets from the earlier ones.
std::vector<FromPhase> table_for(Phase target) {
  const FromPhase shaped{Phase::kShaping, {kChecklist, kShapeConstraints, kOutOfScope}};
  switch (target) {
    case Phase::kDiscovery:
      return {};
    case Phase::kShaping:
      return {{Phase::kDiscovery,
               {kConstraints, kDirection, kInvariants, {"rejectedDirections", "Rejected directions", 2}, kLocations}}};
    case Phase::kDesign:
    case Phase::kCoding: {
      std::vector<FromPhase> rows = {
          {Phase::kDiscovery, {kConstraints, kInvariants, kLocations}},
          {Phase::kShaping, {kShape, kAppetite, kShapeConstraints, kOutOfScope, {"rabbitHoles", "What to avoid", 2}}}};
      if (target == Phase::kCoding) rows.push_back({Phase::kDesign, {{"", "The design of the user interface", 1}}});
      return rows;
    }
    case Phase::kReview:
    case Phase::kAudit: {
      std::vector<FromPhase> rows = {{Phase::kDiscovery, {kConstraints, kInvariants}}, shaped};
      append(rows, coding_rows());
      return rows;
    }
    case Phase::kFix: {
      std::vector<FromPhase> rows = {shaped};
      append(rows, coding_rows());
      rows.push_back({Phase::kAudit, {{"", "What the audit found", 1}}});
      return rows;
    }
  }
  return {};
}

class ContextBuilder {
 public:
  ContextBuilder(Phase target, const PhaseResults& results) : target_(target), results_(results) {}

  std::vector<agent::ContextSource> run() {
    add_interpretation();
    add_degradations();
    add_findings();
    for (const FromPhase& row : table_for(target_)) add_phase(row);
    return std::move(sources_);
  }

 private:
  void add(std::string key, std::string title, std::string text, int priority, bool author_view = false) {
    if (is_blank(text)) return;
    sources_.push_back(
        {std::move(key), agent::SourceKind::kPrior, std::move(title), std::move(text), priority, author_view});
  }

  // Not part of the budget for earlier results: the task itself must arrive.
  void work_from(std::string key, std::string title, std::string text) {
    if (is_blank(text)) return;
    sources_.push_back({std::move(key), agent::SourceKind::kDocument, std::move(title), std::move(text)});
  }

  void add_interpretation() {
    const Value& reading = results_.interpretation;
    if (!reading.is_object()) return;
    std::string text = reading.string_at("interpretation").value_or("");
    if (const std::string assumed = lines_of(reading["unresolvedAssumptions"]); !assumed.empty()) {
      text += "\nUnproven assumptions:\n" + assumed;
    }
    add("interpretation", "The committed interpretation of the task", std::move(text), 1);
  }

  void add_degradations() {
    Value::Array all;
    for (const auto& [phase, result] : results_.newest) {
      for (const Value& mark : result.degraded) {
        if (std::ranges::find(all, mark) == all.end()) all.push_back(mark);
      }
    }
    std::string text;
    for (const Value& mark : all) {
      text += fmt::format("{}- {} ended {}: {}", text.empty() ? "" : "\n", mark.string_at("phase").value_or("?"),
                          mark.string_at("kind").value_or("?"), mark.string_at("why").value_or("?"));
    }
    add("degradations", "Phases with incomplete results; mention them in your own result", std::move(text), 1);
  }

  void add_findings() {
    if (target_ != Phase::kReview && target_ != Phase::kFix && target_ != Phase::kAudit) return;
    if (target_ != Phase::kReview) {
      std::size_t number = 0;
      for (const Value& finding : results_.findings) {
        work_from("review.findings", fmt::format("Finding {} of {} to fix", ++number, results_.findings.size()),
                  line_of(finding));
      }
    }
    std::string beside;
    for (const std::string& file : results_.collateral) {
      beside += fmt::format("{}- {}", beside.empty() ? "" : "\n", file);
    }
    add("delivery.collateral", "Changed files that were not declared", std::move(beside), 1);
  }

  void add_phase(const FromPhase& row) {
    const auto found = results_.newest.find(row.phase);
    if (found == results_.newest.end()) return;
    const PhaseResult& result = found->second;
    const std::string name(to_string(row.phase));
    if (result.kind == ResultKind::kPartial) {
      add_notes(name, result.notes);
      return;
    }
    if (result.kind != ResultKind::kFull) return;
    for (const Part& part : row.parts) {
      if (part.member.empty() && target_ == Phase::kFix) {
        work_from(name + ".result", std::string(part.title), whole(result.artifact));
      } else if (part.member.empty()) {
        add(name + ".result", std::string(part.title), whole(result.artifact), part.priority);
      } else {
        add(fmt::format("{}.{}", name, part.member), std::string(part.title), lines_of(result.artifact[part.member]),
            part.priority);
      }
    }
    add_author_view(name, result.artifact);
  }

  static std::string whole(const Value& artifact) {
    std::string text;
    if (!artifact.is_object()) return text;
    for (const Value::Member& member : artifact.members()) {
      if (member.name == "kind" || member.name == "version") continue;
      text += fmt::format("{}{}:\n{}", text.empty() ? "" : "\n", member.name, lines_of(member.value));
    }
    return text;
  }

  // Complete if they fit with the other parts; otherwise their newest part, and how much is missing.
  void add_notes(const std::string& name, const std::string& notes) {
    constexpr std::size_t kNotesBytes = 4'000;
    std::string text(utf8_prefix(notes, kNotesBytes));
    if (text.size() < notes.size()) {
      text += fmt::format("\n[the newest {} of {} bytes of its notes]", text.size(), notes.size());
    }
    add(name + ".notes", fmt::format("Notes of {}, its only result", name), std::move(text), 1);
  }

  void add_author_view(const std::string& name, const Value& artifact) {
    std::string sure;
    for (const std::string_view member : {"confidenceBand", "confidence", "selectionTier"}) {
      if (const auto text = artifact.string_at(member)) {
        sure += fmt::format("{}{}: {}", sure.empty() ? "" : "\n", member, *text);
      }
    }
    add(name + ".confidence", fmt::format("How sure {} was", name), std::move(sure), 3, true);
    add(name + ".retrospective", fmt::format("Retrospective of {} on its own work", name),
        lines_of(artifact["retrospective"]), 3, true);
  }

  Phase target_;
  const PhaseResults& results_;
  std::vector<agent::ContextSource> sources_;
};

}  // namespace

std::string_view to_string(Phase phase) {
  for (const auto& [known, name] : kPhases) {
    if (known == phase) return name;
  }
  return "discovery";
}

std::optional<Phase> phase_named(std::string_view name) {
  for (const auto& [phase, known] : kPhases) {
    if (known == name) return phase;
  }
  return std::nullopt;
}

std::string_view to_string(ResultKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "fallback";
}

std::string_view artifact_kind(Phase phase) {
  switch (phase) {
    case Phase::kDiscovery:
      return "wr.discovery_handoff";
    case Phase::kShaping:
      return "wr.shaping_handoff";
    case Phase::kCoding:
    case Phase::kFix:
      return "wr.coding_handoff";
    case Phase::kReview:
      return "wr.review_verdict";
    case Phase::kDesign:
    case Phase::kAudit:
      return "";
  }
  return "";
}

Value PhaseResult::to_value() const {
  Value value = Value::object({{"kind", to_string(kind)}});
  if (!artifact.is_null()) value.set("artifact", artifact);
  if (!notes.empty()) value.set("notes", notes);
  if (!why.empty()) value.set("why", why);
  if (!degraded.empty()) value.set("degraded", Value(degraded));
  return value;
}

Result<PhaseResult> PhaseResult::from(const Value& value) {
  PhaseResult result;
  const std::string kind = value.string_at("kind").value_or("");
  bool is_known = false;
  for (const auto& [known, name] : kKinds) {
    if (name != kind) continue;
    result.kind = known;
    is_known = true;
  }
  if (!is_known) return fail(ErrorCode::kCorrupt, fmt::format("unknown kind of phase result {}", quote_json(kind)));
  result.artifact = value["artifact"];
  result.notes = value.string_at("notes").value_or("");
  result.why = value.string_at("why").value_or("");
  if (const Value& degraded = value["degraded"]; degraded.is_array()) result.degraded = degraded.items();
  return result;
}

PhaseResult classify_phase(Phase phase, const Value& artifact, std::string_view notes, Value::Array degraded) {
  PhaseResult result;
  result.degraded = std::move(degraded);
  result.notes = std::string(trimmed(notes));
  const std::string_view wanted = artifact_kind(phase);
  const std::string kind = artifact.string_at("kind").value_or("");
  if (artifact.is_object() && (wanted.empty() || kind == wanted)) {
    result.kind = ResultKind::kFull;
    result.artifact = artifact;
    return result;
  }
  const std::string missing = wanted.empty() ? "an artifact" : std::string(wanted);
  result.why = kind.empty() ? fmt::format("it produced no {}", missing)
                            : fmt::format("it produced {} instead of {}", quote_json(kind), missing);
  if (count_code_points(result.notes) > limits::kPartialNotes) {
    result.kind = ResultKind::kPartial;
  } else {
    result.why += ", and almost no notes";
  }
  return result;
}

std::vector<agent::ContextSource> context_for(Phase target, const PhaseResults& results) {
  return ContextBuilder(target, results).run();
}

Value to_value(const std::vector<agent::ContextSource>& sources) {
  Value all = Value::array();
  for (const agent::ContextSource& source : sources) {
    all.push_back(Value::object({{"key", source.key},
                                 {"kind", static_cast<int>(source.kind)},
                                 {"title", source.title},
                                 {"text", source.text},
                                 {"priority", source.priority},
                                 {"author_view", source.author_view}}));
  }
  return all;
}

std::vector<agent::ContextSource> sources_from(const Value& value) {
  std::vector<agent::ContextSource> sources;
  if (!value.is_array()) return sources;
  for (const Value& item : value.items()) {
    const Value& kind = item["kind"];
    const Value& priority = item["priority"];
    if (!kind.is_integer() || kind.as_integer() < 0 || kind.as_integer() > 6) continue;
    sources.push_back({item.string_at("key").value_or(""), static_cast<agent::SourceKind>(kind.as_integer()),
                       item.string_at("title").value_or(""), item.string_at("text").value_or(""),
                       priority.is_integer() ? static_cast<int>(priority.as_integer()) : 1,
                       item["author_view"].is_bool() && item["author_view"].as_bool()});
  }
  return sources;
}

}  // namespace sb::pipeline
