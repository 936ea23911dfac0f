// `workflow check`: files and folders checked with all of them, and the whole catalog, around each.
#pragma once

#include <string>
#include <vector>

#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {

struct FileCheckResult {
  std::string file;  // as the caller named it, or its folder
  Faults faults;     // their places name the file so, too
  bool is_missing = false;
};

// `opening.strongest` says what to check; in a folder every workflow, contract and feature below it. In the order
// given. A path that is not there is a verdict, too.
Result<std::vector<FileCheckResult>> check_files(const Files& files, const Environment& environment,
                                                 const HomeDirectories& homes, CatalogOptions options);

}  // namespace sb::workflow
