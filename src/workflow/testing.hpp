// Shared by the tests of workflows: definitions from text, and a resolver that the test fills.
//
//   FakeResolver around;                             // the built-in contracts, features and refs; nothing else
//   around.add_workflow("{id: other, …}");
//   around.add_routine("wr.templates.routine.look", "…");
//   Bundle bundle = compiled("{id: mine, …}", around);   // the test fails, and ends, on a fault
//   std::string faults = compile_faults("…", around);    // one fault per line
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workflow/compile/builtin_texts.hpp"
#include "workflow/compile/compile.hpp"

namespace sb::workflow {

inline Document document_from(std::string text, std::string name = "test.yaml") {
  auto document = parse_document(std::move(name), std::move(text));
  if (!document) {
    ADD_FAILURE() << document.error().to_string();
    std::abort();
  }
  return std::move(*document);
}

inline std::string to_lines(const Faults& faults) {
  std::string out;
  for (const Error& fault : faults) out += fault.to_string() + "\n";
  return out;
}

inline Definition defined(const Document& document, DefinitionForm form = DefinitionForm::kAuthored) {
  auto definition = read_definition(document, form);
  if (!definition) {
    ADD_FAILURE() << to_lines(definition.error());
    std::abort();
  }
  return std::move(*definition);
}

inline Definition defined(std::string text) {
  return defined(document_from(std::move(text)));
}

// The faults that read_definition reports, one per line; empty if there are none.
inline std::string definition_faults(std::string text) {
  const auto definition = read_definition(document_from(std::move(text)));
  return definition ? "" : to_lines(definition.error());
}

class FakeResolver : public ReferenceResolver {
 public:
  void add_workflow(std::string text) {
    auto definition = std::make_shared<Definition>(defined(std::move(text)));
    workflows_[definition->id] = std::move(definition);
  }
  void add_routine(std::string template_id, std::string text) {
    routines_[std::move(template_id)] = std::make_shared<Definition>(defined(std::move(text)));
  }
  void add_contract(std::string text) {
    auto contract = read_contract(document_from(std::move(text)));
    if (!contract) {
      ADD_FAILURE() << to_lines(contract.error());
      std::abort();
    }
    contracts_.add(std::make_shared<Contract>(std::move(*contract)));
  }
  void add_feature(std::string id, Value feature) { features_[std::move(id)] = std::move(feature); }
  void add_ref(std::string id, std::string text) { refs_[std::move(id)] = std::move(text); }
  void bind(const std::string& workflow_id, const std::string& slot, std::string to) {
    bindings_[{workflow_id, slot}] = std::move(to);
  }

  const Contract* contract(std::string_view ref) const override { return contracts_.find(ref); }
  std::vector<std::string> contract_refs() const override { return contracts_.refs(); }
  const Definition* routine(std::string_view id) const override { return pointer_in(routines_, id); }
  std::vector<std::string> template_ids() const override { return names_in(routines_); }
  const Definition* workflow(std::string_view id) const override { return pointer_in(workflows_, id); }
  std::vector<std::string> workflow_ids() const override { return names_in(workflows_); }
  const Value* feature(std::string_view id) const override { return find_in(features_, id); }
  std::vector<std::string> feature_ids() const override { return names_in(features_); }
  const std::string* ref(std::string_view id) const override { return find_in(refs_, id); }
  std::vector<std::string> ref_ids() const override { return names_in(refs_); }
  const std::string* binding(std::string_view workflow_id, std::string_view slot) const override {
    const auto found = bindings_.find({std::string(workflow_id), std::string(slot)});
    return found == bindings_.end() ? nullptr : &found->second;
  }

 private:
  template <class T>
  using ById = std::map<std::string, T, std::less<>>;
  template <class T>
  static const T* find_in(const ById<T>& map, std::string_view id) {
    const auto found = map.find(id);
    return found == map.end() ? nullptr : &found->second;
  }
  template <class T>
  static const T* pointer_in(const ById<std::shared_ptr<T>>& map, std::string_view id) {
    const auto* found = find_in(map, id);
    return found ? found->get() : nullptr;
  }
  template <class T>
  static std::vector<std::string> names_in(const ById<T>& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
  }

  Contracts contracts_ = Contracts::bundled();
  ById<std::shared_ptr<Definition>> routines_, workflows_;
  ById<Value> features_ = builtin_features();
  ById<std::string> refs_ = builtin_refs();
  std::map<std::pair<std::string, std::string>, std::string> bindings_;
};

inline Checked<Bundle> compile_text(std::string text, const ReferenceResolver& around = FakeResolver()) {
  const Document document = document_from(std::move(text));
  auto definition = read_definition(document);
  if (!definition) return std::unexpected(std::move(definition.error()));
  return compile(document, *definition, around);
}

inline Bundle compiled(std::string text, const ReferenceResolver& around = FakeResolver()) {
  auto bundle = compile_text(std::move(text), around);
  if (!bundle) {
    ADD_FAILURE() << to_lines(bundle.error());
    std::abort();
  }
  return std::move(*bundle);
}

// The faults of reading and compiling, one per line; empty if there are none.
inline std::string compile_faults(std::string text, const ReferenceResolver& around = FakeResolver()) {
  const auto bundle = compile_text(std::move(text), around);
  return bundle ? "" : to_lines(bundle.error());
}

}  // namespace sb::workflow
