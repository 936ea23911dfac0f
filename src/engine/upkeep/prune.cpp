#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "engine/state/child_rows.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "engine/upkeep/collect_blobs.hpp"
#include "engine/upkeep/session_rows.hpp"
#include "guard/host_session.hpp"
#include "guard/open_step.hpp"
#include "store/paging.hpp"

namespace sb::engine {
namespace {

// Where the worker of a session keeps its log (agent/loop/agent_log.hpp): deleted with the session.
std::string worker_stream(std::string_view session) {
  return fmt::format("agent/{}", session);
}

constexpr std::size_t kPrunedAtOnce = 50;  // for which writers wait, some tens of milliseconds

Status remove_in(store::Transaction& transaction, std::string_view session) {
  SB_TRY(transaction.remove_stream(session_stream(session)));
  SB_TRY(transaction.remove_stream(worker_stream(session)));
  // A damaged record does not name its folder; verify finds the row that is left behind.
  const auto summary = read_summary(transaction, session);
  if (summary && *summary) {
    SB_TRY(transaction.remove(guard::kOpenSteps, guard::open_step_key((*summary)->workspace, session)));
  }
  SB_TRY(remove_child_rows(transaction, session, summary && *summary ? (*summary)->parent_session : ""));
  SB_TRY(guard::forget_session(transaction, session));
  SB_TRY(transaction.remove_tags(session));
  SB_TRY(transaction.remove(kSessions, session));
  SB_TRY(remove_session_rows(transaction, kNodes, session));
  return remove_session_rows(transaction, kAttempts, session);
}

// What decides whether a session may be removed.
struct Age {
  TimestampMs updated_at = 0;
  bool is_open = false;
  std::string parent;
};

Age age_of(const Summary& summary) {
  return {summary.updated_at, summary.is_in_progress(), summary.parent_session};
}

using Ages = std::map<std::string, Age, std::less<>>;

// Sessions with a damaged record are skipped: their age is unknown.
Result<Ages> read_ages(store::Store& store) {
  return store.read([](store::Snapshot& snapshot) -> Result<Ages> {
    Ages ages;
    SB_TRY(store::each_row(snapshot, kSessions, {}, [&](const store::Row& row) {
      const auto value = open_row(kSessions, row);
      const auto summary = value ? summary_from(*value) : std::unexpected(value.error());
      if (summary) ages.emplace(row.key, age_of(*summary));
    }));
    return ages;
  });
}

// A session and all its descendants; itself first.
using Family = std::vector<std::string>;

// A session whose parent is gone is its own root.
const std::string& root_of(const Ages& ages, const std::string& id) {
  const std::string* root = &id;
  // A damaged record could name itself as its own ancestor.
  for (std::size_t steps = 0; steps < ages.size(); ++steps) {
    const auto at = ages.find(*root);
    const auto parent = ages.find(at->second.parent);
    if (parent == ages.end()) break;
    root = &parent->first;
  }
  return *root;
}

std::vector<Family> families_of(const Ages& ages) {
  std::map<std::string, Family> by_root;
  for (const auto& [id, age] : ages) {
    const std::string& root = root_of(ages, id);
    Family& family = by_root[root];
    family.insert(id == root ? family.begin() : family.end(), id);
  }
  std::vector<Family> families;
  for (auto& [root, family] : by_root) families.push_back(std::move(family));
  return families;
}

bool may_go(const Age& age, TimestampMs before, bool also_open) {
  return age.updated_at < before && (also_open || !age.is_open);
}

// False if one of them has continued since the list was made.
Result<bool> remove_family(store::Transaction& transaction, const Family& family, TimestampMs before, bool also_open) {
  for (const std::string& id : family) {
    const auto summary = SB_TRY(read_summary(transaction, id));
    if (summary && !may_go(age_of(*summary), before, also_open)) return false;
  }
  for (const std::string& id : family) SB_TRY(remove_in(transaction, id));
  return true;
}

// Removes families in one transaction, as many as a writer can wait for; the position after the last one.
Result<std::size_t> remove_some(store::Store& store, std::span<const Family> families, TimestampMs before,
                                bool also_open, std::vector<std::string>& gone) {
  std::vector<std::string> removed;
  const std::size_t done = SB_TRY(store.write([&](store::Transaction& transaction) -> Result<std::size_t> {
    std::size_t at = 0;
    for (; at < families.size() && removed.size() < kPrunedAtOnce; ++at) {
      if (!SB_TRY(remove_family(transaction, families[at], before, also_open))) continue;
      removed.insert(removed.end(), families[at].begin(), families[at].end());
    }
    return at;
  }));
  gone.insert(gone.end(), removed.begin(), removed.end());
  return done;
}

}  // namespace

Status remove_session(store::Store& store, std::string_view session) {
  return store.write([&](store::Transaction& transaction) -> Status {
    const bool is_there = SB_TRY(transaction.head(session_stream(session))).seq != 0 ||
                          SB_TRY(transaction.get(kSessions, session)).has_value();
    if (!is_there) return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(session)));
    return remove_in(transaction, session);
  });
}

