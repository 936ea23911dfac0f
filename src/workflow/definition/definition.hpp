// A workflow as its author wrote it, or as it was pinned: the same structures serve both.
//
// read_definition reads a document strictly. Unknown names, wrong types, limits and everything visible in one file
// alone (duplicate ids, references inside the file, patterns, schemas, loops that cannot exit, unreachable steps, keys
// that nothing sets) are faults with file, line, column and pointer, one for each mistake. What refers outside the file
// (contracts, templates, refs, features, other workflows) is checked by workflow/compile/compile.hpp.
//
// Pure; a value type.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "workflow/check/condition.hpp"
#include "workflow/check/criteria.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::workflow {

enum class ModelTier { kLightweight, kMid, kHeavy };
enum class MetricsProfile { kNone, kCoding, kReview, kResearch, kDesign, kTicket };
enum class Role { kWorker, kChallenger, kAdversarial, kEvaluator, kReviewer };

// What the artifact must meet besides its contract, in this step and if `when` is true.
struct Narrowing {
  std::optional<Condition> when;
  std::shared_ptr<const JsonSchema> schema;
  Value source;         // the schema as written
  std::string message;  // why, for the agent
};

struct OutputContract {
  std::string ref;
  bool is_required = true;
  std::vector<Narrowing> narrowings;
};

struct AssessmentDimension {
  std::string id, purpose;
  std::vector<std::string> levels;
  bool is_required = true;
};

struct AssessmentDefinition {
  std::string id, purpose;
  std::vector<AssessmentDimension> dimensions;
};

struct AssessmentConsequence {
  std::string level;
  std::string for_assessment;  // empty: any of the step's
  std::string guidance;
};

struct PromptFragment {
  std::string id;
  std::optional<Condition> when;
  std::string text;
};

// `requireConfirmation`. kEvaluator: `true`, a condition, or `coordinator_eval`. kPerson: `human_approval`.
struct Confirmation {
  enum class Kind { kNone, kEvaluator, kPerson };
  Kind kind = Kind::kNone;
  std::optional<Condition> when;
};

struct TemplateCall {
  std::string template_id;
  Value args;  // an object, may be empty
};

struct FunctionParameter {
  std::string name, type, description;
  bool is_required = false;
  Value choices;  // `enum`, or null
  Value default_value;
};
struct FunctionDefinition {
  std::string name, definition, scope;
  std::vector<FunctionParameter> parameters;
};
struct FunctionCall {
  std::string name;
  Value args;
};

struct Audit {
  std::string prompt;
  std::vector<std::string> rubric;
};
struct Verification {
  std::string command, prompt;
};
struct Synthesis {
  std::string prompt;
  std::optional<OutputContract> contract;
};

// A context key that must be set to a valid value when its step ends.
struct Capture {
  std::string key;
  Value schema;
};

// A context key that Signalbox sets when the step ends: the number of items of a list, or of those that meet a
// condition on the item. It replaces what an agent sends for it, so conditions may rely on it.
struct DerivedCount {
  std::string key = {}, of = {};
  std::optional<Condition> where = {};
};

struct Jump {
  Condition when;
  std::string to;  // an earlier step
  int max_times = 1;
};

// What may be touched while the step is open; enforced by the hook and by our own tools.
struct Interlock {
  bool writes_declared = false;
  std::vector<std::string> writes;  // globs; empty with writes_declared: nothing
  bool commands_read_only = false;
};

struct Loop {
  enum class Kind { kWhile, kUntil, kFor, kForEach };
  struct FromArtifact {
    std::string contract_ref, loop_id;
  };
  Kind kind = Kind::kWhile;
  int max_iterations = 1;
  // For while and until, derived when reading: explicit source first, then a body step with the loop-control contract,
  // then `condition`.
  std::variant<std::monostate, FromArtifact, Condition> source;
  std::variant<std::monostate, int, std::string> count;  // for kFor: a number or a key
  std::string items;                                     // for kForEach: a key
  std::string iteration_var = "currentIteration", item_var = "currentItem", index_var = "currentIndex";
  int parallel = 0;        // for kForEach: number of parallel iterations, each a child session
  std::string capture_as;  // for a parallel loop: the results, in the order of the items
};

struct Delegation {
  std::string id;  // `id`, else the workflow's id, made unique with -2, -3 …
  std::string workflow_id, goal;
  std::optional<Condition> run_condition;
  std::vector<std::pair<std::string, std::string>> context_mapping;  // parent's key, child's key
  std::vector<std::pair<std::string, std::string>> args;             // take precedence over the mapping
  std::optional<ModelTier> model_tier;
  std::vector<std::string> allowed_tools;
  std::string capture_as;
};

