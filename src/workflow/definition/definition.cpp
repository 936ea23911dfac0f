// The head of a workflow, and the reading of the whole.
#include "workflow/definition/definition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/faults.hpp"
#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

constexpr Table<MetricsProfile> kMetricsProfiles[] = {
    {"none", MetricsProfile::kNone},         {"coding", MetricsProfile::kCoding}, {"review", MetricsProfile::kReview},
    {"research", MetricsProfile::kResearch}, {"design", MetricsProfile::kDesign}, {"ticket", MetricsProfile::kTicket}};
constexpr Table<Role> kRoles[] = {{"worker", Role::kWorker},
                                  {"challenger", Role::kChallenger},
                                  {"adversarial", Role::kAdversarial},
                                  {"evaluator", Role::kEvaluator},
                                  {"reviewer", Role::kReviewer}};
constexpr Table<int> kAutonomies[] = {{"guided", 0}, {"full_auto_stop_on_user_deps", 1}, {"full_auto_never_stop", 2}};
constexpr Table<int> kRiskPolicies[] = {{"conservative", 0}, {"balanced", 1}, {"aggressive", 2}};
constexpr Table<int> kIsolationModes[] = {
    {"full", 0}, {"task-only", 1}, {"challenger", 2}, {"blind", 3}, {"custom", 4}};
constexpr Table<int> kAcceptedKinds[] = {{"routine", 0}, {"workflow", 1}};
constexpr Table<bool> kResolveFrom[] = {{"workspace", false}, {"package", true}};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}

// `name`, or `namespace.name` whose two parts have two characters or more and start with a letter.
bool is_workflow_id(std::string_view id) {
  const auto are_allowed = [](std::string_view part) {
    return std::ranges::all_of(part, [](char c) { return is_lower(c) || is_digit_char(c) || c == '_' || c == '-'; });
  };
  const auto dot = id.find('.');
  if (dot == std::string_view::npos) return are_allowed(id);
  const std::string_view parts[] = {id.substr(0, dot), id.substr(dot + 1)};
  return std::ranges::all_of(
      parts, [&](std::string_view part) { return part.size() >= 2 && is_lower(part[0]) && are_allowed(part); });
}

bool is_number_part(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, is_digit_char) && (part[0] != '0' || part.size() == 1);
}

// Dot-separated parts of letters, digits and hyphens; in a pre-release, numbers have no leading zero.
bool is_label(std::string_view label, bool is_prerelease) {
  for (;;) {
    const auto dot = label.find('.');
    const auto part = label.substr(0, dot);
    const bool is_word = !part.empty() && std::ranges::all_of(part, [](char c) {
      return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit_char(c) || c == '-';
    });
    if (!is_word) return false;
    if (is_prerelease && std::ranges::all_of(part, is_digit_char) && !is_number_part(part)) return false;
    if (dot == std::string_view::npos) return true;
    label.remove_prefix(dot + 1);
  }
}

bool is_semantic_version(std::string_view version) {
  if (const auto plus = version.find('+'); plus != std::string_view::npos) {
    if (!is_label(version.substr(plus + 1), false)) return false;
    version = version.substr(0, plus);
  }
  if (const auto dash = version.find('-'); dash != std::string_view::npos) {
    if (!is_label(version.substr(dash + 1), true)) return false;
    version = version.substr(0, dash);
  }
  const auto first = version.find('.');
  const auto second = first == std::string_view::npos ? first : version.find('.', first + 1);
  return second != std::string_view::npos && is_number_part(version.substr(0, first)) &&
         is_number_part(version.substr(first + 1, second - first - 1)) && is_number_part(version.substr(second + 1));
}

// [a-z][a-z0-9_-]*, and with `hyphens` false, [a-z][a-z0-9_]*
bool is_short_id(std::string_view id, bool hyphens) {
  return !id.empty() && is_lower(id[0]) && std::ranges::all_of(id, [&](char c) {
    return is_lower(c) || is_digit_char(c) || c == '_' || (hyphens && c == '-');
  });
}

std::string short_id_of(Fields& fields, std::string_view name, bool hyphens) {
  const auto reader = fields.get(name);
  auto id = reader ? read_text(*reader, 2, 64) : std::nullopt;
  if (!id) return {};
  if (!is_short_id(*id, hyphens)) {
    fault(*reader, "bad_id", fmt::format("\"{}\" is not an id", *id),
          fmt::format("Use lower-case letters, digits{} and underscores, starting with a letter",
                      hyphens ? ", hyphens" : ""));
  }
  return std::move(*id);
}

