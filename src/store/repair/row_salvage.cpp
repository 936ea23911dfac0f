#include "store/repair/row_salvage.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "store/chain.hpp"
#include "store/checks.hpp"

namespace sb::store::repair {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using Kind = Column::Kind;

constexpr std::size_t kDigestBytes = sizeof(Digest);
constexpr std::int64_t kMostEvents = std::int64_t{1} << 40;  // a larger number is damage

bool has_shape(const Cell& cell, std::initializer_list<Kind> kinds) {
  return std::ranges::equal(cell.columns, kinds, {}, &Column::kind);
}

bool is_digest(const Column& column) {
  return column.kind == Kind::kBlob && column.bytes.size() == kDigestBytes;
}

bool is_number(std::int64_t seq) {
  return seq > 0 && seq < kMostEvents;
}

bool is_like_event(const Cell& cell) {
  return has_shape(cell, {Kind::kNull, Kind::kText, Kind::kInteger, Kind::kText, Kind::kInteger, Kind::kBlob,
                          Kind::kBlob, Kind::kBlob}) &&
         is_digest(cell.columns[6]) && is_digest(cell.columns[7]);
}

bool is_event(const Cell& cell) {
  return is_like_event(cell) && is_number(cell.columns[2].integer) && check_name("stream", cell.columns[1].bytes) &&
         check_name("type", cell.columns[3].bytes);
}

bool is_head(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kInteger, Kind::kBlob}) && is_digest(cell.columns[2]) &&
         is_number(cell.columns[1].integer) && check_name("stream", cell.columns[0].bytes);
}

bool matches_hash(const Cell& event) {
  const auto& c = event.columns;
  Digest previous;
  std::ranges::copy(c[6].bytes, previous.begin());
  const Digest hash = event_hash(previous, c[1].bytes, c[2].integer, c[3].bytes, c[4].integer, c[5].bytes);
  return as_bytes(hash) == c[7].bytes;
}

bool is_projection(const Cell& cell) {
  const bool has_sort = has_shape(cell, {Kind::kText, Kind::kText, Kind::kText, Kind::kBlob});
  if (cell.row <= 0 || (!has_sort && !has_shape(cell, {Kind::kText, Kind::kText, Kind::kNull, Kind::kBlob}))) {
    return false;
  }
  return check_name("collection", cell.columns[0].bytes) && check_name("key", cell.columns[1].bytes) &&
         (!has_sort || check_name("sort key", cell.columns[2].bytes));
}

bool is_blob(const Cell& cell) {
  return cell.row > 0 && has_shape(cell, {Kind::kBlob, Kind::kBlob}) && is_digest(cell.columns[0]) &&
         as_bytes(sha256(cell.columns[1].bytes)) == cell.columns[0].bytes;
}

bool is_work(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kText, Kind::kText, Kind::kInteger, Kind::kInteger});
}

bool is_counter(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kInteger});
}

Status insert(Connection& to, const char* sql, std::span<const Column> columns, std::int64_t row = 0) {
  Statement statement = SB_TRY(to.prepare(sql));
  int index = 1;
  if (row != 0) statement.bind(index++, row);
  for (const Column& column : columns) {
    if (column.kind == Kind::kInteger) statement.bind(index, column.integer);
    if (column.kind == Kind::kText) statement.bind(index, std::string_view(column.bytes));
    if (column.kind == Kind::kBlob) statement.bind_blob(index, column.bytes);
    if (column.kind == Kind::kNull) statement.bind_null(index);
    ++index;
  }
  return statement.run();
}

// The index has the stream, the number and the position of each event, so each of these is stored twice.
bool is_event_index(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kInteger, Kind::kInteger}) &&
         is_number(cell.columns[1].integer) && is_number(cell.columns[2].integer);
}

using EventName = std::pair<std::string, std::int64_t>;  // stream and number

EventName name_of(const Cell& event) {
  return {event.columns[1].bytes, event.columns[2].integer};
}

// Events that could not be copied as they are: their stream or number, or their position, is damaged.
struct Misplaced {
  std::multimap<std::int64_t, Cell> nameless;  // by position; their hash does not match
  std::map<EventName, Cell> homeless;          // whole; their position is another event's

  bool is_empty() const { return nameless.empty() && homeless.empty(); }
};

// False: it is there already, or another event is at that position.
Result<bool> insert_event(const Cell& event, std::int64_t position, Connection& to) {
  const std::string_view sql =
      position > 0 ? "INSERT OR IGNORE INTO events(position, stream, seq, type, time_ms, payload, previous, hash) "
                     "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                   : "INSERT OR IGNORE INTO events(stream, seq, type, time_ms, payload, previous, hash) "
                     "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
  SB_TRY(insert(to, sql.data(), std::span(event.columns).subspan(1), std::max<std::int64_t>(position, 0)));
  return sqlite3_changes(to.handle()) > 0;
}

