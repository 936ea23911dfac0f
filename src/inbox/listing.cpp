// Which decisions there are: pages of the inbox, and finding one by a name.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"
#include "inbox/open_decisions.hpp"
#include "store/paging.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kSettledAtOnce = 100;
constexpr std::size_t kIdPrefixLength = 8;

store::Listing by_urgency() {
  return {.by = store::Order::kSort};
}

store::Listing in_state(std::string_view state, bool descending) {
  return {.by = store::Order::kSort, .prefix = std::string(state), .descending = descending};
}

// Ids with a declared id in one state, newest first, at most `limit`.
Result<std::vector<std::string>> ids_asked(store::Snapshot& snapshot, std::string_view state, std::string_view name,
                                           std::size_t limit) {
  std::vector<std::string> ids;
  SB_TRY(store::each_row(snapshot, kDecisions, in_state(state, true), [&](const store::Row& row) {
    const Result<Value> value = parse_json(row.value);
    if (value && value->string_at("asked") == name) ids.push_back(row.key);
    return ids.size() < limit;
  }));
  return ids;
}

// The ids with a prefix: the open ones, or else the one that was closed last.
Result<std::vector<std::string>> ids_starting(store::Snapshot& snapshot, std::string_view prefix) {
  std::vector<std::string> open;
  std::optional<store::Row> closed;
  SB_TRY(store::each_row(snapshot, kDecisions, {.prefix = std::string(prefix)}, [&](const store::Row& row) {
    if (!row.sort || !row.sort->starts_with("closed/")) {
      open.push_back(row.key);
    } else if (!closed || *closed->sort < *row.sort) {
      closed = row;
    }
    return true;
  }));
  if (open.empty() && closed) open.push_back(closed->key);
  return open;
}

// First the open ones, then the closed: each has its own rows and cursors.
Result<store::RowPage> open_then_closed(store::Snapshot& snapshot, const store::PageRequest& request) {
  const store::Listing closed_listing = in_state("closed/", true);
  const bool is_in_open = request.after.empty() || store::row_of_cursor(kOpenDecisions, request.after).has_value();
  store::RowPage page;
  const std::int64_t open = SB_TRY(snapshot.count(kOpenDecisions, by_urgency()));
  const std::int64_t closed = SB_TRY(snapshot.count(kDecisions, closed_listing));
  if (is_in_open) page = SB_TRY(store::read_page(snapshot, kOpenDecisions, by_urgency(), request));
  for (store::Row& row : page.rows) row.key = decision_of(row);
  page.facts.total = open + closed;
  const int room = request.limit - static_cast<int>(page.rows.size());
  if (is_in_open && (page.facts.more > 0 || room == 0)) {
    page.facts.more += closed;
    if (page.facts.more > 0 && page.facts.next.empty()) {
      page.facts.next = store::cursor_after(kDecisions, {"~", "closed/~", ""});
    }
    return page;
  }
  store::RowPage rest = SB_TRY(store::read_page(snapshot, kDecisions, closed_listing,
                                                {.limit = room, .after = is_in_open ? "" : request.after}));
  std::ranges::move(rest.rows, std::back_inserter(page.rows));
  page.facts.more = rest.facts.more;
  page.facts.next = std::move(rest.facts.next);
  return page;
}

Result<store::RowPage> rows_of(store::Snapshot& snapshot, bool all, const store::PageRequest& request) {
  if (all) return open_then_closed(snapshot, request);
  store::RowPage page = SB_TRY(store::read_page(snapshot, kOpenDecisions, by_urgency(), request));
  for (store::Row& row : page.rows) row.key = decision_of(row);
  return page;
}

bool cannot_write(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kForbidden;
}

Result<bool> has_none(store::Store& store) {
  return store.read([](store::Snapshot& snapshot) -> Result<bool> {
    return SB_TRY(snapshot.count(kDecisions, {.by = store::Order::kSort})) == 0;
  });
}

}  // namespace

Result<std::string> Inbox::resolve(std::string_view name) {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::string> {
    const auto unknown = [&] {
      return fail(ErrorCode::kNotFound, fmt::format("there is no decision {}", quote_json(printable(name))),
                  "Run signalbox inbox list to see the open decisions");
    };
    if (name.empty() || name.size() > limits::kIdBytes || !is_utf8(name) || name.contains('\0')) return unknown();
    if (SB_TRY(snapshot.get(kDecisions, name))) return std::string(name);
    std::vector<std::string> found;
    if (name.size() >= kIdPrefixLength) found = SB_TRY(ids_starting(snapshot, name));
    if (found.empty()) found = SB_TRY(ids_asked(snapshot, "open/", name, limits::kStorePageRows));
    if (found.empty()) found = SB_TRY(ids_asked(snapshot, "parked/", name, limits::kStorePageRows));
    if (found.size() > 1) {
      return fail(ErrorCode::kInvalid, fmt::format("{} open decisions match {}", found.size(), quote_json(name)),
                  "Give the full id, as shown by signalbox inbox list");
    }
    // Among closed ones the newest matches: answering it fails and says that it is closed.
    if (found.empty()) found = SB_TRY(ids_asked(snapshot, "closed/", name, 1));
    if (found.empty()) return unknown();
    return found.front();
  });
}