std::string workflow_id_of(Fields& fields) {
  const auto reader = fields.get("id");
  auto id = reader ? read_text(*reader, 3, 64) : std::nullopt;
  if (!id) return {};
  if (!is_workflow_id(*id)) {
    fault(*reader, "bad_id", fmt::format("\"{}\" is not a workflow id", *id),
          "Use lower-case letters, digits, hyphens and underscores; with a dot, each part starts with a letter and has "
          "two characters or more: team.review");
  }
  return std::move(*id);
}

std::string version_of(Fields& fields) {
  const auto reader = fields.get("version");
  auto version = reader ? read_text(*reader) : std::nullopt;
  if (!version) return {};
  if (!is_semantic_version(*version)) {
    fault(*reader, "bad_version", fmt::format("\"{}\" is not a version", version->substr(0, 80)),
          "Write three numbers: 1.0.0");
  }
  return std::move(*version);
}

void read_preferences(Fields& fields, Definition& definition) {
  const auto reader = fields.get("recommendedPreferences");
  if (!reader) return;
  Fields inner = reader->fields();
  const auto word = [&](std::string_view name, Names<int> names) -> std::string {
    const auto value = inner.get(name);
    return value && value->choice<int>(names) ? value->value().as_string() : "";
  };
  definition.recommended_autonomy = word("recommendedAutonomy", kAutonomies);
  definition.recommended_risk_policy = word("recommendedRiskPolicy", kRiskPolicies);
  finish(inner);
}

template <class Part>
bool has(const std::vector<Part>& parts, std::string Part::* id, const std::string& wanted) {
  return std::ranges::find(parts, wanted, id) != parts.end();
}

void read_extension_points(Fields& fields, Definition& definition) {
  for (const Reader& item : items_of(fields, "extensionPoints", {.duplicates = Duplicates::kFault})) {
    ExtensionPoint point;
    Fields inner = item.fields();
    point.slot = short_id_of(inner, "slotId", false);
    point.purpose = text_of(inner, "purpose", 1, 256);
    point.default_id = text_of(inner, "default", 1, 128);
    for (const Reader& kind : items_of(inner, "acceptedKinds", {.duplicates = Duplicates::kFault}))
      kind.choice<int>(kAcceptedKinds);
    finish(inner, {"slotId", "purpose", "default"});
    if (!point.slot.empty() && has(definition.extension_points, &ExtensionPoint::slot, point.slot)) {
      fault(*inner.get("slotId"), "duplicate_slot",
            fmt::format("two extension points have the slot \"{}\"", point.slot), "Rename one of them");
    }
    definition.extension_points.push_back(std::move(point));
  }
}

void read_references(Fields& fields, Definition& definition) {
  for (const Reader& item : items_of(fields, "references", {.duplicates = Duplicates::kFault})) {
    Reference reference;
    Fields inner = item.fields();
    reference.id = short_id_of(inner, "id", true);
    reference.title = text_of(inner, "title", 1, 128);
    reference.source = text_of(inner, "source", 1, 512);
    reference.purpose = text_of(inner, "purpose", 1, 512);
    reference.is_authoritative = flag_of(inner, "authoritative");
    reference.from_package = inner.choice<bool>("resolveFrom", kResolveFrom).value_or(false);
    finish(inner, {"id", "title", "source", "purpose", "authoritative"});
    if (!reference.id.empty() && has(definition.references, &Reference::id, reference.id)) {
      fault(*inner.get("id"), "duplicate_reference", fmt::format("two references have the id \"{}\"", reference.id),
            "Rename one of them");
    }
    definition.references.push_back(std::move(reference));
  }
}

void read_isolation(Fields& fields, Definition& definition) {
  const auto reader = fields.get("isolation");
  if (!reader) return;
  Isolation isolation;
  Fields inner = reader->fields();
  const ListRules rules{.min_length = 1, .max_length = 128, .duplicates = Duplicates::kFault};
  const auto mode = inner.get("mode");
  if (mode && mode->choice<int>(kIsolationModes)) isolation.mode = mode->value().as_string();
  isolation.inputs = texts_of(inner, "inputs", rules);
  isolation.include = texts_of(inner, "include", rules);
  isolation.exclude = texts_of(inner, "exclude", rules);
  finish(inner, {"mode"});
  definition.isolation = std::move(isolation);
}

