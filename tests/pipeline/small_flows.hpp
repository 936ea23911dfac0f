// Workflows of a step or two for each phase, with the contracts of the real ones: `small.PHASE` asks for its artifact,
// `loose.PHASE` does not, and `silent.shaping` does without notes, too.
#pragma once

#include <string>
#include <vector>

namespace sb::pipeline_tests {

struct SmallFlow {
  std::string file, text;
};
std::vector<SmallFlow> small_flows();

}  // namespace sb::pipeline_tests
