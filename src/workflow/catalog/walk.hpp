// The files below one source folder, without reading them.
//
// Bounded by kSourceFiles, kSourceEntries and kSourceDepth, and says when it stopped. Not entered: folders whose name
// begins with a dot, `examples`, and those that hold what was built or fetched (node_modules, build, dist, target,
// vendor, …); the folder given is read whatever its name. A link is followed when it stays below the folder, each place
// once, so that cycles end; one that leads out is noted. Order: by name, files of a folder before its folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace sb::workflow {

enum class FileRole { kWorkflow, kRoutine, kContract, kFeature };  // as the folder it is in says

struct FoundFile {
  std::string path;
  FileStatus status;
  FileRole role = FileRole::kWorkflow;
  bool is_internal = false;
};

struct SourceScan {
  std::vector<FoundFile> files;
  std::string stopped;
  Faults notes;
};

// `folder` is absolute and without links, or a file.
SourceScan walk_source(const Files& files, const std::string& folder, const std::function<void(int)>& on_file = {});

// .json, .yaml, .yml
bool is_source_name(std::string_view name);

}  // namespace sb::workflow
