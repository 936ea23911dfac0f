// The passes of compile.hpp, and what they share. Internal to this folder.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "workflow/compile/compile.hpp"

namespace sb::workflow {

// Judges the gates of other workflows.
inline constexpr std::string_view kGateWorkflow = "wr.gate-eval-generic";

// A place in the document as a chain, so that its pointer is built only when a fault is reported.
class PointerPath {
 public:
  PointerPath() = default;
  // The parent must outlive its children.
  PointerPath at(std::string_view name) const { return PointerPath(this, name, 0); }
  PointerPath at(std::size_t index) const { return PointerPath(this, {}, index); }
  std::string pointer() const;

 private:
  PointerPath(const PointerPath* parent, std::string_view name, std::size_t index)
      : parent_(parent), name_(name), index_(index) {}
  const PointerPath* parent_ = nullptr;
  std::string_view name_;  // empty: an index
  std::size_t index_ = 0;
};

// The faults of one definition.
class FaultLog {
 public:
  // Without a document (for a callee, whose first fault is reported at the call) faults have only name and pointer.
  FaultLog(const Document* document, std::string name) : document_(document), name_(std::move(name)) {}
  // `rule` is the stable name for programs, a literal.
  void add(std::string pointer, std::string_view rule, std::string message, std::string remedy,
           ErrorCode code = ErrorCode::kInvalid);
  void add(const PointerPath& path, std::string_view rule, std::string message, std::string remedy,
           ErrorCode code = ErrorCode::kInvalid) {
    add(path.pointer(), rule, std::move(message), std::move(remedy), code);
  }
  // `no contract is called "x"`, with the nearest existing name. The rule is `unknown_` and the kind.
  enum class ReferenceKind { kContract, kTemplate, kFeature, kRef, kWorkflow };
  void add_unknown(std::string pointer, ReferenceKind kind, std::string_view name, std::vector<std::string> known);
  void add_unknown(const PointerPath& path, ReferenceKind kind, std::string_view name, std::vector<std::string> known) {
    add_unknown(path.pointer(), kind, name, std::move(known));
  }
  bool is_empty() const { return faults_.empty(); }
  Faults take();  // in document order

 private:
  const Document* document_;
  std::string name_;
  Faults faults_;
};

// Fills a step's texts with bindings, features and refs, for the steps of one definition.
struct ExpansionScope {
  const Definition* definition = nullptr;
  const ExpansionScope* caller = nullptr;     // for a routine's steps
  std::vector<const Value*> features;         // in the order they are applied
  std::vector<std::string_view> feature_ids;  // the same, by name
  const Value* args = nullptr;                // for a routine's steps
  std::string prefix;                         // of a routine's step ids: `caller.`
  const PointerPath* reported_at = nullptr;   // for a routine's steps: the call, where their faults are reported
  std::string_view template_id;
  int depth = 0;
};

// text.cpp: filling in texts.

// `{name}` is replaced by the argument of that name; `\{name}` means a literal `{name}`. Names without an argument, or
// with one that is not a string, number or boolean, stay as they are and are added to `missing` and `unfit`.
struct FilledText {
  std::string text;
  std::vector<std::string> missing, unfit;
  bool too_long = false;
};
FilledText fill_arguments(std::string_view text, const Value& args);

// What slots are bound to. A routine's own slot is stored under its call: `caller.slot`.
using SlotBindings = std::map<std::string, std::string>;
// {{wr.bindings.slot}} is replaced by what the slot is bound to. Reading has checked that the slot exists.
void fill_bindings(std::string& text, const ExpansionScope& scope, const ReferenceResolver& resolver,
                   SlotBindings& used);

// blocks.cpp: promptBlocks.

// The prompt made from the blocks, features and refs. Texts have been filled in before.
std::string render_blocks(const Value& blocks, std::span<const Value* const> features,
                          const ReferenceResolver& resolver, const PointerPath& path, FaultLog& faults);

// A workflow that a step starts, and where the step names it.
struct CallSite {
  std::string workflow_id;
  std::string pointer;
  bool is_implied = false;  // by a gate
};

// references.cpp: what a definition refers to outside its file. Faults for features and contracts that do not
// exist; the calls found are added to `calls`. `reported_at`: for a routine, the call.
void check_references(const Definition& definition, const ReferenceResolver& resolver, const PointerPath* reported_at,
                      FaultLog& faults, std::vector<CallSite>& calls);

// steps.cpp, templates.cpp: expand the definition's value, except for virtual steps.
class Expander {
 public:
  // The workflows that steps of routines start are added to `calls`.
  Expander(const ReferenceResolver& resolver, FaultLog& faults, std::vector<CallSite>& calls)
      : resolver_(&resolver), faults_(&faults), calls_(&calls) {}
  // The value of the whole workflow. Not usable if there are faults.
  Value expand(const Definition& definition);
  // The same for a definition that has_same_steps: in place, in both its source and its steps.
  void fill_in(Definition& definition);
  const SlotBindings& bindings() const { return bindings_; }

