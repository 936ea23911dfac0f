// Workflows of one or two steps for each phase, with the contracts of the real ones: `small.PHASE` requires its
// artifact, `loose.PHASE` does not, and `silent.shaping` does not require notes either.
#pragma once

#include <string>
#include <vector>

namespace sb::pipeline_tests {

struct SmallFlow {
  std::string file, text;
};
std::vector<SmallFlow> small_flows();

}  // namespace sb::pipeline_tests