Status copy_event(const Cell& event, Connection& to, Misplaced& misplaced) {
  if (!is_event(event) || !matches_hash(event)) {
    misplaced.nameless.emplace(event.row, event);
    return {};
  }
  const bool has_place = is_number(event.row);
  if (!has_place || !SB_TRY(insert_event(event, event.row, to))) misplaced.homeless.emplace(name_of(event), event);
  return {};
}

Status copy_proved(const Cell& cell, Connection& to, Misplaced& misplaced) {
  if (is_like_event(cell)) return copy_event(cell, to, misplaced);
  if (is_blob(cell)) return insert(to, "INSERT OR IGNORE INTO blobs(hash, bytes) VALUES(?1, ?2)", cell.columns);
  return {};
}

Status copy_other(const Cell& cell, Connection& to) {
  if (is_projection(cell)) {
    return insert(to, "INSERT OR IGNORE INTO projections(collection, key, sort, value) VALUES(?1, ?2, ?3, ?4)",
                  cell.columns);
  }
  if (is_work(cell)) {
    return insert(to, "INSERT OR IGNORE INTO work(queue, name, owner, free_ms, fence) VALUES(?1, ?2, ?3, ?4, ?5)",
                  cell.columns);
  }
  if (is_counter(cell)) {
    return insert(to,
                  "INSERT INTO counters(name, value) VALUES(?1, ?2) "
                  "ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)",
                  cell.columns);
  }
  return {};
}

void trace(const Cell& cell, Traces& traces) {
  if (is_head(cell)) {
    std::int64_t& last = traces.heads[cell.columns[0].bytes];
    last = std::max(last, cell.columns[1].integer);
  } else if (is_event(cell)) {
    traces.types[cell.columns[1].bytes][cell.columns[2].integer] = cell.columns[3].bytes;
  }
}

// Pages that only perhaps hold something come last: what they hold is older.
std::vector<std::uint32_t> pages_to_copy(const RowSource& source) {
  const FreePages free = free_pages(source.read(1), source.pages, source.read);
  std::vector<std::uint32_t> pages;
  for (std::uint32_t number = 1; number <= source.pages; ++number) {
    if (!free.sure.contains(number) && !free.doubtful.contains(number)) pages.push_back(number);
  }
  for (const std::uint32_t number : free.doubtful) {
    if (number > 0 && number <= source.pages) pages.push_back(number);
  }
  return pages;
}

Status place_events(const std::vector<std::uint32_t>& pages, const PageReader& read, Connection& to,
                    Misplaced misplaced) {
  if (misplaced.is_empty()) return {};
  for (const std::uint32_t number : pages) {
    for (const Cell& index : cells_of(number, read(number), read)) {
      if (!is_event_index(index)) continue;
      const std::int64_t position = index.columns[2].integer;
      const auto [first, last] = misplaced.nameless.equal_range(position);
      for (auto at = first; at != last; ++at) {
        Cell& event = at->second;
        event.columns[1] = index.columns[0];
        event.columns[2] = index.columns[1];
        if (is_event(event) && matches_hash(event)) SB_TRY(insert_event(event, position, to));
      }
      const auto event = misplaced.homeless.find({index.columns[0].bytes, index.columns[1].integer});
      if (event != misplaced.homeless.end()) SB_TRY(insert_event(event->second, position, to));
    }
  }
  // At the end, if the index does not have it either. Those that are there already are ignored.
  for (const auto& [name, event] : misplaced.homeless) SB_TRY(insert_event(event, 0, to));
  return {};
}

Status copy_all(const RowSource& source, Connection& to, Traces& traces) {
  const std::vector<std::uint32_t> pages = pages_to_copy(source);
  Misplaced misplaced;
  for (const std::uint32_t number : pages) {
    for (const Cell& cell : cells_of(number, source.read(number), source.read)) {
      trace(cell, traces);
      SB_TRY(copy_proved(cell, to, misplaced));
      SB_TRY(copy_other(cell, to));
    }
  }
  for (const PageBytes& page : source.damaged) {
    for (const Cell& cell : cells_of(page.number, page.bytes, source.read)) SB_TRY(copy_proved(cell, to, misplaced));
  }
  return place_events(pages, source.read, to, std::move(misplaced));
}

}  // namespace

void Traces::add(std::uint32_t number, std::string_view page, const PageReader& read) {
  for (const Cell& cell : cells_of(number, page, read)) trace(cell, *this);
}

Status copy_rows(const RowSource& source, Connection& empty, Traces& traces) {
  SB_TRY(empty.run("BEGIN IMMEDIATE"));
  const auto copy = [&]() -> Status {
    SB_TRY(copy_all(source, empty, traces));
    return empty.run("COMMIT");
  };
  const Status copied = copy();
  if (!copied) empty.roll_back();
  return copied;
}

}  // namespace sb::store::repair