 private:
  using Steps = Value::Array;
  // A list of steps with the values they were read from; bodies that its loops name are left to those loops.
  void expand_list(const ExpansionScope& scope, const std::vector<Step>& steps, const Value& sources,
                   const PointerPath& path, Steps& out);
  void fill_list(const ExpansionScope& scope, std::vector<Step>& steps, Value& sources, const PointerPath& path);
  void expand_step(const ExpansionScope& scope, const Step& step, const Value& source, const PointerPath& own_trail,
                   Steps& out);
  void fill_texts(const ExpansionScope& scope, const Step& step, const PointerPath& path, Value& value);
  // `must_have_arguments`: a `{name}` without an argument is a fault.
  void fill_text(const ExpansionScope& scope, bool must_have_arguments, Value& text);
  void fill_block(const ExpansionScope& scope, Value& block);
  void fill_routine_texts(const ExpansionScope& scope, Value& value);
  void write_blocks(const ExpansionScope& scope, const PointerPath& path, Value& value);
  void add_features(const Definition& definition, ExpansionScope& scope);
  bool has_room(const PointerPath& path);

  void expand_call(const ExpansionScope& scope, const Step& step, const Value& source, const PointerPath& path,
                   Steps& out);
  bool enter_routine(const ExpansionScope& scope, const Step& step, const PointerPath& path, ExpansionScope& inner);
  void report_arguments(const ExpansionScope& scope, const FilledText& filled, bool must_have_arguments);
  void add_routine_assessments(const ExpansionScope& scope, const Definition& routine, const PointerPath& path);

  const ReferenceResolver* resolver_;
  FaultLog* faults_;
  std::vector<CallSite>* calls_;
  SlotBindings bindings_;
  std::set<const Definition*> routines_;                              // whose references have been checked
  std::map<std::string, std::string> first_of_call_;                  // a call's id to the id of its first step
  std::set<std::pair<std::string, std::string>> reported_arguments_;  // the call, the argument
  std::set<std::string> reported_cycles_;                             // the outermost calls that lead into a cycle
  std::vector<Value> assessments_;                                    // of routines
  std::size_t steps_ = 0;
  bool is_full_ = false;
};

// Applies what the calling step says besides the call to the steps that replaced it.
void apply_caller_fields(const Value& caller, std::span<Value> steps, const PointerPath& path, FaultLog& faults);

// virtual_steps.cpp

// Turns verification, audit and synthesis of every step into separate steps, also inside loops.
void add_virtual_steps(Value::Array& steps);

// pin.cpp

// Compiling only renders blocks: no step becomes several, none moves, no other text changes.
bool has_same_steps(const Definition& definition);
std::set<std::string> contracts_used(const Definition& definition);
// By the steps that the workflow's own session opens, gates included.
std::set<std::string> workflows_started(const Definition& definition);
// The bodies of the outermost parallel loops, each as a workflow.
std::vector<Value> parallel_bodies(const Value& workflow);
// `definition` has been read from `workflow`.
std::shared_ptr<const CompiledWorkflow> pin(Value workflow, Definition definition,
                                            std::map<std::string, std::string> bindings,
                                            std::map<std::string, std::string> calls,
                                            const ReferenceResolver& resolver);

}  // namespace sb::workflow
