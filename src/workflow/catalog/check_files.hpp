// `workflow check`: checks files and folders, each in the context of all of them and of the whole catalog.
#pragma once

#include <string>
#include <vector>

#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {

struct FileCheckResult {
  std::string file;  // as named by the caller, or relative to the named folder
  Faults faults;     // their locations use the same name
  bool is_missing = false;
};

// `opening.overrides` says what to check; in a folder, every workflow, contract and feature below it. In the order
// given. A path that does not exist also gets a verdict.
Result<std::vector<FileCheckResult>> check_files(const Files& files, const Environment& environment,
                                                 const HomeDirectories& homes, CatalogOptions options);

}  // namespace sb::workflow
