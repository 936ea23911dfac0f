// Which sessions a search has to look at: the newest in the tag index for each way in which one could be among the
// best.
#pragma once

#include <string>
#include <vector>

#include "engine/recall/ranking.hpp"
#include "store/store.hpp"

namespace sb::engine {

// Ids, each once. `words` are those of the query.
Result<std::vector<std::string>> propose_sessions(store::Snapshot& snapshot, const ResumeQuery& query,
                                                  const std::vector<std::string>& words, std::size_t keep);
// How many sessions in progress the query is about.
Result<std::size_t> count_resumable(store::Snapshot& snapshot, const ResumeQuery& query,
                                    const std::vector<std::string>& words);

}  // namespace sb::engine
