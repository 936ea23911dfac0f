#include "engine/recall/session_list.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/state/rows.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kAllSessions = "all-sessions";  // in cursors

store::Listing by_time(std::string_view of_class, bool descending, int limit) {
  return {.by = store::Order::kSort, .prefix = std::string(of_class), .descending = descending, .limit = limit};
}

Result<std::int64_t> count_after(store::Snapshot& snapshot, const std::string& key, const std::string& time) {
  std::int64_t count = 0;
  for (const std::string_view of_class : {kOpenClass, kChildClass, kEndedClass}) {
    store::Listing listing = by_time(of_class, true, 0);
    listing.after = store::Row{key, std::string(of_class) + time, ""};
    count += SB_TRY(snapshot.count(kSessions, listing));
  }
  return count;
}

Result<store::RowPage> all_rows(store::Snapshot& snapshot, const store::PageRequest& request) {
  store::RowPage page;
  std::string after;
  if (!request.after.empty()) after = *SB_TRY(store::row_of_cursor(kAllSessions, request.after)).sort;
  for (const std::string_view of_class : {kOpenClass, kChildClass, kEndedClass}) {
    store::Listing listing = by_time(of_class, true, request.limit);
    page.facts.total += SB_TRY(snapshot.count(kSessions, listing));
  }
  page.rows = SB_TRY(rows_by_time(snapshot, true, after, request.limit));
  if (page.rows.empty()) return page;
  const std::string last = time_part(page.rows.back());
  page.facts.more = page.facts.total - static_cast<std::int64_t>(page.rows.size());
  if (!request.after.empty()) page.facts.more = SB_TRY(count_after(snapshot, page.rows.back().key, last));
  if (page.facts.more > 0) page.facts.next = store::cursor_after(kAllSessions, {page.rows.back().key, last, ""});
  return page;
}

}  // namespace

std::string time_part(const store::Row& row) {
  const std::string& sort = row.sort.value();
  return sort.substr(sort.find('/') + 1);
}

Result<std::vector<store::Row>> rows_by_time(store::Snapshot& snapshot, bool descending, std::string_view after,
                                             int limit) {
  std::vector<store::Row> all;
  for (const std::string_view of_class : {kOpenClass, kChildClass, kEndedClass}) {
    store::Listing listing = by_time(of_class, descending, limit);
    // The id in the sort key distinguishes rows of the same time, so the key does not matter.
    if (!after.empty()) listing.after = store::Row{descending ? "" : "~", std::string(of_class).append(after), ""};
    std::ranges::move(SB_TRY(snapshot.list(kSessions, listing)), std::back_inserter(all));
  }
  std::ranges::sort(all, [&](const store::Row& a, const store::Row& b) {
    const std::string first = time_part(a), second = time_part(b);
    return descending ? first > second : first < second;
  });
  if (all.size() > static_cast<std::size_t>(limit)) all.resize(static_cast<std::size_t>(limit));
  return all;
}

Result<SessionPage> list_sessions(store::Store& store, SessionScope scope, const store::PageRequest& request) {
  return store.read([&](store::Snapshot& snapshot) -> Result<SessionPage> {
    store::RowPage rows = SB_TRY(scope == SessionScope::kAll
                                     ? all_rows(snapshot, request)
                                     : store::read_page(snapshot, kSessions, by_time(kOpenClass, true, 0), request));
    SessionPage page{.sessions = {}, .damaged = {}, .facts = std::move(rows.facts)};
    for (const store::Row& row : rows.rows) {
      const auto value = open_row(kSessions, row);
      auto summary = value ? summary_from(*value) : std::unexpected(value.error());
      if (summary) {
        page.sessions.push_back(std::move(*summary));
      } else {
        page.damaged.push_back(row.key);
      }
    }
    return page;
  });
}

}  // namespace sb::engine