Result<PruneResult> prune(store::Store& store, TimestampMs before, bool also_open, bool dry_run,
                          const ProgressCallback& progress) {
  const Ages ages = SB_TRY(read_ages(store));
  std::vector<Family> families = families_of(ages);
  std::erase_if(families, [&](const Family& family) {
    return !std::ranges::all_of(
        family, [&](const std::string& id) { return may_go(ages.find(id)->second, before, also_open); });
  });
  std::vector<std::string> gone;
  std::set<std::string> gone_streams;
  const auto all = static_cast<std::int64_t>(families.size());
  for (std::size_t at = 0; at < families.size() && !dry_run; store.give_way()) {
    at += SB_TRY(remove_some(store, std::span(families).subspan(at), before, also_open, gone));
    if (progress) progress(static_cast<std::int64_t>(at), all);
  }
  for (const Family& family : families) {
    if (!dry_run) break;
    for (const std::string& id : family) {
      gone.push_back(id);
      gone_streams.insert(session_stream(id));
      gone_streams.insert(worker_stream(id));
    }
  }
  // Once they are removed no stream may be ignored: one of them may have been imported again in the meantime.
  Result<PruneResult> pruned = collect_garbage_without(store, gone_streams, dry_run, progress);
  // Deleted sessions are reported even if their blobs could not be collected.
  if (!pruned) pruned = PruneResult{.sessions = {}, .not_collected = pruned.error().message};
  pruned->sessions = std::move(gone);
  return pruned;
}

Result<std::int64_t> close_orphaned_decisions(store::Store& store, inbox::Inbox& inbox,
                                              const std::vector<std::string>& gone, bool dry_run) {
  const std::set<std::string, std::less<>> also_gone(gone.begin(), gone.end());
  std::vector<std::string> orphans;
  for (const inbox::WaitingSession& waiting : SB_TRY(inbox.waiting_sessions())) {
    const bool is_there = SB_TRY(store.read([&](store::Snapshot& snapshot) -> Result<bool> {
      return SB_TRY(snapshot.head(session_stream(waiting.session))).seq != 0 ||
             SB_TRY(snapshot.get(kSessions, waiting.session)).has_value();
    }));
    if (!is_there || also_gone.contains(waiting.session)) orphans.push_back(waiting.decision);
  }
  for (std::size_t at = 0; at < orphans.size() && !dry_run; store.give_way()) {
    const std::size_t end = std::min(orphans.size(), at + kPrunedAtOnce);
    SB_TRY(store.write([&](store::Transaction& transaction) -> Status {
      for (std::size_t i = at; i < end; ++i) {
        // A damaged one stays, and is listed as damaged.
        const Status done = inbox.discard_in(transaction, orphans[i]);
        if (!done && done.error().code != ErrorCode::kCorrupt) return done;
      }
      return {};
    }));
    at = end;
  }
  return static_cast<std::int64_t>(orphans.size());
}

Result<store::SpaceReport> return_space(store::Store& store, std::int64_t most_rewritten) {
  store::SpaceReport report = SB_TRY(store.make_space_releasable(most_rewritten));
  while (report.unused > 0) {
    const auto some = SB_TRY(store.write([](store::Transaction& transaction) { return transaction.release_space(); }));
    report = {report.released + some.released, some.unused};
    if (some.released == 0) break;
    store.give_way();
  }
  return report;
}

}  // namespace sb::engine
