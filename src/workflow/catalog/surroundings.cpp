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

const Contract* CatalogResolver::contract(std::string_view ref) const {
  return catalog_.contracts_.find(ref);
}

std::vector<std::string> CatalogResolver::contract_refs() const {
  return catalog_.contracts_.refs();
}

const Definition* CatalogResolver::routine(std::string_view template_id) const {
  const auto found = catalog_.routines_.find(template_id);
  return found == catalog_.routines_.end() ? nullptr : used(*found->second);
}

std::vector<std::string> CatalogResolver::template_ids() const {
  return keys_of(catalog_.routines_);
}

const Definition* CatalogResolver::workflow(std::string_view id) const {
  const auto found = catalog_.entries_.find(id);
  return found == catalog_.entries_.end() ? nullptr : used(*found->second);
}

std::vector<std::string> CatalogResolver::workflow_ids() const {
  return keys_of(catalog_.entries_);
}

const Value* CatalogResolver::feature(std::string_view id) const {
  const auto found = catalog_.features_.find(id);
  return found == catalog_.features_.end() ? nullptr : &found->second;
}

std::vector<std::string> CatalogResolver::feature_ids() const {
  return keys_of(catalog_.features_);
}

const std::string* CatalogResolver::ref(std::string_view id) const {
  const auto found = builtin_refs().find(id);
  return found == builtin_refs().end() ? nullptr : &found->second;
}

std::vector<std::string> CatalogResolver::ref_ids() const {
  return keys_of(builtin_refs());
}

// A project decides about the slots of its own workflows; about those of others only in a trusted folder.
const std::string* CatalogResolver::binding(std::string_view workflow_id, std::string_view slot) const {
  const auto bound = catalog_.entries_.find(workflow_id);
  const bool is_projects = bound != catalog_.entries_.end() && bound->second->origin.kind == SourceKind::kProject;
  const bool is_listed = bound != catalog_.entries_.end();
  if (is_listed && !is_projects && !catalog_.are_bindings_trusted_) return nullptr;
  for (const std::string_view of : {workflow_id, std::string_view()}) {
    const auto found = catalog_.bindings_.find(binding_key(of, slot));
    if (found != catalog_.bindings_.end()) return &found->second;
  }
  return nullptr;
}

const Definition* CatalogResolver::used(const CatalogEntry& entry) const {
  if (entry.origin.kind == SourceKind::kProject) included_origins_.emplace(entry.origin.file, entry.origin);
  return entry.definition.get();
}

std::vector<Origin> CatalogResolver::included_origins() const {
  std::vector<Origin> all;
  for (const auto& [file, origin] : included_origins_) all.push_back(origin);
  return all;
}

Checked<Bundle> Catalog::compile(const CatalogEntry& entry, std::vector<Origin>* included_origins) const {
  if (!entry.definition) return std::unexpected(entry.faults);
  if (const Value* pinned = pinned_bundle(entry.document->root)) {
    auto bundle = read_bundle(*pinned);
    if (!bundle) return std::unexpected(Faults{std::move(bundle).error()});
    return std::move(*bundle);
  }
  const CatalogResolver resolver(*this);
  auto bundle = workflow::compile(*entry.document, *entry.definition, resolver);
  if (included_origins != nullptr) *included_origins = resolver.included_origins();
  return bundle;
}

Checked<Bundle> Catalog::compile(const Document& document) const {
  const CatalogResolver around(*this);
  const auto definition = read_definition(document);
  if (!definition) return std::unexpected(in_order(definition.error(), unknown_names(document, around)));
  return workflow::compile(document, *definition, around);
}

}  // namespace sb::workflow
