// The dependencies among the options of a chain, and where a set of dispositions violates them.
//
// Pure. `requires` cycles are groups: all of their members or none.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

// The dependencies of a chain, as indexes into its options.
struct ChainGraph {
  std::vector<std::vector<std::size_t>> required;     // what each option requires
  std::vector<std::vector<std::size_t>> dependants;   // which options require it
  std::vector<std::vector<std::size_t>> conflicting;  // symmetric
  std::vector<std::size_t> group;                     // equal for members of one cycle
  std::vector<bool> is_in_cycle;

  explicit ChainGraph(const Chain& chain);
  bool has_edges() const;
  std::vector<std::size_t> members_of(std::size_t index) const;  // of its cycle, in declared order
  bool is_conflict(std::size_t one, std::size_t other) const;
  bool is_pair(std::size_t first, std::size_t second) const;  // first requires second, or the two conflict
};

using Dispositions = std::vector<std::optional<Bucket>>;

// One violation of a dependency in a set.
struct Violation {
  enum class Kind { kMissing, kClash, kGroup };
  Kind kind = Kind::kMissing;
  std::size_t first = 0;   // the dependant; of a clash, the one declared first
  std::size_t second = 0;  // the missing requirement; of a clash, the other option

  bool operator==(const Violation&) const = default;
};

// Every violation, ordered by (first, second); a broken cycle shows once for each of its broken pairs.
std::vector<Violation> violations_of(const Chain& chain, const ChainGraph& graph, const Dispositions& dispositions);

}  // namespace sb::decision
