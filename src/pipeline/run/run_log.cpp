#include "pipeline/run/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/random.hpp"
#include "engine/state/blob_refs.hpp"

namespace sb::pipeline {
namespace {

constexpr std::string_view kRuns = "runs";

Result<std::vector<RunEvent>> events_in(store::Snapshot& snapshot, std::string_view run) {
  const std::string stream = run_stream(run);
  std::vector<RunEvent> all;
  for (;;) {
    const std::int64_t from = all.empty() ? 1 : all.back().seq + 1;
    const auto page = SB_TRY(snapshot.events(stream, from, sb::limits::kStorePageRows));
    for (const store::Event& event : page) {
      Value payload = SB_TRY(parse_json(event.payload, {.bytes = sb::limits::kStoreValueBytes}));
      all.push_back({event.seq, event.time_ms, event.type, std::move(payload)});
    }
    if (static_cast<int>(page.size()) < sb::limits::kStorePageRows) return all;
  }
}

std::string current_of(const RunState& state) {
  if (!state.outcome.empty()) return state.outcome;
  if (const RunQuestion* asked = state.open_question()) return "waits: " + asked->question;
  if (!state.halted.empty()) return "halted: " + state.halted;
  if (state.parked_until != 0) return "parked: " + state.parked_reason;
  if (!state.phases.empty() && !state.phases.back().is_over) return std::string(to_string(state.phases.back().phase));
  if (!state.deliveries.empty()) return fmt::format("delivery: {}", to_string(state.deliveries.back().step));
  return "started";
}

Value summary_of(const RunState& state) {
  Value value = Value::object({{"run", state.id},
                               {"goal", state.goal},
                               {"status", state.status()},
                               {"at", current_of(state)},
                               {"workspace", state.workspace},
                               {"repository", state.repository},
                               {"started_at", state.started_at},
                               {"updated_at", state.updated_at},
                               {"micro_cents", state.micro_cents()},
                               {"tokens", state.usage().total()}});
  if (state.route) value.set("mode", to_string(state.route->mode));
  if (!state.ticket.id.empty()) value.set("ticket", state.ticket.id);
  if (!state.url.empty()) value.set("url", state.url);
  return value;
}

store::Row row_of(const RunState& state, std::string_view run) {
  return {std::string(run), fmt::format("{:015}/{}", state.started_at, run), to_canonical_json(summary_of(state))};
}

Status put_summary(store::Transaction& transaction, std::string_view run) {
  const store::Row row = row_of(SB_TRY(fold_run(SB_TRY(events_in(transaction, run)))), run);
  return transaction.put(kRuns, row.key, row.value, row.sort);
}

Result<std::vector<std::string>> all_runs(store::Snapshot& snapshot) {
  std::vector<std::string> runs;
  const std::string prefix = run_stream("");
  for (std::string after;;) {
    const auto names = SB_TRY(snapshot.streams(prefix, after, sb::limits::kStorePageRows));
    for (const std::string& name : names) runs.push_back(name.substr(prefix.size()));
    if (static_cast<int>(names.size()) < sb::limits::kStorePageRows) return runs;
    after = names.back();
  }
}

// An older version may have written fewer or more members.
bool says_the_same(const store::Row& row, const store::Row& expected) {
  const auto found = parse_json(row.value);
  const auto wanted = parse_json(expected.value);
  if (!found || !wanted || !found->is_object() || row.sort != expected.sort) return false;
  return std::ranges::all_of(found->members(), [&](const auto& member) {
    const Value* same = wanted->find(member.name);
    return same == nullptr || *same == member.value;
  });
}

// What is wrong with one run; only the first finding. Empty: nothing.
Result<std::optional<RunDamage>> damage_of(store::Snapshot& snapshot, const std::string& run) {
  const auto events = events_in(snapshot, run);
  const auto state = events ? fold_run(*events) : std::unexpected(events.error());
  if (!state && state.error().code == ErrorCode::kIo) return std::unexpected(state.error());
  if (!state) return RunDamage{run, state.error().message, false};
  for (const PhaseRecord& phase : state->phases) {
    const auto digest = engine::digest_from(phase.blob);
    if (!digest) continue;
    const auto blob = snapshot.blob(*digest);
    if (!blob || !*blob) {
      return RunDamage{run,
                       fmt::format("the context of phase {} ({}) is {}", to_string(phase.phase), phase.blob,
                                   blob ? "missing" : "damaged"),
                       false};
    }
  }
  const auto row = SB_TRY(snapshot.get(kRuns, run));
  if (!row) return RunDamage{run, "its record is missing: it is in no list", true};
  if (!says_the_same(*row, row_of(*state, run))) return RunDamage{run, "its record does not match the events", true};
  return std::nullopt;
}

}  // namespace

std::string run_stream(std::string_view run) {
  return fmt::format("run/{}", run);
}

std::string restart_id(std::string_view run) {
  return "r-" + to_base32(as_bytes(sha256(fmt::format("sb-run-restart-1\n{}", run))).substr(0, 16));
}

Result<std::vector<RunEvent>> RunLog::read(std::string_view run) const {
  auto events = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return events_in(snapshot, run); }));
  if (events.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("unknown run {}", run), "List them with: signalbox runs list");
  }
  return events;
}

