// Tags by which workflows are found. The table of data/tags.yaml says which of the known ids have which; the others are
// tagged by what they are, so that none is invisible to those who look by tag.
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

// Of a known id the table's. Else `routines` for a routine, and the namespace of the id, or `other` where it has none.
WorkflowTags tags_of(std::string_view id, bool is_routine);

// [{id, displayName, when, count}] of the table's tags, in its order, then of those that only `used` has.
// `used` has one item for each time a tag is on a listed workflow.
Value tag_summary(const std::vector<std::string>& used);

}  // namespace sb::workflow
