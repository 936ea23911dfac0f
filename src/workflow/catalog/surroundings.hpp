// A catalog as a source of lookups for workflow/compile/compile.hpp. Holds the catalog by reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {

class CatalogResolver final : public ReferenceResolver {
 public:
  explicit CatalogResolver(const Catalog& catalog) : catalog_(catalog) {}

  const Contract* contract(std::string_view ref) const override;
  std::vector<std::string> contract_refs() const override;
  const Definition* routine(std::string_view template_id) const override;
  std::vector<std::string> template_ids() const override;
  const Definition* workflow(std::string_view id) const override;
  std::vector<std::string> workflow_ids() const override;
  const Value* feature(std::string_view id) const override;
  std::vector<std::string> feature_ids() const override;
  const std::string* ref(std::string_view id) const override;
  std::vector<std::string> ref_ids() const override;
  const std::string* binding(std::string_view workflow_id, std::string_view slot) const override;

  // Project files that were looked up, by file.
  std::vector<Origin> included_origins() const;

 private:
  const Definition* used(const CatalogEntry& entry) const;

  const Catalog& catalog_;
  mutable std::map<std::string, Origin> included_origins_;
};

}  // namespace sb::workflow
