// Finding sessions in a store: by name, or by what somebody remembers of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recall/ranking.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The id meant by an id or the beginning of one; damaged sessions are found too. kNotFound; kInvalid when several begin
// so.
Result<std::string> find_session(store::Store& store, std::string_view name);

// Every summary, newest first, until `visit` gives false. `damaged` hears the ids of those that cannot be read.
Status for_each_summary(store::Store& store, const std::function<bool(const Summary&)>& visit,
                        const std::function<void(const std::string&)>& damaged);

struct ResumeMatches {
  std::vector<ResumeCandidate> candidates;  // best first
  std::size_t eligible = 0;
  std::vector<std::string> damaged;  // could not be looked at

  // Whether one was found by the id or the words that were asked for.
  bool has_direct_match() const { return !candidates.empty() && candidates.front().is_direct_match(); }
};
// Out of all sessions.
Result<ResumeMatches> find_resumable(store::Store& store, const ResumeQuery& query, std::size_t keep = 5);

}  // namespace sb::engine