void read_head(Fields& fields, DefinitionForm form, Definition& definition) {
  const ListRules lines{.min_length = 1, .max_length = 256, .duplicates = Duplicates::kFault};
  fields.string("$schema");
  definition.id = form == DefinitionForm::kPinned ? text_of(fields, "id", 1) : workflow_id_of(fields);
  definition.name = text_of(fields, "name", 1, form == DefinitionForm::kPinned ? kNoLimit : 128);
  definition.description = text_of(fields, "description", 1, 512);
  definition.version = version_of(fields);
  definition.about = text_of(fields, "about", 1, 4096);
  definition.model_tier = tier_of(fields);
  definition.preconditions = texts_of(fields, "preconditions", lines);
  definition.clarification_prompts = texts_of(fields, "clarificationPrompts", lines);
  definition.meta_guidance = texts_of(fields, "metaGuidance", lines);
  definition.features =
      texts_of(fields, "features", {.min_length = 1, .max_length = 128, .duplicates = Duplicates::kFault});
  definition.examples =
      texts_of(fields, "examples",
               {.min_items = 1, .max_items = 6, .min_length = 10, .max_length = 120, .duplicates = Duplicates::kFault});
  definition.functions = read_functions(fields, Duplicates::kFault);
  read_preferences(fields, definition);
  definition.assessments = read_assessments(fields);
  read_extension_points(fields, definition);
  read_references(fields, definition);
  if (const auto version = fields.get("validatedAgainstSpecVersion"))
    definition.spec_version = read_count(*version, 1, std::numeric_limits<int>::max());
  definition.metrics =
      fields.choice<MetricsProfile>("metricsProfile", kMetricsProfiles).value_or(MetricsProfile::kNone);
  definition.role = fields.choice<Role>("role", kRoles);
  read_isolation(fields, definition);
}

void read_body(Fields& fields, DefinitionForm form, Definition& definition) {
  const auto list = fields.get("steps");
  if (!list) return;
  StepReadContext reading{.form = form, .definition = &definition, .functions = {}, .loop_names = {}};
  for (const FunctionDefinition& function : definition.functions) reading.functions.push_back(&function);
  definition.steps = read_steps(*list, reading);
  if (reading.steps > limits::kWorkflowSteps) {
    list->fault(fmt::format("the workflow has {} steps; at most {} are allowed", reading.steps, limits::kWorkflowSteps),
                "Split it into several workflows that call each other", ErrorCode::kLimit, "too_many");
  }
}

bool is_too_large(const Document& document, Faults& faults) {
  if (document.text.size() <= limits::kWorkflowBytes) return false;
  faults.push_back(Error{
      ErrorCode::kLimit,
      fmt::format("the workflow has {} bytes; at most {} are allowed", document.text.size(), limits::kWorkflowBytes),
      "Split it into several workflows that call each other",
      {document.name, "", 0, 0},
      false,
      "too_long"});
  return true;
}

}  // namespace

Checked<Definition> read_definition(const Document& document, DefinitionForm form) {
  Faults faults;
  if (form == DefinitionForm::kAuthored && is_too_large(document, faults)) return std::unexpected(std::move(faults));
  Definition definition;
  const Reader root(document, faults);
  Fields fields = root.fields();
  read_head(fields, form, definition);
  read_body(fields, form, definition);
  finish(fields, {"id", "name", "description", "version", "steps"});
  check_steps(definition, root);
  if (faults.empty() && form == DefinitionForm::kAuthored) check_semantics(definition, root);
  if (!faults.empty()) {
    sort_faults(faults);
    return std::unexpected(std::move(faults));
  }
  if (form == DefinitionForm::kAuthored) definition.source = document.root;
  return definition;
}

const AssessmentDefinition* Definition::assessment(std::string_view wanted) const {
  const auto found = std::ranges::find(assessments, wanted, &AssessmentDefinition::id);
  return found == assessments.end() ? nullptr : &*found;
}

bool may_see(const Definition& definition, std::string_view key) {
  const auto& isolation = definition.isolation;
  return !isolation || isolation->mode != "blind" ||
         std::ranges::find(isolation->inputs, key) != isolation->inputs.end();
}

Value visible_context(const Definition& definition, const Value& context) {
  Value visible = Value::object();
  if (!context.is_object()) return visible;
  for (const Value::Member& member : context.members()) {
    if (may_see(definition, member.name)) visible.set(member.name, member.value);
  }
  return visible;
}

std::string_view to_string(ModelTier tier) {
  return std::ranges::find(kModelTiers, tier, &Table<ModelTier>::second)->first;
}

std::string_view to_string(Role role) {
  return std::ranges::find(kRoles, role, &Table<Role>::second)->first;
}

}  // namespace sb::workflow
