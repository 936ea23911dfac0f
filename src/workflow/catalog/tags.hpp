// Tags for finding workflows. The table in data/tags.yaml assigns them to known ids; other workflows are tagged by what
// they are, so that a search by tag can find every workflow.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::workflow {

struct WorkflowTags {
  std::vector<std::string> tags;
  bool is_hidden = false;
};

// For a known id, those of the table. Else `routines` for a routine, and the namespace of the id, or `other` if none.
WorkflowTags tags_of(std::string_view id, bool is_routine);

// [{id, displayName, when, count}] for the table's tags, in its order, then for those that only `used` has.
// `used` has one item for each occurrence of a tag on a listed workflow.
Value tag_summary(const std::vector<std::string>& used);

}  // namespace sb::workflow
