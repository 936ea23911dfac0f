// Turns a definition into what a session pins.
//
// Pure and deterministic: the same files give the same bytes and the same hash on every machine. Passes, in this order:
//   templates      a step with `templateCall` becomes the routine's steps, ids `caller.step`, `{arg}` filled in, the
//                  caller's runCondition if a step has none, the routine's metaGuidance as guidance
//   bindings       {{wr.bindings.slot}} in prompts and blocks: the project's override, else the default
//   features       their constraints, procedure and checks added to every step that has promptBlocks
//   refs           {kind: ref} parts of blocks replaced by their text
//   promptBlocks   rendered to `prompt` (Goal, Constraints, Procedure, Output Required, Verify)
//   scan           any remaining `{{wr.` is a fault
//   loop bodies    a body given as a step's id is moved into its loop
//   virtual steps  `x__verification`, `x__audit`, `x__synthesis` become separate steps, in that order
//
// The pinned form is one JSON value:
//   {v: 1, workflow: {…the expanded definition, readable by read_definition(kPinned)…},
//    contracts: {ref: {…the contract's file…}}, bindings: {slot: id}, calls: {workflowId: hash}}
// `hash` is "sha256:" and the hex SHA-256 of its canonical JSON (RFC 8785). `calls` are the workflows that parallel and
// workflow steps start, pinned with it, so the hash covers them. Bodies of parallel loops are separate workflows:
// `calls` has them under `loopId` + "#body".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "workflow/check/contract.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::workflow {

// What a definition may refer to outside its own file.
class ReferenceResolver {
 public:
  virtual ~ReferenceResolver() = default;
  virtual const Contract* contract(std::string_view ref) const = 0;
  virtual std::vector<std::string> contract_refs() const = 0;
  // A routine by its template id (`wr.templates.routine.NAME`); null if there is none or it does not load.
  virtual const Definition* routine(std::string_view template_id) const = 0;
  virtual std::vector<std::string> template_ids() const = 0;
  // A workflow that a step starts; null if there is none or it does not load.
  virtual const Definition* workflow(std::string_view id) const = 0;
  virtual std::vector<std::string> workflow_ids() const = 0;
  virtual const Value* feature(std::string_view id) const = 0;  // {constraints, procedure, verify}: lists of strings
  virtual std::vector<std::string> feature_ids() const = 0;
  virtual const std::string* ref(std::string_view id) const = 0;
  virtual std::vector<std::string> ref_ids() const = 0;
  // The project's override of a slot; null if it has none.
  virtual const std::string* binding(std::string_view workflow_id, std::string_view slot) const = 0;
};

// A pinned workflow, ready to execute. Immutable.
struct CompiledWorkflow {
  Value pinned;
  std::string hash;       // "sha256:…"
  Definition definition;  // its `source` is null: `pinned` has it
  Contracts contracts;    // those it uses
  std::map<std::string, std::string> bindings;
  std::map<std::string, std::string> calls;  // workflow id to hash
};

// The workflow and everything it calls, callees first, itself last; each once.
using Bundle = std::vector<std::shared_ptr<const CompiledWorkflow>>;

// Compiles several definitions with the same resolver, which must not change meanwhile: callees are compiled once.
// Not thread-safe.
class Compiler {
 public:
  explicit Compiler(const ReferenceResolver& resolver) : resolver_(&resolver) {}
  Checked<Bundle> compile(const Document& document, const Definition& definition);

 private:
  struct Linking;
  Bundle compile_one(const Definition& definition, class FaultLog& faults);
  std::optional<Definition> read_expanded(Value& workflow, const Definition& definition, FaultLog& faults);
  void link(const struct CallSite& site, const Definition& definition, Linking& linking, FaultLog& faults);
  const Bundle* compile_callee(const Definition& callee, const CallSite& site, FaultLog& faults);
  std::shared_ptr<const CompiledWorkflow> finish(Value workflow, Definition definition, const Definition& authored,
                                                 Linking& linking, FaultLog& faults);

  const ReferenceResolver* resolver_;
  std::map<std::string, Bundle, std::less<>> callees_;  // by id
  std::vector<std::string> stack_;                      // ids of those being compiled, the outermost first
  std::set<std::string, std::less<>> broken_;           // callees already reported in this call
};

// Faults have locations in `document`, the file the definition was read from. They are identified by
// SourceLocation::pointer and message; a routine's own fault is reported at the call.
Checked<Bundle> compile(const Document& document, const Definition& definition, const ReferenceResolver& resolver);

// Reads back what was pinned; kCorrupt if compile cannot have made it.
Result<std::shared_ptr<const CompiledWorkflow>> read_pinned(const Value& pinned);

}  // namespace sb::workflow
