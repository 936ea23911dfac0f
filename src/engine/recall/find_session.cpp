#include "engine/recall/find_session.hpp"

#include <fmt/format.h>

#include <set>

#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

constexpr int kResumePage = 500;

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
      return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", name),
                  "List sessions: signalbox session list --all");
    }
    if (ids.size() == 1) return *ids.begin();
    return fail(ErrorCode::kInvalid,
                fmt::format("several sessions start with {}: {}, {} …", name, *ids.begin(), *std::next(ids.begin())),
                "Give more characters of the id");
  });
}

Status for_each_summary(store::Store& store, const std::function<bool(const Summary&)>& visit,
                        const std::function<void(const std::string&)>& damaged) {
  return store.read([&](store::Snapshot& snapshot) -> Status {
    store::Listing listing{.by = store::Order::kSort, .descending = true, .limit = kResumePage};
    for (;;) {
      const auto rows = SB_TRY(snapshot.list(kSessions, listing));
      for (const store::Row& row : rows) {
        const auto value = open_row(kSessions, row);
        const auto summary = value ? summary_from(*value) : std::unexpected(value.error());
        if (!summary) {
          if (damaged) damaged(row.key);
        } else if (!visit(*summary)) {
          return {};
        }
      }
      if (rows.size() < static_cast<std::size_t>(kResumePage)) return {};
      listing.after = rows.back();
    }
  });
}

Result<ResumeMatches> find_resumable(store::Store& store, const ResumeQuery& query, std::size_t keep) {
  ResumeMatches found;
  Ranking ranking(query, keep);
  SB_TRY(for_each_summary(
      store,
      [&](const Summary& summary) {
        if (!summary.is_driven()) {
          ranking.add(summary);
        } else if (summary.id == query.session_id || summary.id == query.text) {
          found.driven = summary;
        }
        return true;
      },
      [&](const std::string& id) { found.damaged.push_back(id); }));
  found.candidates = ranking.best();
  found.eligible = ranking.eligible();
  return found;
}

}  // namespace sb::engine
