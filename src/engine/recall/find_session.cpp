#include "engine/recall/find_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/recall/proposals.hpp"
#include "engine/recall/recall_index.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

// Two are enough to know that the prefix is ambiguous.
Result<std::set<std::string>> beginning_with(store::Snapshot& snapshot, std::string_view name) {
  std::set<std::string> ids;
  const store::Listing listing{.prefix = std::string(name), .limit = 2};
  for (const store::Row& row : SB_TRY(snapshot.list(kSessions, listing))) ids.insert(row.key);
  const std::string prefix = session_stream("");
  for (const std::string& stream : SB_TRY(snapshot.streams(session_stream(name), "", 2))) {
    ids.insert(stream.substr(prefix.size()));
  }
  return ids;
}

}  // namespace

Result<std::string> find_session(store::Store& store, std::string_view name) {
  if (name.empty() || !store::check_name("session", name)) {
    return fail(ErrorCode::kInvalid, "not a valid session id", "List sessions: signalbox session list");
  }
  return store.read([&](store::Snapshot& snapshot) -> Result<std::string> {
    const std::set<std::string> ids = SB_TRY(beginning_with(snapshot, name));
    if (ids.contains(std::string(name))) return std::string(name);
    if (ids.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(name)),
                  "List sessions: signalbox session list --all");
    }
    if (ids.size() == 1) return *ids.begin();
    return fail(ErrorCode::kInvalid,
                fmt::format("several sessions start with {}: {}, {} …", name, *ids.begin(), *std::next(ids.begin())),
                "Give more characters of the id");
  });
}

Result<ResumeMatches> find_resumable(store::Store& store, const ResumeQuery& query, std::size_t keep) {
  if (query.session_id.empty()) SB_TRY(refresh_recall_index(store));
  return store.read([&](store::Snapshot& snapshot) -> Result<ResumeMatches> {
    ResumeMatches found;
    Ranking ranking(query, keep);
    std::size_t ended = 0;  // found by id
    for (const std::string& id : SB_TRY(propose_sessions(snapshot, query, ranking.words(), keep))) {
      const auto summary = read_summary(snapshot, id);
      if (!summary && summary.error().code != ErrorCode::kCorrupt) return std::unexpected(summary.error());
      if (!summary) found.damaged.push_back(id);
      if (!summary || !*summary) continue;
      if ((*summary)->is_driven()) {
        if (id == query.session_id || id == query.text) found.driven = **summary;
        continue;
      }
      const std::size_t before = ranking.eligible();
      ranking.add(**summary);
      if (ranking.eligible() > before && !(*summary)->is_in_progress()) ++ended;
    }
    found.candidates = ranking.best();
    const std::size_t counted = SB_TRY(count_resumable(snapshot, query, ranking.words()));
    found.eligible = std::max(ranking.eligible(), counted + ended);
    return found;
  });
}

}  // namespace sb::engine