Result<RunState> RunLog::state(std::string_view run) const {
  return fold_run(SB_TRY(read(run)));
}

Result<bool> RunLog::has(std::string_view run) const {
  const auto head = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return snapshot.head(run_stream(run)); }));
  return head.seq > 0;
}

Status RunLog::append_in(store::Transaction& transaction, std::string_view run, std::int64_t after, std::string type,
                         Value payload) {
  const std::string stream = run_stream(run);
  const store::Head head = SB_TRY(transaction.head(stream));
  if (head.seq != after) {
    return fail(ErrorCode::kConflict,
                fmt::format("run {} has advanced in the meantime: {} events, not {}", run, head.seq, after));
  }
  const store::NewEvent event{std::move(type), clock_.now_ms(), to_canonical_json(payload)};
  SB_TRY(transaction.append(stream, head, std::span(&event, 1)));
  return put_summary(transaction, run);
}

Status RunLog::append(std::string_view run, std::int64_t after, std::string type, Value payload,
                      std::vector<std::string> blobs) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    for (const std::string& bytes : blobs) SB_TRY(transaction.put_blob(bytes));
    return append_in(transaction, run, after, type, payload);
  });
}

Status RunLog::append_at_head(std::string_view run, std::string type, Value payload) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    const store::Head head = SB_TRY(transaction.head(run_stream(run)));
    return append_in(transaction, run, head.seq, type, payload);
  });
}

Result<RunLog::Page> RunLog::list(const store::PageRequest& request) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<Page> {
    const store::Listing newest_first{.by = store::Order::kSort, .descending = true};
    const store::RowPage rows = SB_TRY(store::read_page(snapshot, kRuns, newest_first, request));
    Page page{.runs = {}, .facts = rows.facts};
    for (const store::Row& row : rows.rows) page.runs.push_back(SB_TRY(parse_json(row.value)));
    return page;
  });
}

Result<std::string> RunLog::resolve(std::string_view name) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::string> {
    if (name == "last") {
      const auto rows = SB_TRY(snapshot.list(kRuns, {.by = store::Order::kSort, .descending = true, .limit = 1}));
      if (rows.empty()) return fail(ErrorCode::kNotFound, "there are no runs yet", "Start one: signalbox run \"GOAL\"");
      return rows.front().key;
    }
    if (!name.empty() && name.size() <= sb::limits::kStoreNameBytes) {
      const auto rows = SB_TRY(snapshot.list(kRuns, {.prefix = std::string(name), .limit = 2}));
      if (rows.size() == 2 && rows.front().key != name) {
        return fail(ErrorCode::kInvalid, fmt::format("several run ids start with {}", name), "Give more of the id");
      }
      if (!rows.empty()) return rows.front().key;
    }
    return fail(ErrorCode::kNotFound, fmt::format("unknown run {}", quote_json(name)),
                "List them with: signalbox runs list");
  });
}

Result<std::string> RunLog::blob(std::string_view hex) const {
  const auto digest = engine::digest_from(hex);
  if (!digest) return fail(ErrorCode::kCorrupt, "invalid blob name");
  auto found = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return snapshot.blob(*digest); }));
  if (!found) return fail(ErrorCode::kCorrupt, fmt::format("blob {} is missing from the store", hex));
  return std::move(*found);
}

Result<std::int64_t> RunLog::verify(const std::function<void(const RunDamage&)>& on_damaged) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::int64_t> {
    const auto runs = SB_TRY(all_runs(snapshot));
    for (const std::string& run : runs) {
      if (const auto damage = SB_TRY(damage_of(snapshot, run))) on_damaged(*damage);
    }
    SB_TRY(store::each_row(snapshot, kRuns, {}, [&](const store::Row& row) -> Status {
      if (SB_TRY(snapshot.head(run_stream(row.key))).seq == 0) on_damaged({row.key, "its events are missing", true});
      return {};
    }));
    return static_cast<std::int64_t>(runs.size());
  });
}

Status RunLog::rebuild(const std::vector<std::string>& runs) {
  return store_.write([&](store::Transaction& transaction) -> Status {
    for (const std::string& run : runs) {
      const bool is_gone = SB_TRY(transaction.head(run_stream(run))).seq == 0;
      const Status done = is_gone ? transaction.remove(kRuns, run) : put_summary(transaction, run);
      if (!done && done.error().code != ErrorCode::kCorrupt) return done;
    }
    return {};
  });
}

std::vector<agent::ContextSource> RunLog::sources(std::string_view run) const {
  const auto now = state(run);
  if (!now || now->phases.empty()) return {};
  const auto bytes = blob(now->phases.back().blob);
  const auto kept = bytes ? parse_json(*bytes, {.bytes = sb::limits::kStoreValueBytes}) : Result<Value>();
  return kept ? sources_from((*kept)["sources"]) : std::vector<agent::ContextSource>();
}

}  // namespace sb::pipeline
