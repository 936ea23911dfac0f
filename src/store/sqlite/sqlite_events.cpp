#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "store/chain.hpp"
#include "store/checks.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace sb::store::sqlite {
namespace {

constexpr const char* kHead = "SELECT seq, hash FROM streams WHERE name = ?1";
constexpr const char* kSetHead =
    "INSERT INTO streams(name, seq, hash) VALUES(?1, ?2, ?3) "
    "ON CONFLICT(name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash";
constexpr const char* kInsert =
    "INSERT INTO events(stream, seq, type, time_ms, payload, previous, hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
constexpr const char* kEvents =
    "SELECT position, stream, seq, type, time_ms, payload, previous, hash FROM events "
    "WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
constexpr const char* kEventsAfter =
    "SELECT position, stream, seq, type, time_ms, payload, previous, hash FROM events "
    "WHERE position > ?1 ORDER BY position LIMIT ?2";
constexpr const char* kLastPosition = "SELECT coalesce(max(position), 0) FROM events";
constexpr const char* kStreams =
    "SELECT name FROM streams WHERE name > ?1 AND name >= ?2 AND name < ?3 ORDER BY name LIMIT ?4";
constexpr const char* kDeleteEvents = "DELETE FROM events WHERE stream = ?1";
constexpr const char* kDeleteStream = "DELETE FROM streams WHERE name = ?1";

Result<std::vector<Event>> read_events(Statement& statement) {
  std::vector<Event> events;
  while (SB_TRY(statement.step())) {
    Event event;
    event.position = statement.integer(0);
    event.stream = statement.bytes(1);
    event.seq = statement.integer(2);
    event.type = statement.bytes(3);
    event.time_ms = statement.integer(4);
    event.payload = statement.bytes(5);
    event.previous = SB_TRY(statement.digest(6));
    event.hash = SB_TRY(statement.digest(7));
    events.push_back(std::move(event));
  }
  return events;
}

std::unexpected<Error> lost_end(std::string_view stream, std::int64_t seq) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("event {} of stream \"{}\" does not match the stream's head", seq, stream),
              std::string(kRepairRemedy));
}

// The events read must reach the end of the stream or the requested limit.
Status check_end(std::string_view stream, const Head& head, std::span<const Event> events, bool page_is_full) {
  const Event& last = events.back();
  if (last.seq > head.seq) return lost_end(stream, last.seq);
  if (last.seq == head.seq && last.hash != head.hash) return lost_end(stream, last.seq);
  if (last.seq < head.seq && !page_is_full) return lost_end(stream, last.seq + 1);
  return {};
}

Status check_new(std::span<const NewEvent> events) {
  if (events.size() > limits::kStoreAppendEvents) {
    return fail(ErrorCode::kLimit, fmt::format("{} events in one append; at most {} are allowed", events.size(),
                                               limits::kStoreAppendEvents));
  }
  for (const NewEvent& event : events) {
    SB_TRY(check_name("event type", event.type));
    SB_TRY(check_value("event", event.payload));
  }
  return {};
}

}  // namespace

Result<Head> SqliteTransaction::head(std::string_view stream) {
  SB_TRY(check_name("stream", stream));
  Statement statement = SB_TRY(connection_.prepare(kHead));
  if (!SB_TRY(statement.bind(1, stream).step())) return Head{};
  return Head{statement.integer(0), SB_TRY(statement.digest(1))};
}

Result<std::vector<Event>> SqliteTransaction::events(std::string_view stream, std::int64_t from_seq, int limit) {
  SB_TRY(check_page(limit));
  const Head end = SB_TRY(head(stream));
  from_seq = std::max<std::int64_t>(from_seq, 1);
  if (limit == 0 || from_seq > end.seq) return std::vector<Event>{};

  // Also reads the event before the first one, to check the link to it.
  const bool has_before = from_seq > 1;
  Statement statement = SB_TRY(connection_.prepare(kEvents));
  statement.bind(1, stream).bind(2, from_seq - has_before).bind(3, std::int64_t{limit} + has_before);
  std::vector<Event> events = SB_TRY(read_events(statement));
  if (events.empty()) return lost_end(stream, from_seq);

  const Head before = has_before ? Head{events.front().seq - 1, events.front().previous} : Head{};
  if (events.front().seq != from_seq - has_before) return lost_end(stream, from_seq - has_before);
  SB_TRY(check_chain(before, events));
  SB_TRY(check_end(stream, end, events, events.size() == static_cast<std::size_t>(limit) + has_before));
  if (has_before) events.erase(events.begin());
  return events;
}

Result<std::vector<Event>> SqliteTransaction::events_after(std::int64_t position, int limit) {
  SB_TRY(check_page(limit));
  Statement statement = SB_TRY(connection_.prepare(kEventsAfter));
  statement.bind(1, position).bind(2, std::int64_t{limit});
  std::vector<Event> events = SB_TRY(read_events(statement));
  for (const Event& event : events) SB_TRY(check_event(event));
  return events;
}

Result<std::int64_t> SqliteTransaction::last_position() {
  return connection_.value(kLastPosition);
}

Result<std::vector<std::string>> SqliteTransaction::streams(std::string_view prefix, std::string_view after,
                                                            int limit) {
  SB_TRY(check_page(limit));
  if (!prefix.empty()) SB_TRY(check_name("prefix", prefix));
  if (!after.empty()) SB_TRY(check_name("stream", after));
  const std::string end = prefix_end(prefix);
  Statement statement = SB_TRY(connection_.prepare(kStreams));
  statement.bind(1, after).bind(2, prefix).bind(3, end).bind(4, std::int64_t{limit});
  std::vector<std::string> names;
  while (SB_TRY(statement.step())) names.emplace_back(statement.bytes(0));
  return names;
}

Result<Head> SqliteTransaction::append(std::string_view stream, const Head& expected,
                                       std::span<const NewEvent> events) {
  SB_TRY(check_new(events));
  Head current = SB_TRY(head(stream));
  if (current != expected) {
    return fail(
        ErrorCode::kConflict,
        current.seq == expected.seq
            ? fmt::format("event {} of stream \"{}\" is not the expected one", current.seq, stream)
            : fmt::format("stream \"{}\" ends at event {}, not at {} as expected", stream, current.seq, expected.seq),
        "Read it again and retry.");
  }
  if (events.empty()) return current;
  for (const NewEvent& event : events) {
    const std::int64_t seq = current.seq + 1;
    const Digest hash = event_hash(current.hash, stream, seq, event.type, event.time_ms, event.payload);
    Statement insert = SB_TRY(connection_.prepare(kInsert));
    insert.bind(1, stream).bind(2, seq).bind(3, event.type).bind(4, event.time_ms).bind_blob(5, event.payload);
    SB_TRY(insert.bind_blob(6, as_bytes(current.hash)).bind_blob(7, as_bytes(hash)).run());
    current = {seq, hash};
    connection_.appended() = {sqlite3_last_insert_rowid(connection_.handle()), seq, std::string(stream)};
  }
  Statement set_head = SB_TRY(connection_.prepare(kSetHead));
  SB_TRY(set_head.bind(1, stream).bind(2, current.seq).bind_blob(3, as_bytes(current.hash)).run());
  return current;
}

Status SqliteTransaction::remove_stream(std::string_view stream) {
  SB_TRY(check_name("stream", stream));
  Statement remove_events = SB_TRY(connection_.prepare(kDeleteEvents));
  SB_TRY(remove_events.bind(1, stream).run());
  return SB_TRY(connection_.prepare(kDeleteStream)).bind(1, stream).run();
}

}  // namespace sb::store::sqlite
