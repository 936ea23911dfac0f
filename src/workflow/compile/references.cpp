// What the steps of a definition refer to outside their file: contracts, and workflows they start.
#include <algorithm>

#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

struct ReferenceCheck {
  const Surroundings& surroundings;
  const Trail* told_at;  // of a routine: the call
  FaultLog& faults;
  std::vector<CallSite>& calls;
  bool has_gate = false;

  void contract(const std::string& ref, const Trail& trail) {
    if (!surroundings.contract(ref)) {
      faults.tell_unknown(told_at ? *told_at : trail, FaultLog::Named::kContract, ref, surroundings.contract_refs());
    }
  }

  void call(const std::string& workflow_id, const Trail& trail) {
    calls.push_back({workflow_id, (told_at ? *told_at : trail).pointer()});
  }

  void parallel(const ParallelStep& parallel, const Trail& trail) {
    const Trail delegations = trail.at("parallelDelegations");
    for (std::size_t i = 0; i < parallel.delegations.size(); ++i) {
      const Trail delegation = delegations.at(i);
      call(parallel.delegations[i].workflow_id, delegation.at("workflowId"));
    }
    if (parallel.synthesis && parallel.synthesis->contract) {
      const Trail synthesis = trail.at("synthesis");
      const Trail output = synthesis.at("outputContract");
      contract(parallel.synthesis->contract->ref, output.at("contractRef"));
    }
  }

  void features(const std::vector<std::string>& ids, const Trail& trail) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (surroundings.feature(ids[i])) continue;
      faults.tell_unknown(told_at ? *told_at : trail.at(i), FaultLog::Named::kFeature, ids[i],
                          surroundings.feature_ids());
    }
  }

  void gate(const Step& step, const Trail& trail) {
    if (step.confirmation.kind != Confirmation::Kind::kEvaluator || has_gate) return;
    has_gate = true;
    const Trail& place = told_at ? *told_at : trail;
    calls.push_back({std::string(kGateWorkflow), place.pointer(), true});
  }

  void step(const Step& step, const Trail& trail) {
    gate(step, trail.at("requireConfirmation"));
    if (step.contract) {
      const Trail output = trail.at("outputContract");
      contract(step.contract->ref, output.at("contractRef"));
    }
    if (const ParallelStep* what = step.parallel()) parallel(*what, trail);
    if (const CallStep* what = step.call()) call(what->call.workflow_id, trail.at("workflowId"));
    if (const LoopStep* what = step.loop()) {
      if (const auto* artifact = std::get_if<Loop::FromArtifact>(&what->loop.source)) {
        const Trail loop = trail.at("loop");
        const Trail source = loop.at("conditionSource");
        contract(artifact->contract_ref, source.at("contractRef"));
      }
      steps(what->body, trail.at("body"));
    }
  }

  void steps(const std::vector<Step>& all, const Trail& trail) {
    for (std::size_t i = 0; i < all.size(); ++i) step(all[i], trail.at(i));
  }
};

}  // namespace

void check_references(const Definition& definition, const Surroundings& surroundings, const Trail* told_at,
                      FaultLog& faults, std::vector<CallSite>& calls) {
  const Trail root;
  ReferenceCheck check{surroundings, told_at, faults, calls};
  check.features(definition.features, root.at("features"));
  check.steps(definition.steps, root.at("steps"));
}

}  // namespace sb::workflow
