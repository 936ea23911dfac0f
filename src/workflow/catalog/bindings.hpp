// Small files of the user and the project next to the workflows: bindings of slots, and the list of managed folders.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::workflow {

// By `workflow\nslot`, or `\nslot` for every workflow.
using Bindings = std::map<std::string, std::string, std::less<>>;

// `.workrail/bindings.json`, then `.signalbox/bindings.json`, which takes precedence. Each is {workflow: {slot: id}},
// or {slot: id} for all workflows. What is wrong goes to `faults` and is ignored; the rest of the file still counts.
Bindings read_bindings(const Files& files, const std::string& workspace, Faults& faults);

std::string binding_key(std::string_view workflow, std::string_view slot);

}  // namespace sb::workflow
