// What the steps of a definition refer to outside their file: contracts, and the workflows they start.
#include <algorithm>

#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

struct ReferenceCheck {
  const ReferenceResolver& resolver;
  const PointerPath* reported_at;  // for a routine: the call
  FaultLog& faults;
  std::vector<CallSite>& calls;
  bool has_gate = false;

  void contract(const std::string& ref, const PointerPath& path) {
    if (!resolver.contract(ref)) {
      faults.add_unknown(reported_at ? *reported_at : path, FaultLog::ReferenceKind::kContract, ref,
                         resolver.contract_refs());
    }
  }

  void call(const std::string& workflow_id, const PointerPath& path) {
    calls.push_back({workflow_id, (reported_at ? *reported_at : path).pointer()});
  }

  void parallel(const ParallelStep& parallel, const PointerPath& path) {
    const PointerPath delegations = path.at("parallelDelegations");
    for (std::size_t i = 0; i < parallel.delegations.size(); ++i) {
      const PointerPath delegation = delegations.at(i);
      call(parallel.delegations[i].workflow_id, delegation.at("workflowId"));
    }
    if (parallel.synthesis && parallel.synthesis->contract) {
      const PointerPath synthesis = path.at("synthesis");
      const PointerPath output = synthesis.at("outputContract");
      contract(parallel.synthesis->contract->ref, output.at("contractRef"));
    }
  }

  void features(const std::vector<std::string>& ids, const PointerPath& path) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (resolver.feature(ids[i])) continue;
      faults.add_unknown(reported_at ? *reported_at : path.at(i), FaultLog::ReferenceKind::kFeature, ids[i],
                         resolver.feature_ids());
    }
  }

  void gate(const Step& step, const PointerPath& path) {
    if (step.confirmation.kind != Confirmation::Kind::kEvaluator || has_gate) return;
    has_gate = true;
    const PointerPath& place = reported_at ? *reported_at : path;
    calls.push_back({std::string(kGateWorkflow), place.pointer(), true});
  }

  void step(const Step& step, const PointerPath& path) {
    gate(step, path.at("requireConfirmation"));
    if (step.contract) {
      const PointerPath output = path.at("outputContract");
      contract(step.contract->ref, output.at("contractRef"));
    }
    if (const ParallelStep* what = step.parallel()) parallel(*what, path);
    if (const CallStep* what = step.call()) call(what->call.workflow_id, path.at("workflowId"));
    if (const LoopStep* what = step.loop()) {
      if (const auto* artifact = std::get_if<Loop::FromArtifact>(&what->loop.source)) {
        const PointerPath loop = path.at("loop");
        const PointerPath source = loop.at("conditionSource");
        contract(artifact->contract_ref, source.at("contractRef"));
      }
      steps(what->body, path.at("body"));
    }
  }

  void steps(const std::vector<Step>& all, const PointerPath& path) {
    for (std::size_t i = 0; i < all.size(); ++i) step(all[i], path.at(i));
  }
};

}  // namespace

void check_references(const Definition& definition, const ReferenceResolver& resolver, const PointerPath* reported_at,
                      FaultLog& faults, std::vector<CallSite>& calls) {
  const PointerPath root;
  ReferenceCheck check{resolver, reported_at, faults, calls};
  check.features(definition.features, root.at("features"));
  check.steps(definition.steps, root.at("steps"));
}

}  // namespace sb::workflow
