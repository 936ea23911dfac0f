// Puts a repaired file in the place of a store, and the damaged files aside, so that a kill at any moment leaves either
// the old store or the new one.
//
// FILE-repair/ is being built and may be deleted at any time. Renamed to FILE-repaired/ it is decided: the next
// process that opens the store finishes the exchange under the lock. FILE-wal and FILE-shm move to FILE-damaged-N/,
// FILE gets a second name there, and the repaired file is renamed over FILE. Each part can be done again. The folder N
// is written in FILE-repaired/aside before it is decided.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sb::store::repair {

std::string folder_for_repair(const std::string& path);

// An empty FILE-repair/; what an interrupted repair left there is deleted.
Result<std::string> make_repair_folder(const std::string& path);
Status remove_repair_folder(const std::string& path);

// Decides: FILE-repair/ has a whole, synced file of the same name as FILE. Returns the folder for the damaged files.
Result<std::string> decide_replacement(const std::string& path);
bool is_replacement_decided(const std::string& path);
// The caller holds the lock. Nothing to do if nothing is decided.
Status finish_replacement(const std::string& path);

Status sync_path(const std::string& path);  // a file or a folder

}  // namespace sb::store::repair
