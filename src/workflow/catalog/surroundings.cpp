#include "workflow/catalog/surroundings.hpp"

#include "base/document/document.hpp"
#include "workflow/catalog/bindings.hpp"
#include "workflow/catalog/source_file.hpp"
#include "workflow/catalog/unresolved_names.hpp"
#include "workflow/compile/builtin_texts.hpp"

namespace sb::workflow {
namespace {

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

const Contract* CatalogSurroundings::contract(std::string_view ref) const {
  return catalog_.contracts_.find(ref);
}

std::vector<std::string> CatalogSurroundings::contract_refs() const {
  return catalog_.contracts_.refs();
}

const Definition* CatalogSurroundings::routine(std::string_view template_id) const {
  const auto found = catalog_.routines_.find(template_id);
  return found == catalog_.routines_.end() ? nullptr : used(*found->second);
}

std::vector<std::string> CatalogSurroundings::template_ids() const {
  return keys_of(catalog_.routines_);
}

const Definition* CatalogSurroundings::workflow(std::string_view id) const {
  const auto found = catalog_.entries_.find(id);
  return found == catalog_.entries_.end() ? nullptr : used(*found->second);
}

std::vector<std::string> CatalogSurroundings::workflow_ids() const {
  return keys_of(catalog_.entries_);
}

const Value* CatalogSurroundings::feature(std::string_view id) const {
  const auto found = catalog_.features_.find(id);
  return found == catalog_.features_.end() ? nullptr : &found->second;
}

std::vector<std::string> CatalogSurroundings::feature_ids() const {
  return keys_of(catalog_.features_);
}

const std::string* CatalogSurroundings::ref(std::string_view id) const {
  const auto found = builtin_refs().find(id);
  return found == builtin_refs().end() ? nullptr : &found->second;
}

std::vector<std::string> CatalogSurroundings::ref_ids() const {
  return keys_of(builtin_refs());
}

const std::string* CatalogSurroundings::binding(std::string_view workflow_id, std::string_view slot) const {
  for (const std::string_view of : {workflow_id, std::string_view()}) {
    const auto found = catalog_.bindings_.find(binding_key(of, slot));
    if (found != catalog_.bindings_.end()) return &found->second;
  }
  return nullptr;
}

const Definition* CatalogSurroundings::used(const Entry& entry) const {
  if (entry.origin.kind == SourceKind::kProject) borrowed_.emplace(entry.origin.file, entry.origin);
  return entry.definition.get();
}

std::vector<Origin> CatalogSurroundings::borrowed() const {
  std::vector<Origin> all;
  for (const auto& [file, origin] : borrowed_) all.push_back(origin);
  return all;
}

Checked<Bundle> Catalog::compile(const Entry& entry, std::vector<Origin>* borrowed) const {
  if (!entry.definition) return std::unexpected(entry.faults);
  if (const Value* pinned = pinned_bundle(entry.document->root)) {
    auto bundle = read_bundle(*pinned);
    if (!bundle) return std::unexpected(Faults{std::move(bundle).error()});
    return std::move(*bundle);
  }
  const CatalogSurroundings surroundings(*this);
  auto bundle = workflow::compile(*entry.document, *entry.definition, surroundings);
  if (borrowed != nullptr) *borrowed = surroundings.borrowed();
  return bundle;
}

Checked<Bundle> Catalog::compile(const Document& document) const {
  const CatalogSurroundings around(*this);
  const auto definition = read_definition(document);
  if (!definition) return std::unexpected(in_order(definition.error(), unknown_names(document, around)));
  return workflow::compile(document, *definition, around);
}

}  // namespace sb::workflow
