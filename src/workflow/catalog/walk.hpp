// The files below one source folder, without reading them.
//
// Limited by kSourceFiles, kSourceEntries and kSourceDepth; reports when it stopped. Not entered: folders whose name
// starts with a dot, `examples`, and those with built or downloaded files (node_modules, build, dist, target, vendor,
// …); the given folder is read whatever its name. A link is followed if it stays below the folder, each target once, so
// that cycles end; one that points outside is noted. Order: by name, files of a folder before its subfolders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace sb::workflow {

enum class FileRole { kWorkflow, kRoutine, kContract, kFeature };  // determined by its folder

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

// `folder` is absolute and without links; it may also be a file.
SourceScan walk_source(const Files& files, const std::string& folder, const std::function<void(int)>& on_file = {});

// .json, .yaml, .yml
bool is_source_name(std::string_view name);

}  // namespace sb::workflow
