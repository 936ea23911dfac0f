#include "workflow/catalog/check_files.hpp"

#include <algorithm>

#include "workflow/catalog/source_file.hpp"
#include "workflow/catalog/surroundings.hpp"
#include "workflow/catalog/unresolved_names.hpp"
#include "workflow/catalog/walk.hpp"

namespace sb::workflow {
namespace {

// Rewrites a path below `real` relative to `named`, which is how the user wrote it.
std::string as_named(const std::string& path, const std::string& real, const std::string& named) {
  if (path == real) return named;
  return path.starts_with(real + "/") ? join_path(named, path.substr(real.size() + 1)) : path;
}

Faults faults_of(const SourceFile& file, const Catalog& catalog) {
  const CatalogResolver around(catalog);
  if (!file.definition && file.document && file.document->root.find("steps") != nullptr) {
    return in_order(file.faults, unknown_names(*file.document, around));
  }
  if (!file.definition) return file.faults;
  auto bundle = compile(*file.document, *file.definition, around);
  return bundle ? Faults{} : std::move(bundle).error();
}

// A file is checked together with the files next to it, as if installed there.
void add_neighbours(const Files& files, const std::string& named, std::vector<std::string>& overrides) {
  if (files.kind(named) != FileKind::kFile) return;
  const std::string folder = named.contains('/') ? parent_path(named) : ".";
  for (const char* name : {"contracts", "routines", "features"}) {
    const std::string beside = join_path(folder, name);
    if (files.kind(beside) != FileKind::kDirectory) continue;
    if (std::ranges::find(overrides, beside) == overrides.end()) overrides.push_back(beside);
  }
}

}  // namespace

Result<std::vector<FileCheckResult>> check_files(const Files& files, const Environment& environment,
                                                 const HomeDirectories& homes, CatalogOptions options) {
  SourceCache cache;
  options.cache = &cache;
  const std::vector<std::string> wanted = options.overrides;
  for (const std::string& named : wanted) add_neighbours(files, named, options.overrides);
  const Catalog catalog = SB_TRY(Catalog::open(files, environment, homes, options));
  SourceReader reader(files, cache);
  std::vector<FileCheckResult> verdicts;
  for (const std::string& named : wanted) {
    const auto real = files.canonical(named);
    if (!real) {
      verdicts.push_back({named, {{ErrorCode::kNotFound, "no such file", "", {named, "", 0, 0}, false}}, true});
      continue;
    }
    const SourceScan walk = walk_source(files, *real);
    for (const FoundFile& found : walk.files) {
      FileCheckResult verdict{as_named(found.path, *real, named), faults_of(*reader.read(found), catalog), false};
      for (Error& fault : verdict.faults) fault.location.file = as_named(fault.location.file, *real, named);
      verdicts.push_back(std::move(verdict));
    }
    if (!walk.stopped.empty()) {
      verdicts.push_back({named,
                          {{ErrorCode::kLimit,
                            "checked only in part: " + walk.stopped,
                            "Check its subfolders one by one",
                            {named, "", 0, 0},
                            false}},
                          false});
    }
    if (!walk.notes.empty()) verdicts.push_back({named, walk.notes, false});
  }
  return verdicts;
}

}  // namespace sb::workflow
