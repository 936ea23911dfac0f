// Finds sessions in a store, by id or by what the user remembers of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recall/ranking.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The full id for an id or its prefix; finds damaged sessions too. kNotFound; kInvalid if several match.
Result<std::string> find_session(store::Store& store, std::string_view name);

// Every summary, newest first, until `visit` returns false. `damaged` receives the ids of those that cannot be read.
Status for_each_summary(store::Store& store, const std::function<bool(const Summary&)>& visit,
                        const std::function<void(const std::string&)>& damaged);

struct ResumeMatches {
  std::vector<ResumeCandidate> candidates;  // best first
  std::size_t eligible = 0;
  std::vector<std::string> damaged;  // could not be read
  // The session with that id, if a run drives it: such sessions are no candidates.
  std::optional<Summary> driven;

  // Whether one matched by id or by the query's words.
  bool has_direct_match() const { return !candidates.empty() && candidates.front().is_direct_match(); }
};
// Searches all sessions.
Result<ResumeMatches> find_resumable(store::Store& store, const ResumeQuery& query, std::size_t keep = 5);

}  // namespace sb::engine
