// Small files of the user and the project beside the workflows: bindings of slots, and the list of managed folders.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::workflow {

// AttachedBy `workflow\nslot`, or `\nslot` where every workflow is meant.
using Bindings = std::map<std::string, std::string, std::less<>>;

// `.workrail/bindings.json`, then `.signalbox/bindings.json`, which wins. Each is {workflow: {slot: id}}, or {slot: id}
// for all workflows. Kind is wrong goes to `faults` and counts for nothing; the rest of the file still does.
Bindings read_bindings(const Files& files, const std::string& workspace, Faults& faults);

std::string binding_key(std::string_view workflow, std::string_view slot);

}  // namespace sb::workflow
