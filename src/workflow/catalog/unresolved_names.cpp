#include "workflow/catalog/unresolved_names.hpp"

#include <algorithm>
#include <array>

#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

using Named = FaultLog::Named;

// What an author may fill with names of their own choice.
constexpr std::array<std::string_view, 7> kFree = {"schema",         "captures", "args",  "contextMapping",
                                                   "outputRequired", "equals",   "narrow"};

class Search {
 public:
  Search(const Document& document, const Surroundings& surroundings)
      : surroundings_(surroundings), log_(&document, document.name) {}

  Faults run(const Value& root) && {
    const Trail top;
    if (const Value* features = root.find("features"); features != nullptr && features->is_array()) {
      const Trail list = top.at("features");
      for (std::size_t i = 0; i < features->size(); ++i) look_at(Named::kFeature, features->items()[i], list.at(i));
    }
    if (const Value* steps = root.find("steps")) visit(*steps, top.at("steps"));
    return log_.take();
  }

 private:
  void visit(const Value& value, const Trail& trail) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) visit(value.items()[i], trail.at(i));
    }
    if (!value.is_object()) return;
    for (const Value::Member& member : value.members()) {
      const Trail here = trail.at(member.name);
      if (member.name == "contractRef") look_at(Named::kContract, member.value, here);
      if (member.name == "templateId") look_at(Named::kTemplate, member.value, here);
      if (member.name == "refId") look_at(Named::kRef, member.value, here);
      if (member.name == "workflowId") look_at(Named::kWorkflow, member.value, here);
      if (std::ranges::find(kFree, member.name) == kFree.end()) visit(member.value, here);
    }
  }

  void look_at(Named kind, const Value& name, const Trail& trail) {
    if (name.is_string() && !is_known(kind, name.as_string())) {
      log_.tell_unknown(trail, kind, name.as_string(), known(kind));
    }
  }

  bool is_known(Named kind, const std::string& name) const {
    switch (kind) {
      case Named::kContract:
        return surroundings_.contract(name) != nullptr;
      case Named::kTemplate:
        return surroundings_.routine(name) != nullptr;
      case Named::kFeature:
        return surroundings_.feature(name) != nullptr;
      case Named::kRef:
        return surroundings_.ref(name) != nullptr;
      case Named::kWorkflow:
        return surroundings_.workflow(name) != nullptr;
    }
    return true;
  }

  std::vector<std::string> known(Named kind) const {
    switch (kind) {
      case Named::kContract:
        return surroundings_.contract_refs();
      case Named::kTemplate:
        return surroundings_.template_ids();
      case Named::kFeature:
        return surroundings_.feature_ids();
      case Named::kRef:
        return surroundings_.ref_ids();
      case Named::kWorkflow:
        return surroundings_.workflow_ids();
    }
    return {};
  }

  const Surroundings& surroundings_;
  FaultLog log_;
};

}  // namespace

Faults unknown_names(const Document& document, const Surroundings& surroundings) {
  return Search(document, surroundings).run(document.root);
}

Faults in_order(Faults one, Faults other) {
  std::ranges::move(other, std::back_inserter(one));
  std::ranges::stable_sort(one, [](const Error& a, const Error& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  return one;
}

}  // namespace sb::workflow
