// The parts of read_definition; internal to this folder.
//
// Each read_* reads what it can and reports a fault for what it cannot: one mistake never prevents reading the rest of
// the file, and a fault that only follows from another is not reported.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/reader.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::workflow {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

template <class E>
using Table = std::pair<std::string_view, E>;

inline constexpr Table<ModelTier> kModelTiers[] = {
    {"lightweight", ModelTier::kLightweight}, {"mid", ModelTier::kMid}, {"heavy", ModelTier::kHeavy}};

// The context of the step that is being read.
struct StepReadContext {
  DefinitionForm form = DefinitionForm::kAuthored;
  const Definition* definition = nullptr;            // its head is read before its steps
  std::vector<const FunctionDefinition*> functions;  // in scope, outermost first
  std::vector<std::string> loop_names;               // variables of enclosing loops, outermost first
  int depth = 0;                                     // number of enclosing loops
  std::size_t steps = 0;                             // read so far

  bool is_pinned() const { return form == DefinitionForm::kPinned; }
  // Compiled texts may be longer than authored ones.
  std::size_t longest(std::size_t authored) const { return is_pinned() ? kNoLimit : authored; }
};

// `rule` is the stable name that `workflow check --json` prints.
void fault(const Reader& reader, std::string_view rule, std::string message, std::string remedy);
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known, std::string_view otherwise);

// Ends the reading of an object: unknown members are faults; missing ones are reported only if there are no unknown
// ones. Returns whether there was neither.
bool finish(Fields& fields, std::initializer_list<std::string_view> required = {});

// Lengths are in code points.
std::optional<std::string> read_text(const Reader& reader, std::size_t min = 0, std::size_t max = kNoLimit);
std::string text_of(Fields& fields, std::string_view name, std::size_t min = 0, std::size_t max = kNoLimit);
bool flag_of(Fields& fields, std::string_view name, bool otherwise = false);
std::optional<int> read_count(const Reader& reader, int min, int max);  // 3 and 3.0

enum class Duplicates { kAllowed, kFault };
struct ListRules {
  std::size_t min_items = 0, max_items = kNoLimit, min_length = 0, max_length = kNoLimit;
  Duplicates duplicates = Duplicates::kAllowed;
};
std::vector<std::string> texts_of(Fields& fields, std::string_view name, const ListRules& rules = {});
// The list's items, and a fault if there are too few, too many, or two equal ones.
std::vector<Reader> items_of(Fields& fields, std::string_view name, const ListRules& rules = {});
std::vector<std::pair<std::string, std::string>> text_map_of(Fields& fields, std::string_view name);

bool is_name(std::string_view text);  // [a-zA-Z_][a-zA-Z0-9_]*
// A context key that a workflow sets: a name of at most 64 characters.
std::string key_of(Fields& fields, std::string_view name);
std::string name_of(Fields& fields, std::string_view name);

std::optional<Condition> condition_of(Fields& fields, std::string_view name);
std::optional<ModelTier> tier_of(Fields& fields);

// step.cpp
std::vector<Step> read_steps(const Reader& list, StepReadContext& reading);
std::string read_step_id(Fields& fields, const StepReadContext& reading);
void read_common(Fields& fields, Step& step);  // requireConfirmation, runCondition, notesOptional
void read_needs(Fields& fields, const StepReadContext& reading, Step& step);
void read_needs_and_jump(Fields& fields, const StepReadContext& reading, Step& step);  // needs, jumpIf
void read_interlock(Fields& fields, Step& step);                                       // writes, commands

// work.cpp, loop.cpp, delegation.cpp, decision.cpp: the fields of one kind, up to finish().
void read_work(Fields& fields, StepReadContext& reading, Step& step);
void read_loop(Fields& fields, StepReadContext& reading, Step& step);
void read_parallel(Fields& fields, StepReadContext& reading, Step& step);
void read_call(Fields& fields, StepReadContext& reading, Step& step);
void read_decision(Fields& fields, StepReadContext& reading, Step& step);

// prompt.cpp
void read_prompt(Fields& fields, const StepReadContext& reading, Step& step);
std::optional<OutputContract> contract_of(Fields& fields);

// derived.cpp
std::vector<Narrowing> narrowings_of(Fields& fields);  // `narrow` of an output contract
std::vector<DerivedCount> counts_of(Fields& fields);

// assessment.cpp
std::vector<AssessmentDefinition> read_assessments(Fields& fields);
void read_assessment_use(Fields& fields, const StepReadContext& reading, Step& step);

// function.cpp
std::vector<FunctionDefinition> read_functions(Fields& fields, Duplicates duplicates);
void read_function_use(Fields& fields, StepReadContext& reading, Step& step);

// checks.cpp: checks that need all steps. Also determines what ends each loop.
void check_steps(Definition& definition, const Reader& root);
// sense.cpp: unreachable steps, loops that cannot end, keys that nothing sets. Only for files without other faults.
void check_semantics(const Definition& definition, const Reader& root);

}  // namespace sb::workflow