// The kinds of steps. A verification command makes an ordinary step that also runs the command when it is delivered.
struct WorkStep {};
struct Step;
struct LoopStep {
  Loop loop;
  std::string body_ref;  // the id of a step, instead of a body; gone after compiling
  std::vector<Step> body;
};
struct ParallelStep {
  std::vector<Delegation> delegations;
  int quorum = 0;  // 0: all
  std::optional<Synthesis> synthesis;
};
struct DecisionStep {
  Value declaration;  // as decision/declaration/declaration.hpp reads it, without `decision` and with `options` or …
  std::string options_from;  // … the key that holds them
  std::string capture_as;    // the step's id if none is given
};
struct CallStep {
  Delegation call;
};

struct Step {
  std::string id, title;
  std::variant<WorkStep, LoopStep, ParallelStep, DecisionStep, CallStep> what;

  std::string prompt;
  Value prompt_blocks;  // null if there are none; gone after compiling
  std::optional<TemplateCall> template_call;
  std::vector<PromptFragment> fragments;
  std::string agent_role;
  std::vector<std::string> guidance;
  std::optional<ModelTier> model_tier;
  bool ask_for_files = false, has_validation = false;

  Confirmation confirmation;
  std::optional<Condition> run_condition;
  std::optional<Criteria> criteria;
  std::optional<OutputContract> contract;
  std::vector<std::string> assessment_refs;
  std::vector<AssessmentConsequence> consequences;
  bool notes_optional = false;
  std::vector<FunctionDefinition> functions;
  std::vector<FunctionCall> function_calls;
  std::vector<std::string> function_references;  // without the `()`
  std::optional<Audit> audit;
  std::optional<Verification> verification;

  std::vector<std::string> needs;
  std::vector<Capture> captures;
  std::vector<DerivedCount> counts;
  std::optional<Jump> jump;
  Interlock interlock;

  std::string command;  // pinned virtual steps: what Signalbox runs when the step is delivered

  const LoopStep* loop() const { return std::get_if<LoopStep>(&what); }
  const ParallelStep* parallel() const { return std::get_if<ParallelStep>(&what); }
  const DecisionStep* decision() const { return std::get_if<DecisionStep>(&what); }
  const CallStep* call() const { return std::get_if<CallStep>(&what); }
};

struct ExtensionPoint {
  std::string slot, purpose, default_id;
};
struct Reference {
  std::string id, title, source, purpose;
  bool is_authoritative = false;
  bool from_package = false;
};

// Which inputs a restricted role receives; kept for the caller that starts it.
struct Isolation {
  std::string mode;  // full, task-only, challenger, blind, custom
  std::vector<std::string> inputs, include, exclude;
};

struct Definition {
  std::string id, name, description, version, about;
  std::vector<Step> steps;
  std::optional<ModelTier> model_tier;
  std::vector<std::string> preconditions, clarification_prompts, meta_guidance, features, examples;
  std::vector<FunctionDefinition> functions;
  std::string recommended_autonomy, recommended_risk_policy;
  std::vector<AssessmentDefinition> assessments;
  std::vector<ExtensionPoint> extension_points;
  std::vector<Reference> references;
  std::optional<int> spec_version;
  MetricsProfile metrics = MetricsProfile::kNone;
  std::optional<Role> role;
  std::optional<Isolation> isolation;

  Value source;  // the document it was read from; null for a pinned workflow, whose caller has it

  const AssessmentDefinition* assessment(std::string_view id) const;
};

// Whether the agent may see a context key: a blind one sees only the inputs that its definition names.
bool may_see(const Definition& definition, std::string_view key);
// The context without what its agent may not see.
Value visible_context(const Definition& definition, const Value& context);

enum class DefinitionForm {
  kAuthored,
  kPinned,  // what compile made: expanded ids (`a.b`), virtual steps, commands; no templates or blocks left
};

Checked<Definition> read_definition(const Document& document, DefinitionForm form = DefinitionForm::kAuthored);

// Every step, loops before their bodies, in document order.
template <class Visit>
void for_each_step(const std::vector<Step>& steps, const Visit& visit) {
  for (const Step& step : steps) {
    visit(step);
    if (const LoopStep* loop = step.loop()) for_each_step(loop->body, visit);
  }
}

std::string_view to_string(ModelTier tier);
std::string_view to_string(Role role);
std::string_view to_string(Loop::Kind kind);

}  // namespace sb::workflow
