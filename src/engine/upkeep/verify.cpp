#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "engine/state/blob_refs.hpp"
#include "engine/state/rows.hpp"
#include "engine/upkeep/session_rows.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/paging.hpp"

namespace sb::engine {
namespace {

constexpr int kVerifyPage = 256;
constexpr std::size_t kDamages = 100;  // reported per session; more would not help

// Rows of older versions name no context, and of what is out of scope only the paths.
void as_older_versions(guard::OpenStep& open) {
  open.context.clear();
  std::vector<std::string> paths;
  for (const std::string& entry : open.out_of_scope) {
    for (std::string& path : guard::paths_named(entry)) {
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  }
  open.out_of_scope = std::move(paths);
}

// Checks one session in one snapshot. Damage is collected; an error means that reading failed.
class Inspection {
 public:
  Inspection(store::Snapshot& snapshot, std::string_view session)
      : snapshot_(snapshot), session_(session), stream_(session_stream(session)) {}

  Result<std::vector<Damage>> run();

 private:
  void note(std::string where, std::string message);
  Status read_events();
  Status inspect(const store::Event& event);
  Status inspect_blobs(const Event& event, std::int64_t seq);
  Status compare_summary();
  Status compare_open_step();
  template <class Expected, class KeyOf>
  Status compare_rows(std::string_view collection, const Expected& expected, const KeyOf& key_of,
                      std::string_view what);
  Status compare_row(std::string_view collection, const store::Row& row, const Value& expected,
                     const std::string& where);

  store::Snapshot& snapshot_;
  std::string session_, stream_;
  SessionState state_;
  bool is_replayed_ = true;  // until an event does not fit
  std::set<std::string> seen_;
  std::vector<Damage> damages_;
};

void Inspection::note(std::string where, std::string message) {
  if (damages_.size() < kDamages) damages_.push_back({std::move(where), std::move(message)});
}

// The store refuses a page that contains a damaged event; reading one by one finds the first such event.
Status Inspection::read_events() {
  const store::Head end = SB_TRY(snapshot_.head(stream_));
  if (end.seq == 0) {
    is_replayed_ = false;
    note("events", "there are none, although other records of the session exist");
    return {};
  }
  int page = kVerifyPage;
  for (std::int64_t seq = 1; seq <= end.seq;) {
    const auto events = snapshot_.events(stream_, seq, page);
    if (!events && events.error().code == ErrorCode::kCorrupt && page > 1) {
      page = 1;
      continue;
    }
    if (!events && events.error().code == ErrorCode::kCorrupt) {
      is_replayed_ = false;
      note(fmt::format("event {}", seq),
           fmt::format("{}; {} of {} events are intact", events.error().message, seq - 1, end.seq));
      return {};
    }
    if (!events) return std::unexpected(events.error());
    for (const store::Event& event : *events) SB_TRY(inspect(event));
    seq = events->back().seq + 1;
  }
  return {};
}

Status Inspection::inspect(const store::Event& event) {
  const std::string where = fmt::format("event {}", event.seq);
  Result<Value> payload = parse_stored(event.payload);
  if (!payload) {
    note(where, fmt::format("its content is not JSON: {}", payload.error().message));
    is_replayed_ = false;
    return {};
  }
  const Event meant{event.type, std::move(*payload)};
  if (is_replayed_) {
    if (Status fits = apply(state_, meant, event.seq, event.time_ms); !fits) {
      note(where, fits.error().message);
      is_replayed_ = false;
    } else if (event.seq == 1 && state_.summary.id != session_) {
      note(where, fmt::format("it belongs to another session, {}", state_.summary.id));
      is_replayed_ = false;
    }
  }
  return inspect_blobs(meant, event.seq);
}

Status Inspection::inspect_blobs(const Event& event, std::int64_t seq) {
  const std::string named_by = fmt::format("named by event {}", seq);
  // Noted instead of returned, so that one missing blob does not hide another.
  const auto read = [&](const BlobRef& ref) -> Result<std::string> {
    const std::string where = fmt::format("content {}", ref.hex);
    const auto digest = digest_from(ref.hex);
    if (!digest) {
      note(where, fmt::format("not a hash, {}", named_by));
      return std::string("null");
    }
    auto text = snapshot_.blob(*digest);
    if (!text && text.error().code != ErrorCode::kCorrupt) return std::unexpected(text.error());
    if (!text || !*text) {
      note(where, fmt::format("it is {}, {}", text ? "missing" : "damaged", named_by));
      return std::string("null");
    }
    if (auto value = parse_stored(**text); !value) {
      note(where, fmt::format("it is not JSON, {}", named_by));
      return std::string("null");
    } else if (ref.is_workflow) {
      if (auto compiled = workflow::read_pinned(*value); !compiled) {
        note(where, fmt::format("the pinned workflow does not load: {}", compiled.error().message));
      }
    }
    return std::move(**text);
  };
  return visit_blobs(event, seen_, read, [](const BlobRef&, const std::string&) -> Status { return {}; });
}

Status Inspection::compare_row(std::string_view collection, const store::Row& row, const Value& expected,
                               const std::string& where) {
  const auto value = open_row(collection, row);
  if (!value) {
    note(where, "its record is damaged");
  } else if (*value != expected) {
    note(where, "its record does not match the events");
  }
  return {};
}

Status Inspection::compare_summary() {
  const auto row = SB_TRY(snapshot_.get(kSessions, session_));
  if (!row) {
    note("session", "its record is missing");
    return {};
  }
  return compare_row(kSessions, *row, to_value(state_.summary), "session");
}

// It may be missing: older versions wrote none, and an imported session has none until it is resumed. The token depends
// on this home's keys, and the required output is only informative; neither is compared.
Status Inspection::compare_open_step() {
  const Summary& summary = state_.summary;
  const auto row = SB_TRY(snapshot_.get(guard::kOpenSteps, guard::open_step_key(summary.workspace, session_)));
  if (!row) return {};
  const auto tip = state_.nodes.find(summary.tip);
  if (tip == state_.nodes.end()) return {};  // already reported
  auto made = expected_open_step(snapshot_, summary, tip->second);
  if (!made) return {};
  auto expected = std::move(*made);
  const auto found = guard::open_step_from(row->value);
  if (!found) {
    note("open step", "its record is damaged");
  } else if (!expected) {
    note("open step", "the session is over, but its record still exists");
  } else {
    expected->token = found->token;
    expected->required_output = found->required_output;
    if (found->goal.empty()) expected->goal.clear();  // older versions wrote none
    if (found->context.empty()) as_older_versions(*expected);
    if (*expected != *found) note("open step", "its record does not match the events");
  }
  return {};
}

template <class Expected, class KeyOf>
Status Inspection::compare_rows(std::string_view collection, const Expected& expected, const KeyOf& key_of,
                                std::string_view what) {
  // Both sides are sorted by key, so one pass finds missing and extra records.
  auto next = expected.begin();
  const auto missing_before = [&](const std::string& key) {
    for (; next != expected.end() && key_of(*next) < key; ++next) {
      note(fmt::format("{} {}", what, key_of(*next)), "its record is missing");
    }
  };
  SB_TRY(store::each_row(snapshot_, collection, {.prefix = session_ + "/"}, [&](const store::Row& row) -> Status {
    missing_before(row.key);
    const std::string where = fmt::format("{} {}", what, row.key);
    if (next == expected.end() || key_of(*next) != row.key) {
      note(where, "no event mentions it");
      return {};
    }
    SB_TRY(compare_row(collection, row, to_value(next->second), where));
    ++next;
    return {};
  }));
  for (; next != expected.end(); ++next) note(fmt::format("{} {}", what, key_of(*next)), "its record is missing");
  return {};
}

Result<std::vector<Damage>> Inspection::run() {
  SB_TRY(read_events());
  if (!is_replayed_) return std::move(damages_);
  SB_TRY(compare_summary());
  SB_TRY(compare_open_step());
  SB_TRY(
      compare_rows(kNodes, state_.nodes, [&](const auto& entry) { return node_key(session_, entry.first); }, "node"));
  SB_TRY(compare_rows(
      kAttempts, state_.attempts,
      [&](const auto& entry) { return attempt_key(session_, entry.first.first, entry.first.second); }, "attempt"));
  return std::move(damages_);
}

// Ids of all sessions: those with events, and those with a record but no events.
Result<std::set<std::string>> all_sessions(store::Snapshot& snapshot) {
  std::set<std::string> ids;
  const std::string prefix = session_stream("");
  for (std::string after;;) {
    const auto names = SB_TRY(snapshot.streams(prefix, after, kVerifyPage));
    for (const std::string& name : names) ids.insert(name.substr(prefix.size()));
    if (names.size() < static_cast<std::size_t>(kVerifyPage)) break;
    after = names.back();
  }
  SB_TRY(store::each_row(snapshot, kSessions, {}, [&](const store::Row& row) { ids.insert(row.key); }));
  return ids;
}

}  // namespace

Result<std::vector<Damage>> verify_session(store::Store& store, std::string_view session) {
  return store.read([&](store::Snapshot& snapshot) -> Result<std::vector<Damage>> {
    const bool is_there =
        SB_TRY(snapshot.head(session_stream(session))).seq != 0 || SB_TRY(snapshot.get(kSessions, session)).has_value();
    if (!is_there) return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(session)));
    return Inspection(snapshot, session).run();
  });
}

Result<std::int64_t> verify_sessions(
    store::Store& store, const std::function<void(const std::string& session, const std::vector<Damage>&)>& on_damaged,
    const ProgressCallback& progress) {
  const auto ids = SB_TRY(store.read([](store::Snapshot& snapshot) { return all_sessions(snapshot); }));
  std::int64_t done = 0;
  for (const std::string& id : ids) {
    const auto damages = verify_session(store, id);
    // Deleted since the list was made.
    if (!damages && damages.error().code == ErrorCode::kNotFound) continue;
    if (!damages) return std::unexpected(damages.error());
    if (!damages->empty()) on_damaged(id, *damages);
    if (progress) progress(++done, static_cast<std::int64_t>(ids.size()));
  }
  return static_cast<std::int64_t>(ids.size());
}

}  // namespace sb::engine
