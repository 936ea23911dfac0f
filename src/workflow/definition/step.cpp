// Steps of all kinds: determines the kind and reads the common fields.
#include <fmt/format.h>

#include <algorithm>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

enum class StepKind { kWork, kLoop, kParallel, kDecision, kCall };

constexpr Table<StepKind> kStepKinds[] = {{"loop", StepKind::kLoop},
                                          {"parallel", StepKind::kParallel},
                                          {"decision", StepKind::kDecision},
                                          {"workflow", StepKind::kCall}};
// A key that only one kind of step has.
constexpr Table<StepKind> kTelltales[] = {{"loop", StepKind::kLoop},
                                          {"body", StepKind::kLoop},
                                          {"parallelDelegations", StepKind::kParallel},
                                          {"decision", StepKind::kDecision},
                                          {"workflowId", StepKind::kCall}};

// Nothing if the type is written but unknown; a missing type is reported once, based on the step's other keys.
std::optional<StepKind> kind_of(Fields& fields) {
  if (const auto type = fields.get("type")) return type->choice<StepKind>(kStepKinds);
  for (const auto& [key, kind] : kTelltales) {
    if (!fields.has(key)) continue;
    const auto word = std::ranges::find(kStepKinds, kind, &Table<StepKind>::second)->first;
    fault(fields.self(), "missing_key", fmt::format("a step with \"{}\" needs a type", key),
          fmt::format("Add type: {}", word));
    return kind;
  }
  return StepKind::kWork;
}

bool is_step_id(std::string_view id, bool is_expanded) {
  return std::ranges::all_of(id, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (is_expanded && (c == '.' || c == '_'));
  });
}

void read_kind(StepKind kind, Fields& fields, StepReadContext& reading, Step& step) {
  switch (kind) {
    case StepKind::kWork:
      return read_work(fields, reading, step);
    case StepKind::kLoop:
      return read_loop(fields, reading, step);
    case StepKind::kParallel:
      return read_parallel(fields, reading, step);
    case StepKind::kDecision:
      return read_decision(fields, reading, step);
    case StepKind::kCall:
      return read_call(fields, reading, step);
  }
}

Step read_step(const Reader& reader, StepReadContext& reading) {
  Step step;
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return step;
  step.id = read_step_id(fields, reading);
  step.title = text_of(fields, "title", 1, reading.longest(128));
  // A step of unknown kind cannot be checked any further.
  if (const auto kind = kind_of(fields)) read_kind(*kind, fields, reading, step);
  return step;
}

Confirmation read_confirmation(const Reader& reader) {
  static constexpr Table<Confirmation::Kind> kKinds[] = {{"coordinator_eval", Confirmation::Kind::kEvaluator},
                                                         {"human_approval", Confirmation::Kind::kPerson}};
  const Value& value = reader.value();
  if (value.is_bool()) return {value.as_bool() ? Confirmation::Kind::kEvaluator : Confirmation::Kind::kNone, {}};
  if (!value.is_object()) {
    fault(reader, "wrong_kind",
          fmt::format("expected true, false, a gate or a condition, found {}", kind_name(value.kind())),
          "Write true, {kind: human_approval} or a condition");
    return {};
  }
  if (!value.find("kind")) return {Confirmation::Kind::kEvaluator, read_condition(reader)};
  Confirmation confirmation;
  Fields fields = reader.fields();
  confirmation.kind = fields.choice<Confirmation::Kind>("kind", kKinds).value_or(Confirmation::Kind::kNone);
  confirmation.when = condition_of(fields, "condition");
  finish(fields);
  return confirmation;
}

void read_jump(Fields& fields, Step& step) {
  const auto reader = fields.get("jumpIf");
  if (!reader) return;
  Jump jump;
  Fields inner = reader->fields();
  auto when = condition_of(inner, "when");
  jump.to = text_of(inner, "to", 1);
  const auto max_times = inner.get("atMost");
  const auto bound = max_times ? read_count(*max_times, 1, limits::kLoopIterations) : std::nullopt;
  jump.max_times = bound.value_or(1);
  finish(inner, {"when", "to"});
  if (when) jump.when = std::move(*when);
  step.jump = std::move(jump);
}

}  // namespace

std::string read_step_id(Fields& fields, const StepReadContext& reading) {
  const auto reader = fields.get("id");
  auto id = reader ? read_text(*reader, reading.is_pinned() ? 1 : 3, reading.longest(64)) : std::nullopt;
  if (!id) return {};
  if (!is_step_id(*id, reading.is_pinned())) {
    fault(*reader, "bad_id", fmt::format("\"{}\" is not a step id", id->substr(0, 80)),
          "Use lower-case letters, digits and hyphens");
  }
  return std::move(*id);
}

std::vector<Step> read_steps(const Reader& list, StepReadContext& reading) {
  std::vector<Step> steps;
  const auto items = list.items();
  if (!list.value().is_array()) return steps;
  if (items.empty()) fault(list, "too_few", "there are no steps", "Add one: {id: ..., title: ..., prompt: ...}");
  reading.steps += items.size();
  if (reading.steps > limits::kWorkflowSteps) return steps;
  steps.reserve(items.size());
  // Faulty ones are kept, so that the checks find the step of each item by its index.
  for (const Reader& item : items) steps.push_back(read_step(item, reading));
  return steps;
}

void read_common(Fields& fields, Step& step) {
  if (const auto reader = fields.get("requireConfirmation")) step.confirmation = read_confirmation(*reader);
  step.run_condition = condition_of(fields, "runCondition");
  step.notes_optional = flag_of(fields, "notesOptional");
}

void read_needs(Fields& fields, const StepReadContext& reading, Step& step) {
  // A call of a routine and the routine's first step may need the same key.
  const Duplicates duplicates = reading.is_pinned() ? Duplicates::kAllowed : Duplicates::kFault;
  step.needs = texts_of(fields, "needs", {.min_length = 1, .max_length = 128, .duplicates = duplicates});
}

void read_needs_and_jump(Fields& fields, const StepReadContext& reading, Step& step) {
  read_needs(fields, reading, step);
  read_jump(fields, step);
}

void read_interlock(Fields& fields, Step& step) {
  static constexpr Table<bool> kCommands[] = {{"read-only", true}, {"any", false}};
  step.interlock.commands_read_only = fields.choice<bool>("commands", kCommands).value_or(false);
  const auto writes = fields.get("writes");
  if (!writes) return;
  step.interlock.writes_declared = true;
  if (writes->value().is_array()) {
    step.interlock.writes = texts_of(
        fields, "writes", {.min_items = 1, .min_length = 1, .max_length = 256, .duplicates = Duplicates::kFault});
    return;
  }
  if (writes->value() == Value("none")) return;
  fault(*writes, writes->value().is_string() ? "unknown_choice" : "wrong_kind",
        "expected none or a list of file patterns", "Write none, or a list: [\"src/**\"]");
}

}  // namespace sb::workflow
