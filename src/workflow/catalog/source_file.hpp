// One file of a source, read and checked: a workflow, a contract or a feature.
//
// The folder decides what the file is, else its content (`contract:` and `feature:` without `steps`). A workflow may
// also be in pinned form, {bundle: [pinned, …]}: everything it calls first, itself last. It is used as it is, whatever
// else the catalog contains now. Immutable; shared between catalogs through a SourceCache.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "workflow/catalog/catalog.hpp"
#include "workflow/catalog/walk.hpp"

namespace sb::workflow {

struct SourceFile {
  enum class Kind { kWorkflow, kContract, kFeature };
  Kind what = Kind::kWorkflow;
  std::string id;                   // of a workflow or feature; the file name without extension if it has none
  bool has_id = false;              // it was read from the file
  bool looks_like_workflow = true;  // for a workflow: it has an `id` or `steps`
  std::string digest;
  std::shared_ptr<const Document> document;  // null if the bytes could not be read or parsed
  std::shared_ptr<const Definition> definition;
  std::shared_ptr<const Contract> contract;
  Value feature;  // {constraints, procedure, verify}
  Faults faults;
};

SourceFile read_source_text(std::string name, std::string text, FileRole role);

// What `bundle` contains; null if the file has none.
const Value* pinned_bundle(const Value& root);
Result<Bundle> read_bundle(const Value& pinned);

struct BundledFile {
  std::string_view name;  // relative to workflows/
  std::shared_ptr<const SourceFile> file;
};
// Everything built in except contracts. Read once, shared.
const std::vector<BundledFile>& bundled_files();

// Reads through a cache.
class SourceReader {
 public:
  SourceReader(const Files& files, SourceCache& cache);
  ~SourceReader();  // drops stale entries

  std::shared_ptr<const SourceFile> read(const FoundFile& found);

 private:
  const Files& files_;
  SourceCache& cache_;
};

// The file name without its extension and variant marks.
std::string stem_of(std::string_view path);
// 3 for .lean., 2 for .v2., 1 for .agentic., else 0; the highest mark wins.
int variant_rank(std::string_view path);

}  // namespace sb::workflow
