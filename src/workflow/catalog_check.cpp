#include "workflow/catalog_check.hpp"

#include "workflow/catalog_file.hpp"
#include "workflow/catalog_surroundings.hpp"
#include "workflow/catalog_walk.hpp"

namespace sb::workflow {
namespace {

// A path below `real` as it reads from `named`, which is what the user wrote for it.
std::string as_named(const std::string& path, const std::string& real, const std::string& named) {
  if (path == real) return named;
  return path.starts_with(real + "/") ? join_path(named, path.substr(real.size() + 1)) : path;
}

Faults faults_of(const SourceFile& file, const Catalog& catalog) {
  if (!file.definition) return file.faults;
  auto bundle = compile(*file.document, *file.definition, CatalogSurroundings(catalog));
  return bundle ? Faults{} : std::move(bundle).error();
}

}  // namespace

Result<std::vector<FileVerdict>> check_files(const Files& files, const Environment& environment, const Homes& homes,
                                             Opening opening) {
  SourceCache cache;
  opening.cache = &cache;
  const Catalog catalog = SB_TRY(Catalog::open(files, environment, homes, opening));
  SourceReader reader(files, cache);
  std::vector<FileVerdict> verdicts;
  for (const std::string& named : opening.strongest) {
    const auto real = files.canonical(named);
    if (!real) {
      verdicts.push_back(
          {named, {{ErrorCode::kNotFound, "there is no such file", "", {named, "", 0, 0}, false}}, true});
      continue;
    }
    const Walk walk = walk_source(files, *real);
    for (const FoundFile& found : walk.files) {
      FileVerdict verdict{as_named(found.path, *real, named), faults_of(*reader.read(found), catalog), false};
      for (Error& fault : verdict.faults) fault.place.file = as_named(fault.place.file, *real, named);
      verdicts.push_back(std::move(verdict));
    }
    if (!walk.stopped.empty()) {
      verdicts.push_back({named,
                          {{ErrorCode::kLimit,
                            "not all was checked: " + walk.stopped,
                            "Check its folders one by one",
                            {named, "", 0, 0},
                            false}},
                          false});
    }
    if (!walk.notes.empty()) verdicts.push_back({named, walk.notes, false});
  }
  return verdicts;
}

}  // namespace sb::workflow
