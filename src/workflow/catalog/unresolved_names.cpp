#include "workflow/catalog/unresolved_names.hpp"

#include <algorithm>
#include <array>

#include "base/document/faults.hpp"
#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

using ReferenceKind = FaultLog::ReferenceKind;

// Members whose names are the author's free choice.
constexpr std::array<std::string_view, 7> kFree = {"schema",         "captures", "args",  "contextMapping",
                                                   "outputRequired", "equals",   "narrow"};

class Search {
 public:
  Search(const Document& document, const ReferenceResolver& resolver)
      : resolver_(resolver), log_(&document, document.name) {}

  Faults run(const Value& root) && {
    const PointerPath top;
    if (const Value* features = root.find("features"); features != nullptr && features->is_array()) {
      const PointerPath list = top.at("features");
      for (std::size_t i = 0; i < features->size(); ++i)
        look_at(ReferenceKind::kFeature, features->items()[i], list.at(i));
    }
    if (const Value* steps = root.find("steps")) visit(*steps, top.at("steps"));
    return log_.take();
  }

 private:
  void visit(const Value& value, const PointerPath& path) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) visit(value.items()[i], path.at(i));
    }
    if (!value.is_object()) return;
    for (const Value::Member& member : value.members()) {
      const PointerPath here = path.at(member.name);
      if (member.name == "contractRef") look_at(ReferenceKind::kContract, member.value, here);
      if (member.name == "templateId") look_at(ReferenceKind::kTemplate, member.value, here);
      if (member.name == "refId") look_at(ReferenceKind::kRef, member.value, here);
      if (member.name == "workflowId") look_at(ReferenceKind::kWorkflow, member.value, here);
      if (std::ranges::find(kFree, member.name) == kFree.end()) visit(member.value, here);
    }
  }

  void look_at(ReferenceKind kind, const Value& name, const PointerPath& path) {
    if (name.is_string() && !is_known(kind, name.as_string())) {
      log_.add_unknown(path, kind, name.as_string(), known(kind));
    }
  }

  bool is_known(ReferenceKind kind, const std::string& name) const {
    switch (kind) {
      case ReferenceKind::kContract:
        return resolver_.contract(name) != nullptr;
      case ReferenceKind::kTemplate:
        return resolver_.routine(name) != nullptr;
      case ReferenceKind::kFeature:
        return resolver_.feature(name) != nullptr;
      case ReferenceKind::kRef:
        return resolver_.ref(name) != nullptr;
      case ReferenceKind::kWorkflow:
        return resolver_.workflow(name) != nullptr;
    }
    return true;
  }

  std::vector<std::string> known(ReferenceKind kind) const {
    switch (kind) {
      case ReferenceKind::kContract:
        return resolver_.contract_refs();
      case ReferenceKind::kTemplate:
        return resolver_.template_ids();
      case ReferenceKind::kFeature:
        return resolver_.feature_ids();
      case ReferenceKind::kRef:
        return resolver_.ref_ids();
      case ReferenceKind::kWorkflow:
        return resolver_.workflow_ids();
    }
    return {};
  }

  const ReferenceResolver& resolver_;
  FaultLog log_;
};

}  // namespace

Faults unknown_names(const Document& document, const ReferenceResolver& resolver) {
  return Search(document, resolver).run(document.root);
}

Faults in_order(Faults one, Faults other) {
  std::ranges::move(other, std::back_inserter(one));
  sort_faults(one);
  return one;
}

}  // namespace sb::workflow