Status Inbox::make_open_index(store::Transaction& transaction) {
  if (SB_TRY(has_open_index(transaction))) return {};
  // What a repair left of the last one.
  for (const auto& [id, row] : SB_TRY(open_decision_rows(transaction))) {
    SB_TRY(transaction.remove(kOpenDecisions, row.key));
  }
  std::vector<std::string> ids;
  for (const char* state : {"open/", "parked/"}) {
    SB_TRY(store::each_row(transaction, kDecisions, in_state(state, false), [&](const store::Row& row) {
      ids.push_back(row.key);
      return true;
    }));
  }
  for (const std::string& id : ids) {
    const auto state = read_state(transaction, id);
    // A damaged decision does not say where it was asked; it is listed as damaged.
    DecisionState unreadable;
    unreadable.id = id;
    SB_TRY(index_decision(transaction, state ? *state : unreadable));
  }
  return mark_open_index(transaction);
}

Status Inbox::settle_all(const std::vector<std::string>& ids) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    for (const std::string& id : ids) {
      const auto settled = read_settled(transaction, id);
      if (settled || settled.error().code == ErrorCode::kCorrupt || settled.error().code == ErrorCode::kNotFound) {
        continue;
      }
      if (settled.error().code != ErrorCode::kUnsupported) return std::unexpected(settled.error());
    }
    return {};
  });
}

Status Inbox::settle_due() {
  const auto due = [&]() -> Result<std::vector<std::string>> {
    return store_.read(
        [&](store::Snapshot& snapshot) { return due_decisions(snapshot, clock_.now_ms(), kSettledAtOnce); });
  };
  std::vector<std::string> before;
  // Those that cannot be settled are due again.
  for (std::vector<std::string> ids = SB_TRY(due()); !ids.empty() && ids != before; ids = SB_TRY(due())) {
    SB_TRY(settle_all(ids));
    before = std::move(ids);
  }
  return {};
}

Result<DecisionPage> Inbox::page(bool all, const store::PageRequest& request) {
  if (!SB_TRY(store_.read([](store::Snapshot& snapshot) { return has_open_index(snapshot); }))) {
    const Status made = store_.write([&](store::Transaction& transaction) { return make_open_index(transaction); });
    // Without a decision there is nothing to index.
    if (!made && !(cannot_write(made.error()) && SB_TRY(has_none(store_)))) return std::unexpected(made.error());
  }
  // A store that cannot be written can still be read.
  if (const Status settled = settle_due(); !settled && !cannot_write(settled.error()))
    return std::unexpected(settled.error());
  const auto rows = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return rows_of(snapshot, all, request); }));
  DecisionPage page{.decisions = {}, .facts = rows.facts};
  for (const store::Row& row : rows.rows) {
    DecisionState state = SB_TRY(load_or_damaged(row.key));
    if (all || state.is_damaged || state.is_open()) page.decisions.push_back(std::move(state));
  }
  return page;
}

Result<std::vector<DecisionState>> Inbox::list(bool all) {
  std::vector<DecisionState> states;
  store::PageRequest request{.limit = 1'000, .after = ""};
  do {
    DecisionPage part = SB_TRY(page(all, request));
    std::ranges::move(part.decisions, std::back_inserter(states));
    request.after = std::move(part.facts.next);
  } while (!request.after.empty());
  return states;
}

Result<DecisionState> Inbox::load_or_damaged(std::string_view id) {
  Result<DecisionState> state = load(id);
  if (state) return state;
  const ErrorCode code = state.error().code;
  const bool is_unreadable =
      code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported || code == ErrorCode::kNotFound;
  if (!is_unreadable) return state;
  DecisionState damaged;
  damaged.id = id;
  damaged.is_damaged = true;
  damaged.rejected.push_back(state.error().message);
  return damaged;
}

Result<std::int64_t> Inbox::count_open_in(std::span<const std::string> folders) {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::int64_t> {
    if (SB_TRY(has_open_index(snapshot))) return inbox::count_open_in(snapshot, folders);
    std::int64_t count = 0;
    for (const char* state : {"open/", "parked/"}) {
      SB_TRY(store::each_row(snapshot, kDecisions, in_state(state, false), [&](const store::Row& row) {
        const auto decision = read_state(snapshot, row.key);
        count += decision && std::ranges::find(folders, decision->opened.workspace) != folders.end() ? 1 : 0;
        return true;
      }));
    }
    return count;
  });
}

Result<std::vector<DecisionState>> Inbox::held_in(std::span<const std::string> folders) {
  std::vector<DecisionState> states;
  for (const std::string& id :
       SB_TRY(store_.read([&](store::Snapshot& snapshot) { return inbox::held_in(snapshot, folders); }))) {
    states.push_back(SB_TRY(load_or_damaged(id)));
  }
  return states;
}

Result<std::vector<WaitingSession>> Inbox::waiting_sessions() {
  SB_TRY(page(false, {.limit = 1}));  // makes the index if there is none yet
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::vector<WaitingSession>> {
    std::vector<WaitingSession> waiting;
    SB_TRY(store::each_row(snapshot, kOpenDecisions, by_urgency(), [&](const store::Row& row) {
      if (std::string session = session_of(row); !session.empty()) {
        waiting.push_back({std::move(session), decision_of(row)});
      }
      return true;
    }));
    return waiting;
  });
}

}  // namespace sb::inbox
