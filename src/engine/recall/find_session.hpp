// Finds sessions in a store, by id or by what the user remembers of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recall/ranking.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The full id for an id or its prefix; finds damaged sessions too. kNotFound; kInvalid if several match.
Result<std::string> find_session(store::Store& store, std::string_view name);

struct ResumeMatches {
  std::vector<ResumeCandidate> candidates;  // best first
  // How many there are: all in progress in the same repository, and elsewhere those that match by words or commit (by
  // the heaviest words of a long query).
  std::size_t eligible = 0;
  std::vector<std::string> damaged;  // would be among them, but cannot be read
  // The session with that id, if a run drives it: such sessions are no candidates.
  std::optional<Summary> driven;

  // Whether one matched by id or by the query's words.
  bool has_direct_match() const { return !candidates.empty() && candidates.front().is_direct_match(); }
};
// Searches all sessions: the tag index proposes those that could be among the best, the ranking decides. For a part of
// the words the newest sessions of each combination are proposed.
Result<ResumeMatches> find_resumable(store::Store& store, const ResumeQuery& query, std::size_t keep = 5);

}  // namespace sb::engine
